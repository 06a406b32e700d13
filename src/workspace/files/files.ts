/**
 * Files of one directory: list, stat, read, write, move, delete, make directories. Paths are relative to the directory; nothing outside of it can be reached
 * (inside.ts). A write is all or nothing. Search, completion and watching have files of their own; git is in ../git.
 */

import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, type Stats } from "node:fs";
import { type FileHandle, link, lstat, mkdir, open, readdir, readlink, rename, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import type { FileEntry } from "../../schema/files.ts";
import { rawOf, textOf, toFs } from "../raw-path.ts";
import { entryOf, etagOf } from "./entries.ts";
import { errnoOf, FilesError } from "./errors.ts";
import { DIRECTORY, Inside, type InsidePath } from "./inside.ts";
import { type Completion, Paths } from "./paths.ts";
import { bounds, bytesAt, exactly, isBinaryFile, type ReadOptions } from "./ranges.ts";
import { type SearchOptions, type SearchResult, searchText } from "./search.ts";
import { type FileChanges, FilesWatch } from "./watch.ts";

const READ_BYTES = 16 * 1024 ** 2;
const LIST_LIMIT = 1_000;
const LIST_MOST = 10_000;
const BIG = { bigint: true } as const;

export type ListOptions = { /** At most so many; default 1,000. */ limit?: number /** Names after this one. */; after?: string };
export type FileList = { entries: FileEntry[] /** Pass as `after` for the rest; null: that was all. */; next: string | null };
export type ReadResult = { entry: FileEntry; content: Buffer; start: number; end: number; size: number; binary: boolean };
export type OpenedFile = {
  entry: FileEntry;
  /** Bytes `start` to `end`, both included; absent: all. Closes the file at its end. Fails when the file became shorter: what was promised does not come. */
  read(range?: { start: number; end: number }): Readable;
  close(): Promise<void>;
};
export type WriteOptions = {
  /** Only when the file has this etag; `*`: any. */
  if_match?: string;
  /** Only when there is no file yet. */
  create_only?: boolean;
  /** Make missing directories. */
  parents?: boolean;
  /** Permission bits of a new file. Default 0644. */
  mode?: number;
};

export class Files {
  readonly #inside: Inside;
  readonly #paths: Paths;

  private constructor(inside: Inside) {
    this.#inside = inside;
    this.#paths = new Paths(inside.root);
  }

  static async open(directory: string): Promise<Files> {
    return new Files(await Inside.open(directory));
  }

  get root(): string {
    return this.#inside.root;
  }

  /** By name. Links are listed as links. */
  async list(path = "", { limit = LIST_LIMIT, after }: ListOptions = {}): Promise<FileList> {
    const place = await this.#inside.resolve(path);
    return this.#inside.inDirectory(place, async ({ at }) => {
      // Names are bytes: one that is no UTF-8 is listed, too, as it is shown everywhere.
      const names = (await readdir(at(""), "latin1"))
        .map((raw) => ({ raw, name: textOf(raw) }))
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .filter(({ name }) => after === undefined || name > after);
      const page = names.slice(0, Math.max(1, Math.min(limit, LIST_MOST)));
      const below = place.path === "" ? "" : `${place.path}/`;
      const found = await Promise.all(page.map(({ raw, name }) => entryAt(toFs(`${rawOf(at(""))}/${raw}`), `${below}${name}`)));
      return {
        entries: found.filter((entry) => entry !== null),
        next: page.length < names.length ? (page.at(-1)?.name ?? null) : null,
      };
    });
  }

  /** A link is reported as the file it leads to; `follow: false` reports the link itself. */
  async stat(path: string, { follow = true }: { follow?: boolean } = {}): Promise<FileEntry> {
    const place = await this.#inside.resolve(path, follow);
    if (place.path === "") return this.#inside.inDirectory(place, async ({ handle }) => entryOf("", await handle.stat(BIG)));
    return this.#inside.inParent(place, async ({ at }, name) => {
      const entry = await entryAt(at(name), place.path);
      if (!entry) throw new FilesError("not_found", path, `${path} does not exist.`);
      return entry;
    });
  }

  /** A file or a part of it. More than 16 MiB has to be read in parts. */
  async read(path: string, range: ReadOptions = {}): Promise<ReadResult> {
    return this.#withFile(path, async (handle, place, info) => {
      const size = Number(info.size);
      const { start, end } = bounds(path, size, range);
      if (end - start + 1 > READ_BYTES)
        throw new FilesError(
          "too_large",
          path,
          `${path}: ${end - start + 1} bytes are too much at once, ask for at most ${READ_BYTES}.`,
        );
      const content = await bytesAt(handle, start, end - start + 1);
      return {
        entry: entryOf(place.path, info),
        content,
        start,
        end: start + content.length - 1,
        size,
        binary: await isBinaryFile(handle, size),
      };
    });
  }

  /** A file of any size, opened to be read as a stream. The caller reads it once, or closes it. */
  async open(path: string): Promise<OpenedFile> {
    const place = await this.#inside.resolve(path);
    const handle = await this.#inside.openFile(place, constants.O_RDONLY);
    try {
      const info = await handle.stat(BIG);
      const size = Number(info.size);
      return {
        entry: entryOf(place.path, info),
        read: ({ start, end } = { start: 0, end: size - 1 }) => exactly(handle, start, end),
        close: () => handle.close(),
      };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Whole or not at all: readers see the old file or the new one. The mode of an existing file stays; a link inside is written through. */
  async write(path: string, content: Buffer | string, options: WriteOptions = {}): Promise<FileEntry> {
    const place = await this.#inside.resolve(path);
    if (options.parents) await this.#makeParents(place);
    return this.#inside.inParent(place, async (directory, name) => {
      const known = await lstat(directory.at(name), BIG).catch(orNull);
      check(path, known, options);
      const temporary = directory.at(`.dragoman-write-${randomBytes(8).toString("hex")}`);
      try {
        const info = await writeWhole(temporary, content, known, options.mode ?? 0o644);
        // Nobody may have come in between: once more, now that the content is complete.
        check(path, await lstat(directory.at(name), BIG).catch(orNull), options);
        if (options.create_only) {
          await link(temporary, directory.at(name));
          await unlink(temporary);
        } else await rename(temporary, directory.at(name));
        return { ...entryOf(place.path, info), etag: etagOf(await lstat(directory.at(name), BIG)) };
      } catch (error) {
        await unlink(temporary).catch(() => {});
        throw error;
      }
    });
  }

  /** `parents`: make missing ones, and an existing directory is fine. */
  async mkdir(path: string, { parents = false }: { parents?: boolean } = {}): Promise<FileEntry> {
    const place = await this.#inside.resolve(path);
    if (place.path === "" && parents) return this.stat("");
    if (parents) await this.#makeParents(place);
    await this.#inside.inParent(place, async ({ at }, name) => {
      await mkdir(at(name)).catch(async (error: unknown) => {
        if (!parents || errnoOf(error) !== "EEXIST" || !(await lstat(at(name))).isDirectory()) throw error;
      });
    });
    return this.stat(place.path);
  }

  /** A link is moved as a link. Without `overwrite` the new path must be free. */
  async move(from: string, to: string, { overwrite = false }: { overwrite?: boolean } = {}): Promise<FileEntry> {
    const [source, target] = [await this.#inside.resolve(from, false), await this.#inside.resolve(to, false)];
    if (target.path === source.path) return this.stat(to, { follow: false });
    if (`${target.path}/`.startsWith(`${source.path}/`))
      throw new FilesError("invalid_path", to, `${to} lies inside of ${from}.`);
    await this.#inside.inParent(source, (old, oldName) =>
      this.#inside.inParent(target, async (fresh, freshName) => {
        const info = await lstat(old.at(oldName)).catch((error: unknown) => {
          throw errnoOf(error) === "ENOENT" ? new FilesError("not_found", from, `${from} does not exist.`) : error;
        });
        const taken = await lstat(fresh.at(freshName)).catch(orNull);
        if (taken && !overwrite) throw new FilesError("already_exists", to, `${to} exists already.`);
        if (!taken && info.isFile()) return linkThenUnlink(old.at(oldName), fresh.at(freshName));
        await rename(old.at(oldName), fresh.at(freshName));
        // Two names of one file: the system then leaves both, and says that all went well.
        if (taken && isSameFile(info, taken) && !isOneName(source.path, target.path)) await unlink(old.at(oldName));
      }),
    );
    return this.stat(target.path, { follow: false });
  }

  /** A link is deleted, never what it leads to. A directory that holds something needs `recursive`. */
  async delete(path: string, { recursive = false }: { recursive?: boolean } = {}): Promise<void> {
    const place = await this.#inside.resolve(path, false);
    await this.#inside.inParent(place, async (directory, name) => {
      if (!(await lstat(directory.at(name))).isDirectory()) return unlink(directory.at(name));
      if (recursive) await empty(directory.at(name));
      await rmdir(directory.at(name));
    });
  }

  /** Text in files that git does not ignore. */
  async search(query: string, options: SearchOptions = {}): Promise<SearchResult> {
    const { path } = await this.#inside.resolve(options.path ?? "");
    return searchText(this.root, path, query, options);
  }

  /** Paths for `@path`, the best first. */
  complete(query: string, limit?: number): Promise<Completion[]> {
    return this.#paths.complete(query, limit);
  }

  /** Until the watch is closed. */
  watch(notify: (changes: FileChanges) => void): Promise<FilesWatch> {
    return FilesWatch.start(this.root, (changes) => {
      this.#paths.forget();
      notify(changes);
    });
  }

  async #withFile<T>(path: string, work: (handle: FileHandle, place: InsidePath, info: BigIntStats) => Promise<T>): Promise<T> {
    const place = await this.#inside.resolve(path);
    const handle = await this.#inside.openFile(place, constants.O_RDONLY);
    try {
      return await work(handle, place, await handle.stat(BIG));
    } catch (error) {
      throw await this.#inside.explain(error, path);
    } finally {
      await handle.close();
    }
  }

  async #makeParents({ asked, path }: InsidePath): Promise<void> {
    const names = dirname(path) === "." ? [] : dirname(path).split("/");
    for (let level = 0; level < names.length; level++) {
      const parent = names.slice(0, level).join("/");
      await this.#inside.inDirectory({ asked, path: parent }, async ({ at }) => {
        await mkdir(at(names[level]!)).catch((error: unknown) => {
          if (errnoOf(error) !== "EEXIST") throw error;
        });
      });
    }
  }
}

const orNull = (error: unknown): null => {
  if (errnoOf(error) === "ENOENT") return null;
  throw error;
};

async function entryAt(full: string | Buffer, path: string): Promise<FileEntry | null> {
  const info = await lstat(full, BIG).catch(orNull);
  if (!info) return null;
  return entryOf(path, info, info.isSymbolicLink() ? await readlink(full).catch(() => "") : undefined);
}

function check(path: string, known: BigIntStats | null, { if_match, create_only }: WriteOptions): void {
  if (known?.isDirectory()) throw new FilesError("is_a_directory", path, `${path} is a directory.`);
  if (known && !known.isFile()) throw new FilesError("not_a_file", path, `${path} is not a regular file.`);
  if (known && create_only) throw new FilesError("already_exists", path, `${path} exists already.`);
  if (if_match !== undefined && (!known || (if_match !== "*" && etagOf(known) !== if_match)))
    throw new FilesError("etag_mismatch", path, `${path} is not the file you know any more: read it again.`);
}

async function writeWhole(path: string, content: Buffer | string, known: BigIntStats | null, mode: number): Promise<BigIntStats> {
  const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(content);
    if (known && process.getuid?.() === 0) await handle.chown(Number(known.uid), Number(known.gid));
    await handle.chmod(known ? Number(known.mode) & 0o7777 : mode);
    await handle.sync();
    return await handle.stat(BIG);
  } finally {
    await handle.close();
  }
}

const isSameFile = (one: Stats, other: Stats): boolean =>
  !one.isDirectory() && one.ino === other.ino && one.dev === other.dev && one.nlink > 1;

/** To a file system that ignores case, or how an accent is written. */
const isOneName = (one: string, other: string): boolean =>
  one.normalize("NFC").toLowerCase() === other.normalize("NFC").toLowerCase();

/** Never over a file that came in between. Where there are no hard links it is a rename. */
async function linkThenUnlink(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw error;
    return rename(from, to);
  }
  await unlink(from);
}

/** Through handles all the way down: a directory that becomes a link meanwhile is not followed. Names are bytes here. */
async function empty(path: string | Buffer): Promise<void> {
  const handle = await open(path, DIRECTORY);
  try {
    const base = process.platform === "linux" ? Buffer.from(`/proc/self/fd/${handle.fd}`) : Buffer.from(path);
    for (const name of await readdir(base, "latin1")) {
      const child = Buffer.concat([base, Buffer.from(`/${name}`, "latin1")]);
      const info = await lstat(child).catch(orNull);
      if (!info) continue;
      if (!info.isDirectory()) await unlink(child);
      else {
        await empty(child);
        await rmdir(child);
      }
    }
  } finally {
    await handle.close();
  }
}
