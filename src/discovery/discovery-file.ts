/**
 * What the daemon and those who look for it agree on: where its data is, the port, and the file that says where it listens. The daemon writes the file, the
 * client reads it; neither imports the other. Node, Bun and Deno only.
 */

// Loaded at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { homedir, userInfo } = process.getBuiltinModule("node:os");
const { isAbsolute, join } = process.getBuiltinModule("node:path");

/** Where the daemon listens unless configured otherwise. */
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

export const discoveryFile = (dataDir: string): string => join(dataDir, "daemon.json");

/** Where the daemon keeps everything unless configured otherwise. */
export const defaultDataDir = (env: NodeJS.ProcessEnv = process.env): string =>
  env.DRAGOMAN_DATA_DIR || join(ownFolder(env.XDG_DATA_HOME, ".local", "share"), "dragoman");

/** A folder of the person. What is empty or relative counts as not set: it would be another folder in every directory, and tokens would lie in it. */
export function ownFolder(set: string | undefined, ...usual: string[]): string {
  if (set && isAbsolute(set)) return set;
  const home = homedir();
  return join(isAbsolute(home) ? home : userInfo().homedir, ...usual);
}
