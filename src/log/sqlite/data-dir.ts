/**
 * The data directory itself: made private, proven writable, refused on file systems where SQLite's WAL loses data, and missed when it is gone.
 */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { LogError, toLogError } from "../log-error.ts";

/**
 * `f_type` of Linux. WAL needs memory shared between processes and honest locks; these have neither for sure. virtiofs reports itself as fuse, and
 * Docker Desktop and Podman machines share folders through it.
 */
const NETWORK_TYPES = new Map<number, string>([
  [0x6969, "nfs"],
  [0x517b, "smb"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb2"],
  [0x01021997, "9p"],
  [0x65735546, "fuse or virtiofs"],
  [0x73757245, "coda"],
  [0x5346414f, "afs"],
  [0x00c36400, "ceph"],
  [0x0bd00bd0, "lustre"],
  [0x47504653, "gpfs"],
  [0x786f4256, "vboxsf"],
  [0x7c7c6673, "prl_fs"],
  [0xbacbacbc, "vmhgfs"],
]);

/** The name of a file system that WAL does not work on, undefined for all others. */
export function networkFileSystem(type: number, platform: NodeJS.Platform = process.platform): string | undefined {
  // 32-bit values with the top bit set come back negative on some builds.
  return platform === "linux" ? NETWORK_TYPES.get(type >>> 0) : undefined;
}

export function prepareDataDir(
  dataDir: string,
  options: { allowNetworkFileSystem: boolean; typeOf?: (path: string) => number },
): void {
  try {
    makeDirectory(resolve(dataDir));
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    chmodSync(dataDir, 0o700);
  } catch (error) {
    const known = toLogError(error, `Preparing ${dataDir}`);
    if (known.code === "disk_full") throw known;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The data directory ${dataDir} cannot be used: ${reason}. Make it a directory that you own and may write, or pass another --data-dir.`;
    throw new LogError("data_dir_unreadable", message, { path: dataDir }, error);
  }
  const name = networkFileSystem((options.typeOf ?? typeOf)(dataDir));
  if (name === undefined || options.allowNetworkFileSystem) return;
  const message = `The data directory ${dataDir} is on a network file system (${name}), where the database can be damaged. Pass a --data-dir on a local disk.`;
  throw new LogError("network_file_system", message, { path: dataDir, file_system: name });
}

/** With those above it. Node's own `recursive` never ends below /proc, where a directory cannot be made and says that its parent is not there. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

function typeOf(path: string): number {
  return Number(statfsSync(path).type);
}

/** SQLite goes on writing into a file that was removed, and all of it is lost at the end. Throws when `file` is no longer the one that is there now. */
export function presenceOf(file: string): () => void {
  const inodeOf = (): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;
  const own = inodeOf();
  return () => {
    if (inodeOf() === own) return;
    const message = `${file} was removed or replaced while the daemon runs: nothing can be stored. Put it back and the daemon goes on; or stop the daemon and start it again.`;
    throw new LogError("data_dir_unreadable", message, { path: file });
  };
}
