// A daemon of your own: `start` runs one as a child process and stops it with you. To have it inside your process, use `startDaemon` of "dragoman".
import type { Dragoman } from "./dragoman.ts";
import { DragomanError } from "./error.ts";

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

/** Resolves when the daemon answers. It also ends when this process does, however that happens. */
export async function start(options: StartOptions = {}): Promise<StartedDaemon> {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function")
    throw new DragomanError("unsupported", "start() needs Node, Bun or Deno. In a page, give connect() the url of a daemon.");
  const { spawnDaemon } = await import("./spawn-daemon.ts");
  return spawnDaemon(options);
}
