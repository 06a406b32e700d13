/** What one look at the directory found. Nothing of it is in the manifest until it is applied, so that a checkpoint that cannot be stored changes nothing. */
import type { Stats } from "node:fs";
import type { DirectoryWatches } from "../directory-watches.ts";
import { nameOf } from "../raw-path.ts";
import { type Entry, type State, stateOf } from "./entry.ts";
import { type Author, type Change, entries, type Tree } from "./tree.ts";

type Found = { before: State | null; entry: Entry | null };

export class Look {
  /** By path, parents before what they hold. */
  readonly #found = new Map<string, Found>();
  readonly #refreshed: { entry: Entry; stat: Stats; now: number }[] = [];
  readonly #reread: { path: string; old: Entry; entry: Entry }[] = [];
  readonly #fresh: Tree | null;
  /** A file with ignore rules came, changed or went. */
  ignoresChanged = false;

  /** `fresh`: an empty tree that nobody uses yet, into which the first look goes at once: there is nothing to compare with, and nothing to take back. */
  constructor(fresh: Tree | null = null) {
    this.#fresh = fresh;
  }

  /** A path is there. The same state as before is no change; its times are taken over. `unseen`: its state while nobody looked at it. */
  found(path: string, old: Entry | undefined, entry: Entry, watches?: DirectoryWatches | null, unseen?: State): void {
    if (this.#fresh && !old && unseen === undefined) {
      this.#fresh.set(path, entry);
      return;
    }
    const before = old ? stateOf(old) : (unseen ?? null);
    if (old && before === stateOf(entry)) {
      this.#reread.push({ path, old, entry });
      this.#found.delete(path);
      return;
    }
    if (nameOf(path) === ".gitignore") this.ignoresChanged = true;
    if (old?.kind === "d" && entry.kind !== "d") {
      watches?.remove(path);
      for (const [below, child] of entries(old, path))
        if (below !== path) this.#found.set(below, { before: stateOf(child), entry: null });
    }
    this.#found.set(path, { before, entry });
  }

  /** A path and all below it are not there any more. */
  gone(path: string, old: Entry, watches: DirectoryWatches | null): void {
    if (old.kind === "d") watches?.remove(path);
    if (nameOf(path) === ".gitignore") this.ignoresChanged = true;
    for (const [below, child] of entries(old, path)) this.#found.set(below, { before: stateOf(child), entry: null });
  }

  /** The names of a directory were read at `now`. */
  refresh(entry: Entry, stat: Stats, now: number): void {
    this.#refreshed.push({ entry, stat, now });
  }

  get size(): number {
    return this.#found.size + (this.#fresh?.count ?? 0);
  }

  changes(by: (path: string) => Author): Change[] {
    return [...this.#found].map(([path, { before, entry }]) => ({
      path,
      before,
      after: entry ? stateOf(entry) : null,
      by: by(path),
    }));
  }

  apply(tree: Tree): void {
    for (const { path, old, entry } of this.#reread) {
      Object.assign(old, { ino: entry.ino, mtime: entry.mtime, ctime: entry.ctime, racy: entry.racy });
      if (entry.racy) tree.racy.add(path);
      else tree.racy.delete(path);
    }
    for (const [path, { entry }] of this.#found) {
      if (entry === null) tree.delete(path);
      else if (path === "") tree.replaceRoot(entry);
      else {
        if (tree.racy.size > 0) tree.racy.delete(path);
        tree.set(path, entry);
      }
    }
    // A new directory was made from what its parent saw: the same object that is refreshed here.
    for (const { entry, stat, now } of this.#refreshed) {
      const mode = entry.mode;
      entry.refresh(stat);
      entry.mode = mode;
      entry.readAt(now);
    }
    tree.adopt();
  }
}
