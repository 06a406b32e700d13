// Runs `dragoman serve` as a child process. Node, Bun and Deno; loaded only by start().
import type { ChildProcess } from "node:child_process";
import { builtFile } from "../package-root.ts";
import { Dragoman } from "./dragoman.ts";
import { DragomanError } from "./error.ts";

// Asked for at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { spawn } = process.getBuiltinModule("node:child_process");
const { mkdtempSync, rmSync } = process.getBuiltinModule("node:fs");
const { tmpdir } = process.getBuiltinModule("node:os");
const { join } = process.getBuiltinModule("node:path");
const { fileURLToPath } = process.getBuiltinModule("node:url");

/** Ends the daemon when its stdin does, which is when the process that holds the other end is gone, even by SIGKILL. */
const TIED = "data:text/javascript,process.stdin.on('close',()=>process.kill(process.pid,'SIGTERM')).resume()";
const KILL_AFTER_MS = 15_000;

export type StartOptions = {
  /** Kept after the end. Without it: a temporary directory that is removed. */
  dataDir?: string;
  /** 0, the default, takes a free one. */
  port?: number;
  /** Where sessions work that name no directory, and where the daemon runs. */
  directory?: string;
  /** Configuration file. */
  config?: string;
  /** The daemon's environment; default: this process's. */
  env?: Record<string, string | undefined>;
  /** Program and first arguments, instead of this package's own command line under this process's runtime. */
  command?: string[];
  /** Ends the daemon when aborted. */
  signal?: AbortSignal;
};

export type StartedDaemon = {
  daemon: Dragoman;
  url: string;
  token: string;
  pid: number;
  dataDir: string;
  /** Idempotent. Resolves when the process is gone; every agent it ran is ended. */
  stop(): Promise<void>;
};

type Ready = { url: string; token: string; pid: number; data_dir: string };

export async function spawnDaemon(options: StartOptions): Promise<StartedDaemon> {
  const temporary = options.dataDir === undefined ? mkdtempSync(join(tmpdir(), "dragoman-")) : undefined;
  const dataDir = options.dataDir ?? temporary ?? "";
  const child = launch(options, dataDir);
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const onExit = (): void => void child.kill("SIGTERM");
  let stopping: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    child.kill("SIGTERM");
    const force = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    await gone;
    clearTimeout(force);
    process.off("exit", onExit);
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  };
  const stop = (): Promise<void> => {
    stopping ??= end();
    return stopping;
  };
  process.on("exit", onExit);
  options.signal?.addEventListener("abort", () => void stop(), { once: true });
  if (options.signal?.aborted) void stop();
  try {
    const { url, token, pid, data_dir } = await readyLine(child);
    return { daemon: new Dragoman({ url, token }), url, token, pid, dataDir: data_dir, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function launch(options: StartOptions, dataDir: string): ChildProcess {
  const cli = fileURLToPath(builtFile("cli/main.js"));
  const node = !process.versions.bun && !process.versions.deno;
  const [program = process.execPath, ...first] = options.command ?? [
    process.execPath,
    ...(node ? ["--import", TIED] : process.versions.deno ? ["run", "-A"] : []),
    cli,
  ];
  const args = ["serve", "--port", String(options.port ?? 0), "--json", "--no-open", "--data-dir", dataDir];
  return spawn(program, [...first, ...args, ...(options.config === undefined ? [] : ["--config", options.config])], {
    stdio: ["pipe", "pipe", "pipe"],
    env: options.env ?? process.env,
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
  });
}

/** The one line the daemon prints when it is ready; what it says on stderr instead, when it is not. */
function readyLine(child: ChildProcess): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let out = "";
    let errors = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      const end = out.indexOf("\n");
      if (end >= 0) resolve(JSON.parse(out.slice(0, end)) as Ready);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-4_000);
    });
    child.once("error", (error) =>
      reject(new DragomanError("no_daemon", `Cannot start the daemon: ${error.message}`, { cause: error })),
    );
    child.once("close", (code, signal) =>
      reject(new DragomanError("no_daemon", `The daemon ended with ${code ?? signal} before it was ready. ${errors.trim()}`)),
    );
  });
}
