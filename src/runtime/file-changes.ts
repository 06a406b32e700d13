/**
 * Changes of files that can be proved: each is known by the digests before and after. They are made all or none, and after a crash the files themselves say
 * whether they were made.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFile, readFileSync, readlinkSync } from "node:fs";
import { mkdir, open, readlink, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { sha256 } from "./digest.ts";
import type { BlobStore } from "./ports.ts";
import type { FileChange } from "./records.ts";
import { ToolError } from "./tools/tool.ts";

const NEW_FILE_MODE = 0o666;
/** A file beyond this is no source file: a tool that edits it would hold it three times in memory. */
export const MAX_FILE_BYTES = 50 * 1024 * 1024;
const SMALL_BYTES = 256 * 1024;
const readWhole = promisify(readFile);
const HANDLES = existsSync("/proc/self/fd") ? "/proc/self/fd" : null;

/**
 * A file as it is; null when there is none. Throws `ToolError` for a directory, a device or a file that is too big; `advice` is added for a directory. Small files,
 * nearly all there are, are read at once: a trip through the thread pool costs ten times as much.
 */
export async function readCurrent(path: string, advice = ""): Promise<{ readonly bytes: Buffer; readonly mode: number } | null> {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (found.isDirectory()) throw new ToolError(`${path} is a directory.${advice}`);
    if (!found.isFile()) throw new ToolError(`${path} is not a regular file.`);
    if (found.size > MAX_FILE_BYTES) throw new ToolError(`${path} has ${found.size} bytes: too big to edit. Use bash.`);
    return { bytes: await bytesOf(path), mode: found.mode & 0o7777 };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof ToolError) throw error;
    // Gone between the two.
    if (code === "ENOENT") return null;
    throw new ToolError(`${path} cannot be read (${code ?? message}).`);
  }
}

/** `path` is real: if its handle is elsewhere, a directory on the way became a link meanwhile. */
async function bytesOf(path: string): Promise<Buffer> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (HANDLES !== null && readlinkSync(join(HANDLES, String(file))) !== path)
      throw new ToolError(`${path} leads elsewhere now.`);
    return fstatSync(file).size <= SMALL_BYTES ? readFileSync(file) : await readWhole(file);
  } finally {
    closeSync(file);
  }
}

/** Works out a change and keeps both contents. `content` null deletes. */
export async function planChange(path: string, content: Buffer | null, blobs: BlobStore): Promise<FileChange> {
  const current = await readCurrent(path);
  if (current !== null) await blobs.put(current.bytes);
  if (content !== null) await blobs.put(content);
  return {
    path,
    pre: current === null ? null : sha256(current.bytes),
    post: content === null ? null : sha256(content),
    mode: current?.mode ?? NEW_FILE_MODE & ~process.umask(),
  };
}

/** How far changes are, decided by the files. */
export type ChangeState = "done" | "not_done" | "partly" | "unknown";

export async function changeState(changes: readonly FileChange[]): Promise<ChangeState> {
  let done = 0;
  let open = 0;
  for (const change of changes) {
    const now = await digestNow(change.path);
    // A change that changes nothing is done.
    if (now === change.post) done += 1;
    else if (now === change.pre) open += 1;
    else return "unknown";
  }
  if (open === 0) return "done";
  return done === 0 ? "not_done" : "partly";
}

/**
 * Makes the changes that are not made yet. All files are looked at first: when one is neither as before nor as after, nothing is touched. When a write fails,
 * those already made are undone.
 */
export async function makeChanges(changes: readonly FileChange[], blobs: BlobStore): Promise<void> {
  if ((await changeState(changes)) === "unknown") {
    throw new ToolError("A file was changed by somebody else in the meantime. Read it again, then repeat the change.");
  }
  const made: FileChange[] = [];
  try {
    for (const change of changes) {
      if ((await digestNow(change.path)) === change.post) continue;
      made.push(change);
      await makeOne(change.path, change.post, change.mode, blobs);
    }
  } catch (error) {
    const lost: string[] = [];
    for (const change of made.reverse()) {
      await makeOne(change.path, change.pre, change.mode, blobs).catch(() => lost.push(change.path));
    }
    const why = error instanceof Error ? error.message : String(error);
    if (lost.length > 0) throw new ToolError(`The change failed (${why}) and could not be undone in: ${lost.join(", ")}.`);
    throw new ToolError(`The change failed (${why}). Nothing was changed.`);
  }
}

async function makeOne(path: string, digest: string | null, mode: number, blobs: BlobStore): Promise<void> {
  if (digest === null) {
    await inDirectory(dirname(path), (at) => unlink(at(basename(path)))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    return;
  }
  const bytes = await blobs.get(digest);
  if (bytes === null) throw new Error(`the new content of ${path} is not in the blob store`);
  await writeAtomic(path, bytes, mode, digest);
}

/** Temporary name, sync, rename. The name depends on the content alone, so that a crash leaves nothing that the next attempt does not take away. */
async function writeAtomic(path: string, bytes: Buffer, mode: number, digest: string): Promise<void> {
  await makeDirectory(dirname(path));
  await inDirectory(dirname(path), async (at) => {
    const temporary = at(`.${basename(path).slice(0, 100)}.${digest.slice(0, 16)}.tmp`);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    try {
      const file = await open(temporary, flags, mode);
      try {
        await file.writeFile(bytes);
        await file.chmod(mode);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(temporary, at(basename(path)));
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
  });
}

/** Step by step: the recursive mkdir of Node 20 tries for ever, on a thread that many share, where a file system makes none (/proc). */
async function makeDirectory(path: string): Promise<void> {
  const made = async (): Promise<NodeJS.ErrnoException | null> => {
    const error = await mkdir(path).catch((fault: NodeJS.ErrnoException) => fault);
    return error === undefined || error.code === "EEXIST" ? null : error;
  };
  let failed = await made();
  if (failed?.code === "ENOENT" && dirname(path) !== path) {
    await makeDirectory(dirname(path));
    failed = await made();
  }
  if (failed) throw failed;
}

/**
 * Works in a directory whose real path was decided before. A command in its sandbox may have put a link in its place since then, and what is written here is
 * written without a sandbox: so the directory is opened, asked where it is, and used by its handle.
 */
async function inDirectory<T>(directory: string, work: (at: (name: string) => string) => Promise<T>): Promise<T> {
  if (HANDLES === null) return work((name) => join(directory, name));
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const base = join(HANDLES, String(handle.fd));
    if ((await readlink(base)) !== directory) throw new Error(`${directory} leads elsewhere now`);
    return await work((name) => join(base, name));
  } finally {
    await handle.close();
  }
}

async function digestNow(path: string): Promise<string | null> {
  const current = await readCurrent(path).catch(() => undefined);
  if (current === undefined) return "unreadable";
  return current === null ? null : sha256(current.bytes);
}
