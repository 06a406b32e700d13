// Builds the inspector into dist/inspector, unless what is there was made from the very same files.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compressFolder } from "./compress-folder.mjs";
import { hashOf, readStamp } from "./source-hash.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const STAMP = join(root, "dist/inspector/.source-hash");

export async function buildInspector() {
  const hash = hashOf(["inspector", "src/client", "src/schema", "package-lock.json"]);
  if (readStamp(STAMP) === hash) return;
  const { build } = await import("vite");
  await build({ configFile: join(root, "inspector/vite.config.ts"), logLevel: "warn" });
  compressFolder(join(root, "dist/inspector"));
  writeFileSync(STAMP, hash);
}
