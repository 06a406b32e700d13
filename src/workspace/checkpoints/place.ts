/** Which directories are never copied as a whole, and what a workspace's file system can do. */

import { realpathSync, statfsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, parse } from "node:path";
import { CheckpointError } from "./errors.ts";

/** File systems whose changes can come from another machine, without an event here: NFS, SMB, CIFS, SMB2, 9P, FUSE, Ceph, AFS. */
const REMOTE = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f]);

/** The directory itself, without links. */
export function realDirectory(directory: string): string {
  try {
    const real = realpathSync(directory);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Reported below.
  }
  throw new CheckpointError("directory_missing", `${directory} is not there, or is not a directory.`);
}

/** Why the whole directory is refused; null: it is not. */
export function refusalOf(directory: string, home = homedir()): CheckpointError | null {
  if (directory === parse(directory).root)
    return new CheckpointError(
      "root_directory",
      "The root of the file system is not copied; only files that known edits touch are stored.",
    );
  let real = home;
  try {
    real = realpathSync(home);
  } catch {
    // There is no such home.
  }
  for (let at = real; ; at = dirname(at)) {
    if (at === directory)
      return new CheckpointError(
        "home_directory",
        `${directory} is the home directory or holds it, and is not copied; only files that known edits touch are stored. Work in a directory of the project.`,
      );
    if (at === dirname(at)) return null;
  }
}

export function isRemote(directory: string): boolean {
  try {
    return REMOTE.has(statfsSync(directory).type);
  } catch {
    return false;
  }
}
