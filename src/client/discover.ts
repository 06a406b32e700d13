// Finds the daemon of this machine through the 0600 file it leaves in its data directory. Node, Bun and Deno only.

// Asked for at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { readFile } = process.getBuiltinModule("node:fs/promises");
const { homedir } = process.getBuiltinModule("node:os");
const { join } = process.getBuiltinModule("node:path");

/** Where the daemon listens unless told otherwise. */
export const DEFAULT_PORT = 4700;

export type Discovery = { url: string; token: string; pid: number };

export const discoveryFile = (dataDir: string): string => join(dataDir, "daemon.json");

/** Where the daemon keeps everything unless told otherwise. */
export const defaultDataDir = (env: NodeJS.ProcessEnv = process.env): string =>
  env.DRAGOMAN_DATA_DIR ?? join(env.XDG_DATA_HOME ?? join(homedir(), ".local", "share"), "dragoman");

/** Undefined when there is no file, or the daemon that wrote it is gone. */
export async function discover(dataDir: string = defaultDataDir()): Promise<Discovery | undefined> {
  try {
    const found = JSON.parse(await readFile(discoveryFile(dataDir), "utf8")) as Discovery;
    process.kill(found.pid, 0);
    return found;
  } catch {
    return undefined;
  }
}
