/**
 * Paths of one root directory, and no way out of it: not by `..`, not by links, not by a directory that is swapped for a link in the right moment. Links that stay
 * inside are followed. A path is resolved first; then its directory is opened, the handle is asked where it really is, and all work goes through the handle.
 * Where the system has no such handles (not Linux), the directory is compared before and after.
 */
import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { errnoOf, FilesError, filesError } from "./errors.ts";

const HANDLES = existsSync("/proc/self/fd") ? "/proc/self/fd" : null;
export const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const LINKS = 40;
const PATH_BYTES = 4_096;

/** A path that was checked: relative to the root, without `..`; "" is the root. `name` may be a link when links were not to be followed. */
export type InsidePath = { asked: string; path: string };
/** A directory that is open. `at(name)` is a path through its handle. */
export type Directory = { at(name: string): string; handle: FileHandle; path: string };

export class Inside {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async open(directory: string): Promise<Inside> {
    try {
      const root = await realpath(directory);
      if ((await stat(root)).isDirectory()) return new Inside(root);
    } catch {
      // Reported below.
    }
    throw new FilesError("directory_missing", directory, `${directory} is not there, or is not a directory.`);
  }

  /** `follow`: the last name too, if it is a link. What does not exist yet is a path as well. */
  async resolve(asked: string, follow = true): Promise<InsidePath> {
    if (asked.includes("\0") || Buffer.byteLength(asked) > PATH_BYTES)
      throw new FilesError("invalid_path", asked, "The path is not valid.");
    const full = isAbsolute(asked) ? resolve(asked) : resolve(this.root, asked);
    this.#mustBeInside(full, asked);
    try {
      const real =
        follow || full === this.root ? await resolveLinks(full) : join(await resolveLinks(dirname(full)), basename(full));
      return { asked, path: this.#mustBeInside(real, asked) };
    } catch (error) {
      throw await this.explain(error, asked);
    }
  }

  #mustBeInside(path: string, asked: string): string {
    const way = relative(this.root, path);
    if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way))
      throw new FilesError("path_outside", asked, `${asked} is outside of the workspace.`);
    return way;
  }

  /** Works in a directory of the root. Missing ones are made only by `mkdir`. */
  async inDirectory<T>({ asked, path }: InsidePath, work: (directory: Directory) => Promise<T>): Promise<T> {
    const full = path === "" ? this.root : join(this.root, path);
    let handle: FileHandle | undefined;
    try {
      handle = await open(full, DIRECTORY);
      await this.#mustBe(handle, full, asked);
      const base = HANDLES ? join(HANDLES, String(handle.fd)) : full;
      const result = await work({ at: (name) => join(base, name), handle, path });
      if (!HANDLES) await this.#mustBe(handle, full, asked);
      return result;
    } catch (error) {
      throw await this.explain(error, asked);
    } finally {
      await handle?.close();
    }
  }

  /** Works in the directory that holds the path. The root itself lies in none. */
  inParent<T>({ asked, path }: InsidePath, work: (directory: Directory, name: string) => Promise<T>): Promise<T> {
    if (path === "") throw new FilesError("invalid_path", asked, "This is the workspace itself.");
    const parent = dirname(path);
    return this.inDirectory({ asked, path: parent === "." ? "" : parent }, (directory) => work(directory, basename(path)));
  }

  /** Opens a file that exists; never a link, never waiting for a pipe. The caller closes it. */
  openFile(path: InsidePath, flags: number): Promise<FileHandle> {
    if (path.path === "") throw new FilesError("is_a_directory", path.asked, `${path.asked} is a directory.`);
    return this.inParent(path, async ({ at }, name) => {
      const handle = await open(at(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const info = await handle.stat();
        if (info.isDirectory()) throw new FilesError("is_a_directory", path.asked, `${path.asked} is a directory.`);
        if (!info.isFile()) throw new FilesError("not_a_file", path.asked, `${path.asked} is not a regular file.`);
        return handle;
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  /** The handle is where its name says it is: no directory on the way became a link since the path was resolved. */
  async #mustBe(handle: FileHandle, full: string, asked: string): Promise<void> {
    const real = HANDLES ? await readlink(join(HANDLES, String(handle.fd))) : await realpath(full);
    if (real === full) return;
    if (HANDLES === null) {
      const [opened, named] = [await handle.stat(), await lstat(full)];
      if (opened.ino === named.ino && opened.dev === named.dev) return;
    }
    throw new FilesError(
      "changed_meanwhile",
      asked,
      `${asked} changed while it was opened, and would lead out of the workspace.`,
    );
  }

  /** "Not found" means something else when the whole workspace is gone. */
  async explain(error: unknown, asked: string): Promise<unknown> {
    const told = filesError(error, asked);
    if (told instanceof FilesError && told.code === "not_found" && !(await isDirectory(this.root)))
      return new FilesError("directory_missing", asked, `The workspace ${this.root} is not there any more.`, { cause: error });
    return told;
  }
}

const isDirectory = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
};

/** realpath of what exists, with the rest behind it. A link to nothing leads where it points. */
async function resolveLinks(path: string, depth = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    if (depth > LINKS) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
    const target = join(await resolveLinks(dirname(path), depth), basename(path));
    const link = await lstat(target).catch(() => null);
    return link?.isSymbolicLink() ? resolveLinks(resolve(dirname(target), await readlink(target)), depth + 1) : target;
  }
}
