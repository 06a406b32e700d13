/**
 * Builds the package. build/ gets every module of src/ as it is, for the tools of this repository. dist/ is what users get: the programs as a few bundled
 * files, the client and the schema as modules (for bundlers), all types, the JSON Schema files, the docs and the inspector. packages/client/dist is the client as
 * a package of its own. Does nothing for what did not change: `npm start` and `npm test` call it each time.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildInspector } from "./build-inspector.mjs";
import { bundlePrograms } from "./bundle.mjs";
import { buildClientPackage } from "./client-package.mjs";
import { copyTypes } from "./copy-types.mjs";
import { buildDocs } from "./docs-site.mjs";
import { hashOf, readStamp } from "./source-hash.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const STAMP = join(root, "build/.source-hash");
/** Rooms whose modules users import one by one. */
const MODULES = ["client", "schema", "dialects", "discovery"];

const run = (args) => {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

/** The compiler writes only what changed, so what it wrote earlier stays; but not the output of a source that is gone. */
function removeStale(folder, sources) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true })) {
    const module = /^(?!types\/)(.+?)(?:\.js|\.d\.ts)(?:\.map)?$/.exec(name)?.[1];
    if (module !== undefined && !existsSync(join(sources, `${module}.ts`))) rmSync(join(folder, name), { force: true });
  }
}

const hash = hashOf([
  "src",
  "docs",
  "scripts",
  "packages/client/installed-daemon.js",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
]);
if (readStamp(STAMP) !== hash || !existsSync(`${root}dist/cli/main.js`)) {
  removeStale(`${root}build`, `${root}src`);
  removeStale(`${root}build/types`, `${root}src`);
  // A file whose source is gone must not stay: it would be packed. The inspector keeps its own stamp.
  if (existsSync(`${root}dist`))
    for (const name of readdirSync(`${root}dist`))
      if (name !== "inspector") rmSync(`${root}dist/${name}`, { recursive: true, force: true });
  mkdirSync(`${root}dist`, { recursive: true });
  run(["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"]);
  run(["build/schema/write-json-schema.js"]);
  copyTypes();
  const isModule = (path) => !path.endsWith(".map");
  for (const room of MODULES) cpSync(`${root}build/${room}`, `${root}dist/${room}`, { recursive: true, filter: isModule });
  cpSync(`${root}build/package-root.js`, `${root}dist/package-root.js`);
  await bundlePrograms();
  await buildClientPackage();
  await buildDocs();
  writeFileSync(STAMP, hash);
}
await buildInspector();
