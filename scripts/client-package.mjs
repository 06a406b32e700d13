/**
 * Builds packages/client: the client as a package of its own, without the daemon and without a dependency. Made from build/: its modules
 * with the one parser they need, and types that need nothing else.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { writeNotices } from "./bundle.mjs";
import { plainTypes } from "./plain-types.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const TYPES = join(root, "build/types");
const TARGET = join(root, "packages/client/dist");
/** In the package there is no daemon of its own to start: the one that is installed beside it is. */
const PACKAGE_ROOT = join(root, "build/package-root.js");

export async function buildClientPackage() {
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  await bundle();
  await types();
}

async function bundle() {
  const build = await rolldown({
    input: { "client/index": join(root, "build/client/index.js") },
    platform: "neutral",
    resolve: { mainFields: ["module", "main"], conditionNames: ["import"] },
    plugins: [
      {
        name: "installed-daemon",
        load: (id) => (id === PACKAGE_ROOT ? readFileSync(join(root, "packages/client/installed-daemon.js"), "utf8") : null),
      },
    ],
  });
  const { output } = await build.write({
    dir: TARGET,
    format: "esm",
    // Module by module: what a page does not use is left out by its bundler, and what is loaded on use stays apart.
    preserveModules: true,
    preserveModulesRoot: join(root, "build"),
    // npm packs no folder of this name.
    entryFileNames: ({ name }) => `${name.replace("node_modules", "vendor")}.js`,
  });
  await build.close();
  writeNotices(output, TARGET);
  const foreign = output
    .flatMap(({ imports = [], dynamicImports = [] }) => [...imports, ...dynamicImports])
    .filter((name) => !output.some(({ fileName }) => fileName === name));
  if (foreign.length > 0) throw new Error(`The client must need no package, but imports ${foreign.join(", ")}.`);
}

/** The declarations that the entry needs, with the same folders as in build/. */
async function types() {
  const files = new Map();
  collect(join(TYPES, "client/index.d.ts"), files);
  const modules = new Map();
  for (const [file, text] of files)
    if (text.includes('from "typebox"')) {
      const module = join(root, "build", relative(TYPES, file).replace(/\.d\.ts$/, ".js"));
      modules.set(file, await import(pathToFileURL(module).href));
    }
  const names = namesOf(modules);
  for (const [file, text] of files) {
    const target = join(TARGET, relative(TYPES, file));
    mkdirSync(dirname(target), { recursive: true });
    const schemas = modules.get(file);
    writeFileSync(target, schemas ? plainTypes(text, schemas, (schema) => nameFrom(names, schema, file)) : text);
  }
}

function collect(file, files) {
  if (files.has(file)) return;
  const text = readFileSync(file, "utf8");
  files.set(file, text);
  for (const [, name] of text.matchAll(/(?:from\s+|import\(|import\s+)["'](\.[^"']+)["']/g))
    collect(resolve(dirname(file), name.replace(/\.[jt]s$/, ".d.ts")), files);
}

/** Which schema has which name in which file. Only objects and unions: `Text` says less than `string`. */
function namesOf(modules) {
  const names = new Map();
  for (const [file, module] of modules) {
    const declared = readFileSync(file, "utf8");
    for (const [name, schema] of Object.entries(module))
      if (
        typeof schema === "object" &&
        schema !== null &&
        new RegExp(`^export type ${name} = (Type\\.)?Static<`, "m").test(declared)
      )
        if (!names.has(schema)) names.set(schema, { file, name });
  }
  return names;
}

function nameFrom(names, schema, file) {
  const found = names.get(schema);
  if (!found) return undefined;
  if (found.file === file) return found.name;
  const path = relative(dirname(file), found.file).replace(/\.d\.ts$/, ".js");
  return `import("${path.startsWith(".") ? path : `./${path}`}").${found.name}`;
}
