// A real daemon in a process of its own, as users run it. Tests kill it, fill its disk, take its port.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Dragoman } from "../src/client/dragoman.ts";

export const CLI = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

export type Ready = { url: string; token: string; pid: number; data_dir: string };

export type DaemonProcess = Ready & {
  client: Dragoman;
  child: ChildProcess;
  /** Resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
};

export const temporaryDir = (name: string): string => mkdtempSync(join(tmpdir(), `dragoman-${name}-`));

export const removeDir = (dir: string): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });

/** A clean environment: nothing of the user's configuration, nothing of the test runner. */
export const cleanEnv = (home: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  XDG_CONFIG_HOME: join(home, ".config"),
  LANG: "C.UTF-8",
});

export async function startDaemonProcess(
  dataDir: string,
  args: string[] = [],
  env: NodeJS.ProcessEnv = {},
  command = "serve",
  program = CLI,
): Promise<DaemonProcess> {
  const child = spawn(
    process.execPath,
    [program, command, "--port", "0", "--json", "--no-open", "--data-dir", dataDir, "--log-level", "error", ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...cleanEnv(dataDir), ...env },
      cwd: dataDir,
    },
  );
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", (line: string) => resolve(JSON.parse(line) as Ready));
    child.once("error", reject);
    void gone.then((code) => reject(new Error(`the daemon ended with ${code}: ${errors}`)));
  });
  return {
    ...ready,
    child,
    client: new Dragoman({ url: ready.url, token: ready.token }),
    kill(signal) {
      child.kill(signal);
      return gone;
    },
  };
}

/** Runs the command line to its end. */
export async function cli(
  dataDir: string,
  args: string[],
  input = "",
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir, ...env },
    cwd: dataDir,
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out, err };
}

/** Processes whose command line names the file: agents that a daemon left behind. */
export function processesRunning(part: string, environmentPart: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(part) &&
          readFileSync(`/proc/${pid}/environ`, "utf8").includes(environmentPart)
        );
      } catch {
        return false;
      }
    });
}

export const linux = existsSync("/proc/self/cmdline");
