/** One hash over files and folders of the project, so that the build knows whether what it made before is still right. Tests count for nothing. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** `places`: paths from the project's root. */
export function hashOf(places) {
  const hash = createHash("sha256");
  for (const file of places.flatMap(filesOf))
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

/** Null when nothing was built yet. */
export const readStamp = (path) => (existsSync(path) ? readFileSync(path, "utf8") : null);

function filesOf(place) {
  if (statSync(join(root, place)).isFile()) return [place];
  return readdirSync(join(root, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes(".test"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
