/**
 * Starts a function of a TypeScript module as a process of its own, on any Node. Test helper. A module is bundled once, not at each start: the loops that kill
 * its processes start hundreds of them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const ENTRY = "\0entry";
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const bundles = new Map<string, Promise<string>>();

export function runModule(
  module: URL,
  call: string,
  args: unknown[],
  identity: { uid?: number; gid?: number } = {},
): ChildProcess {
  // From stdin, in this folder: it finds packages as the tests do, whoever it runs as.
  const child = spawn(process.execPath, ["--input-type=module", "-", JSON.stringify(args)], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "pipe"],
    ...identity,
  });
  // It may be killed before it has read all of it.
  child.stdin?.on("error", () => {});
  bundled(fileURLToPath(module), call).then(
    (code) => child.stdin?.end(code),
    (error: unknown) => child.stdin?.end(`throw new Error(${JSON.stringify(String(error))});`),
  );
  return child;
}

function bundled(path: string, call: string): Promise<string> {
  const key = `${path}#${call}`;
  const known = bundles.get(key);
  if (known) return known;
  const making = bundle(path, call);
  bundles.set(key, making);
  return making;
}

async function bundle(path: string, call: string): Promise<string> {
  const source = `import { ${call} } from ${JSON.stringify(path)};\nawait ${call}(...JSON.parse(process.argv[2]));`;
  const build = await rolldown({
    input: ENTRY,
    platform: "node",
    external: (id) => id !== ENTRY && !/^[./]/.test(id),
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? source : null),
      },
    ],
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  return output[0].code;
}
