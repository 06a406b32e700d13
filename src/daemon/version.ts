// The package's own version, read once.
import { readFileSync } from "node:fs";
import { packageRoot } from "../package-root.ts";

const manifest: unknown = JSON.parse(readFileSync(new URL("package.json", packageRoot), "utf8"));

export const version: string =
  typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "0.0.0";
