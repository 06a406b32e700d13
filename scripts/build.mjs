// Builds the package into dist/: compiles src/, writes the JSON Schema files and the docs, builds the inspector if it changed. Quick, so start and test call it each time.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildInspector } from "./build-inspector.mjs";
import { bundleLibraries } from "./bundle-libraries.mjs";
import { buildDocs } from "./docs-site.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = (args) => {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

// A file whose source is gone must not stay: it would be packed. The inspector keeps its own count of what changed.
if (existsSync(`${root}dist`))
  for (const name of readdirSync(`${root}dist`))
    if (name !== "inspector") rmSync(`${root}dist/${name}`, { recursive: true, force: true });

run(["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"]);
if (existsSync(`${root}dist/schema/write-json-schema.js`)) run(["dist/schema/write-json-schema.js"]);
await bundleLibraries();
buildDocs();
await buildInspector();
