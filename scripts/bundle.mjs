/**
 * Makes the programs of dist/ out of the modules of build/: few files that hold all they need, so that the daemon and the command line start fast and an
 * install carries few packages. Code that is loaded on use stays in files of its own. The licences of what is inside are in dist/THIRD-PARTY.txt.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Programs, and exports that share classes with the daemon: one build, so that each class exists once. */
const ENTRIES = [
  "cli/main",
  "index",
  "agents/kit/index",
  "agents/mock/program",
  "mcp/skill-server",
  "verify/scenario/mcp-echo-server",
  "log/sqlite/background-thread",
];

/** Native code, and what is loaded only where somebody installed it. */
const EXTERNAL = [/^@lydell\//, /^@xterm\//, /^@photostructure\//, /^@anthropic-ai\//, /^pg$/];

/** What fastify loads only when it is not given its own: compilers of schemas, and requests for tests. */
const NOT_USED = new Set(["@fastify/ajv-compiler", "@fastify/fast-json-stringify-compiler", "light-my-request"]);
const leaveOut = {
  name: "leave-out",
  resolveId: (id) => (NOT_USED.has(id) ? `\0not-used:${id}` : null),
  load: (id) => (id.startsWith("\0not-used:") ? `throw new Error("${id.slice(10)} is not part of the bundle.");` : null),
};

export async function bundlePrograms() {
  const bundle = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(root, `build/${name}.js`)])),
    platform: "node",
    external: EXTERNAL,
    plugins: [leaveOut],
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundle.write({
    dir: join(root, "dist"),
    format: "esm",
    // Names of functions and classes stay: they are in stack traces and errors.
    minify: {
      compress: true,
      mangle: { toplevel: true, keepNames: { function: true, class: true } },
      codegen: { removeWhitespace: true },
    },
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
  });
  await bundle.close();
  writeNotices(output, join(root, "dist"));
}

/** The licences of the packages whose code is in these files. */
export function writeNotices(output, folder) {
  const packages = new Set(output.flatMap(({ moduleIds = [] }) => moduleIds.map(packageOf)));
  packages.delete(undefined);
  writeFileSync(join(folder, "THIRD-PARTY.txt"), [...packages].sort().map(notice).join("\n"));
}

/** The folder of the package that a module belongs to. */
function packageOf(id) {
  const found = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id);
  return found?.[1];
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : "";
  return `${name} ${version} (${license})\n\n${text}\n\n${"-".repeat(80)}\n`;
}
