// A reader of the documentation: a home of their own, a daemon that runs there, and the commands the pages use on the PATH.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { root } from "./code-blocks.ts";

const SHIM = fileURLToPath(new URL("./shim.mjs", import.meta.url));

export type Reader = {
  home: string;
  daemon: DaemonProcess;
  /** A folder in which `dragoman` is installed. */
  project: string;
  /** Fills in what the page leaves to the reader: `<session>`, $SESSION, $URL, $TOKEN. */
  shell(script: string): Promise<void>;
  node(file: string): Promise<void>;
  close(): Promise<void>;
};

export async function startReader(): Promise<Reader> {
  const home = temporaryDir("docs");
  const dataDir = join(home, ".local", "share", "dragoman");
  mkdirSync(dataDir, { recursive: true });
  const daemon = await startDaemonProcess(dataDir);
  const bin = join(home, "bin");
  mkdirSync(bin);
  for (const name of ["dragoman", "npx", "npm"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${SHIM}" ${name} "${root}" "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const project = join(home, "project");
  mkdirSync(join(project, "node_modules"), { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  symlinkSync(root, join(project, "node_modules", "dragoman"));
  for (const name of ["@types", "react", "react-dom"])
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
  const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, LANG: "C.UTF-8", URL: daemon.url, TOKEN: daemon.token };

  return {
    home,
    daemon,
    project,
    async shell(script) {
      const session = await daemon.client.createSession({ agent: "mock" });
      await session.prompt("shell ls");
      const cwd = mkdtempSync(join(home, "work-"));
      await run("bash", ["-euo", "pipefail", "-c", script.replaceAll("<session>", session.id)], {
        cwd,
        env: { ...env, SESSION: session.id },
      });
    },
    node: (file) => run(process.execPath, [file], { cwd: project, env }),
    async close() {
      await daemon.kill("SIGTERM");
      removeDir(home);
    },
  };
}

export async function run(program: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Promise<void> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4000);
    });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`exit code ${code}\n${said}`);
}
