// Writes docs/coverage.md from the built tables of native message types. Run `npm run build` first.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { coveragePage, loadNativeTypes } from "../build/verify/report/coverage-page.js";

writeFileSync(fileURLToPath(new URL("../docs/coverage.md", import.meta.url)), coveragePage(await loadNativeTypes()));
