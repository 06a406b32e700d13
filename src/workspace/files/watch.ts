/** Reports when files of a workspace change: batches of paths, at most one every 100 ms. Ignored directories are not watched. Not for checkpoints: a late or lost event costs nothing here but a refresh. */
import { lstat, readdir } from "node:fs/promises";
import { DirectoryWatches } from "../directory-watches.ts";
import { Repository } from "../git/repository.ts";
import { joinRaw, rawOf, textOf, toFs } from "../raw-path.ts";

const BATCH_MS = 100;
const PATHS = 1_000;
const DIRECTORIES = 20_000;
const AT_ONCE = 64;

export type FileChanges = { paths: string[] /** More happened than is listed: look again at everything. */; overflowed: boolean };

export class FilesWatch {
  readonly #root: string;
  readonly #watches: DirectoryWatches;
  readonly #notify: (changes: FileChanges) => void;
  readonly #repository: Repository | null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  private constructor(root: string, repository: Repository | null, notify: (changes: FileChanges) => void) {
    this.#root = root;
    this.#repository = repository;
    this.#notify = notify;
    this.#watches = new DirectoryWatches(rawOf(root), null, () => this.#later());
  }

  static async start(root: string, notify: (changes: FileChanges) => void): Promise<FilesWatch> {
    const watch = new FilesWatch(root, await Repository.at(root), notify);
    await watch.#add([""]);
    return watch;
  }

  /** Why nothing is watched; null: it works. */
  get failure(): string | null {
    return this.#watches.failure;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#watches.close();
    this.#repository?.close();
  }

  #later(): void {
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => void this.#tell(), BATCH_MS).unref();
  }

  async #tell(): Promise<void> {
    const { overflowed } = this.#watches;
    this.#watches.overflowed = false;
    const dirty = [...this.#watches.takeDirty()].filter(
      ([path]) => !/(^|\/)\.git(\/|$)/.test(path) && !path.includes(".dragoman-write-"),
    );
    const fresh: string[] = [];
    for (const [path, renamed] of dirty) {
      if (!renamed) continue;
      const info = await lstat(toFs(`${rawOf(this.#root)}/${path}`)).catch(() => null);
      this.#watches.remove(path);
      if (info?.isDirectory()) fresh.push(path);
    }
    await this.#add(overflowed ? [""] : fresh);
    this.#timer = null;
    if (this.#closed || (dirty.length === 0 && !overflowed)) return;
    this.#notify({ paths: dirty.slice(0, PATHS).map(([path]) => textOf(path)), overflowed: overflowed || dirty.length > PATHS });
  }

  /** Watches directories and all that is not ignored below them, level by level. */
  async #add(directories: readonly string[]): Promise<void> {
    let level = [...directories];
    while (level.length > 0 && !this.#closed && this.#watches.size < DIRECTORIES) {
      const ignored = (await this.#repository?.ignored(level.filter((path) => path !== ""))) ?? new Set();
      const included = level.filter((path) => !ignored.has(path));
      for (const path of included) this.#watches.add(path);
      const next: string[] = [];
      for (let from = 0; from < included.length; from += AT_ONCE)
        next.push(...(await Promise.all(included.slice(from, from + AT_ONCE).map((path) => this.#below(path)))).flat());
      level = next;
    }
  }

  /** The directories in a directory. */
  async #below(path: string): Promise<string[]> {
    const full = path === "" ? rawOf(this.#root) : `${rawOf(this.#root)}/${path}`;
    const entries = await readdir(toFs(full), { withFileTypes: true, encoding: "latin1" }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && entry.name !== ".git").map(({ name }) => joinRaw(path, name));
  }
}
