// A daemon of your own: `start` runs one as a child process and stops it with you. To have it inside your process, use `startDaemon` of "dragoman".
import { DragomanError } from "./error.ts";
import type { StartedDaemon, StartOptions } from "./spawn-daemon.ts";

export type { StartedDaemon, StartOptions };

/** Resolves when the daemon answers. It also ends when this process does, however that happens. */
export async function start(options: StartOptions = {}): Promise<StartedDaemon> {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function")
    throw new DragomanError("unsupported", "start() needs Node, Bun or Deno. In a page, give connect() the url of a daemon.");
  const { spawnDaemon } = await import("./spawn-daemon.ts");
  return spawnDaemon(options);
}
