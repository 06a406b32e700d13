// Builds the inspector into dist/inspector, unless what is there was made from the very same files.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { compressFolder } from "./compress-folder.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = join(root, "dist/inspector/.source-hash");

function sourceHash() {
  const hash = createHash("sha256");
  for (const place of ["inspector", "src/client", "src/schema", "package-lock.json"]) {
    const files = place.includes(".")
      ? [place]
      : readdirSync(join(root, place), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && !entry.name.includes(".test"))
          .map((entry) => relative(root, join(entry.parentPath, entry.name)))
          .sort();
    for (const file of files)
      hash
        .update(file)
        .update("\0")
        .update(readFileSync(join(root, file)))
        .update("\0");
  }
  return hash.digest("hex");
}

export async function buildInspector() {
  const hash = sourceHash();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  const { build } = await import("vite");
  await build({ configFile: join(root, "inspector/vite.config.ts"), logLevel: "warn" });
  compressFolder(join(root, "dist/inspector"));
  writeFileSync(stamp, hash);
}
