// Copies the type declarations that the package's exports need from build/types/ into dist/, and no others.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const TYPES = join(root, "build/types");

export function copyTypes() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const seen = new Set();
  for (const { types } of Object.values(exports)) if (types) copy(join(TYPES, relative("./dist", types)), seen);
}

function copy(file, seen) {
  if (seen.has(file) || !existsSync(file)) return;
  seen.add(file);
  cpSync(file, join(root, "dist", relative(TYPES, file)));
  for (const [, name] of readFileSync(file, "utf8").matchAll(/(?:from\s+|import\(|import\s+)["'](\.[^"']+)["']/g))
    copy(resolve(dirname(file), name.replace(/\.[jt]s$/, ".d.ts")), seen);
}
