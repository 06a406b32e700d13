/**
 * Finds the daemon of this machine through the 0600 file it leaves in its data directory. Node, Bun and Deno only. Not here: talking to it.
 */
import { processStart } from "./process-start.ts";
import { socketFetch } from "./socket-fetch.ts";

// Asked for at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { readFile, stat } = process.getBuiltinModule("node:fs/promises");
const { homedir } = process.getBuiltinModule("node:os");
const { join } = process.getBuiltinModule("node:path");

/** Where the daemon listens unless told otherwise. */
export const DEFAULT_PORT = 4700;

/** What the daemon writes. */
export type DiscoveryFile = {
  url: string;
  pid: number;
  /** Of the process; a recycled pid has another. */
  started: string;
  /** Absent: the daemon keeps no token on the disk. */
  token?: string;
  /** Absent: it listens on no unix socket. */
  socket?: string;
};

export type Discovery = DiscoveryFile & {
  /** Goes through the unix socket. */
  fetch?: typeof fetch;
};

export const discoveryFile = (dataDir: string): string => join(dataDir, "daemon.json");

/** Where the daemon keeps everything unless told otherwise. */
export const defaultDataDir = (env: NodeJS.ProcessEnv = process.env): string =>
  env.DRAGOMAN_DATA_DIR ?? join(env.XDG_DATA_HOME ?? join(homedir(), ".local", "share"), "dragoman");

/** Undefined when there is no file, or the process that wrote it is gone: then nobody may be shown the token. */
export async function discover(dataDir: string = defaultDataDir()): Promise<Discovery | undefined> {
  let found: DiscoveryFile;
  try {
    found = JSON.parse(await readFile(discoveryFile(dataDir), "utf8")) as DiscoveryFile;
  } catch {
    return undefined;
  }
  const started = processStart(found.pid);
  if (started === undefined || started !== found.started) return undefined;
  return found.socket !== undefined && (await isSocket(found.socket)) ? { ...found, fetch: socketFetch(found.socket) } : found;
}

/** Of this user, or of none: what another user put there is not the daemon's. */
async function isSocket(path: string): Promise<boolean> {
  if (process.versions.bun || process.versions.deno) return false;
  try {
    const info = await stat(path);
    return info.isSocket() && info.uid === process.getuid?.();
  } catch {
    return false;
  }
}
