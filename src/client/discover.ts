/**
 * Finds the daemon of this machine through the 0600 file it leaves in its data directory. Node, Bun and Deno only. Not here: talking to it.
 */
import { type DiscoveryFile, defaultDataDir, discoveryFile } from "../discovery/discovery-file.ts";
import { processStart } from "../discovery/process-start.ts";
import { socketFetch } from "./socket-fetch.ts";

// Asked for at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { readFile, stat } = process.getBuiltinModule("node:fs/promises");

export type Discovery = DiscoveryFile & {
  /** Goes through the unix socket. */
  fetch?: typeof fetch;
};

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
