// Writes the parts of the docs that come from code: docs/problems.md. `--check` says whether they are up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { problemCodes } from "../dist/schema/problem-codes.js";

const file = fileURLToPath(new URL("../docs/problems.md", import.meta.url));
const rows = Object.entries(problemCodes).map(([code, { status, title, advice }]) => `| \`${code}\` | ${status} | ${title} | ${advice} |`);
const text = `# Error codes

Every error of the API is \`application/problem+json\` (RFC 9457) with a stable \`code\` and a \`detail\` that says what to do. The command line and the
client show the same code. This page is made from \`src/schema/problem-codes.ts\` by \`node scripts/docs.mjs\`.

| code | status | meaning | what to do |
| --- | ---: | --- | --- |
${rows.join("\n")}
`;

if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  process.stderr.write("docs/problems.md is not up to date. Run: npm run build && node scripts/docs.mjs\n");
  process.exit(1);
}
