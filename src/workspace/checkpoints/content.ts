/** Reads one file of the workspace for a checkpoint, and names its content. */
import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync, readSync, type Stats } from "node:fs";
import { toFs } from "../raw-path.ts";
import type { HashName } from "./journal.ts";

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const ATTEMPTS = 3;
export const HANDLES = existsSync("/proc/self/fd") ? "/proc/self/fd" : null;

export type ContentId = (content: Buffer) => string;

/** Git's way to name a blob where a repository is the baseline, so that its ids and ours can be compared. */
export function contentIds(name: HashName): ContentId {
  if (name === "sha256") return (content) => createHash("sha256").update(content).digest("hex");
  const algorithm = name === "git-sha1" ? "sha1" : "sha256";
  return (content) => createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");
}

/**
 * The content and the times that belong to it. `changing`: somebody wrote while it was read, so it has to be read again at the next look.
 * null: it is gone, is no file, may not be read, or has more than `most` bytes, also when it grows while it is read. A directory on the way that was replaced by a
 * link is not followed.
 */
export function readFile(root: string, path: string, most: number): { content: Buffer; stat: Stats; changing: boolean } | null {
  const full = `${root}/${path}`;
  let fd: number;
  try {
    fd = openSync(toFs(full), FLAGS);
  } catch {
    return null;
  }
  try {
    if (HANDLES && readlinkSync(`${HANDLES}/${fd}`, "latin1") !== plain(full)) return null;
    for (let attempt = 1; ; attempt++) {
      const before = fstatSync(fd);
      if (!before.isFile()) return null;
      const content = readAll(fd, before.size, most);
      if (content === null) return null;
      const stat = fstatSync(fd);
      const changing = stat.ctimeMs !== before.ctimeMs || stat.size !== content.length;
      if (!changing || attempt === ATTEMPTS) return { content, stat, changing };
    }
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

/** In the root of the file system, paths begin with two slashes here. */
export const plain = (full: string): string => (full.startsWith("//") ? full.slice(1) : full);

/** Null: there is more than `most`. Whoever writes faster than this reads would otherwise keep it reading. */
function readAll(fd: number, size: number, most: number): Buffer | null {
  if (size > most) return null;
  // One byte more shows whether it grew.
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, buffer, length, buffer.length - length, length);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > most) return null;
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}
