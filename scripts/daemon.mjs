// The daemon of the scripts: the built one, on any free port, ended by whoever started it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** As users get it; or module by module, so that a profile names them. */
const MAIN = {
  bundled: fileURLToPath(new URL("../dist/cli/main.js", import.meta.url)),
  modules: fileURLToPath(new URL("../build/cli/main.js", import.meta.url)),
};

/** What it says when it is ready (`url`, `token`, `pid`, `data_dir`), and the process. `node`: options of Node itself; `options` are those of spawn. */
export async function startDaemon(dataDir, { more = [], node = [], code = "bundled", ...options } = {}) {
  const args = [...node, MAIN[code], "serve", "--port", "0", "--json", "--no-open", "--data-dir", dataDir, ...more];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], ...options });
  for await (const line of createInterface({ input: child.stdout })) return { ...JSON.parse(line), child };
  throw new Error("the daemon said nothing");
}

export async function stopped(child, signal = "SIGTERM") {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await gone;
}
