/**
 * Opens a file below a directory, and nowhere else, whatever happens to the names on the way meanwhile: on Linux every step goes through a handle of the
 * directory before it and follows no link. Elsewhere there are no such handles; the file that was opened is compared with its name before it is used.
 * Not here: what a path of an agent means (client-files.ts).
 */
import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

const HANDLES = "/proc/self/fd";
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const hasHandles = existsSync(HANDLES);

export class OutsideError extends Error {
  readonly code = "EOUTSIDE";
  constructor(path: string) {
    super(`${path} changed while it was opened, and would lead out of the directory`);
  }
}

/**
 * `way` is relative to `root`, without links and without `..`. Missing directories are made when the flags create the file. The file is opened with
 * O_NOFOLLOW; O_TRUNC is for the caller, once the file is known to be the right one.
 */
export async function openInside(root: string, way: string, flags: number, mode = 0o666): Promise<FileHandle> {
  if (!hasHandles) return openAndCompare(join(root, way), flags, mode);
  const names = way.split(sep).filter((name) => name !== "");
  const file = names.pop() ?? ".";
  let at = await open(root, DIRECTORY);
  try {
    // The directory itself may have been replaced by a link since its path was resolved.
    if ((await readlink(join(HANDLES, String(at.fd)))) !== root) throw new OutsideError(root);
    for (const name of names) {
      const next = await step(at, name, (flags & constants.O_CREAT) !== 0);
      await at.close();
      at = next;
    }
    return await open(join(HANDLES, String(at.fd), file), flags | constants.O_NOFOLLOW, mode);
  } finally {
    await at.close();
  }
}

async function step(parent: FileHandle, name: string, make: boolean): Promise<FileHandle> {
  const path = join(HANDLES, String(parent.fd), name);
  try {
    return await open(path, DIRECTORY);
  } catch (error) {
    if (!make || !(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    await mkdir(path).catch((fault: unknown) => {
      if (!(fault instanceof Error && "code" in fault && fault.code === "EEXIST")) throw fault;
    });
    return open(path, DIRECTORY);
  }
}

async function openAndCompare(path: string, flags: number, mode: number): Promise<FileHandle> {
  if (flags & constants.O_CREAT) await mkdir(dirname(path), { recursive: true });
  const file = await open(path, flags | constants.O_NOFOLLOW, mode);
  try {
    const [opened, named, parent] = [await file.stat(), await lstat(path), await realpath(dirname(path))];
    if (parent !== dirname(path) || opened.ino !== named.ino || opened.dev !== named.dev) throw new OutsideError(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
