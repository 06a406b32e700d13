/** The manifest of one directory in memory: every path with its entry, and one digest for the whole, of which only changed directories are computed again. */
import { hash } from "node:crypto";
import { joinRaw, nameOf, parentOf } from "../raw-path.ts";
import { Entry, type State, stateOf } from "./entry.ts";

/** `by`: who made it: `u` a person (between turns), `a` an agent (within a turn), `r` a rewind. */
export type Author = "u" | "a" | "r";
/** One path that differs between two trees. null: it is not there. */
export type Change = { path: string; before: State | null; after: State | null; by: Author };

const NOTHING = { mode: 0o755, size: 0, ino: 0, mtimeMs: 0, ctimeMs: 0 };

export class Tree {
  root: Entry;
  /** How many entries there are, without the root. */
  count = 0;
  /** Paths that have to be read again at the next look. */
  readonly racy = new Set<string>();
  /** Single paths whose directory is not in the tree: files of ignored directories that an edit touched. */
  readonly loose = new Map<string, Entry>();

  #near: { path: string; entry: Entry | undefined } | null = null;

  constructor(root: Entry = new Entry("d", NOTHING)) {
    this.root = root;
  }

  get(path: string): Entry | undefined {
    if (path === "") return this.root;
    let at: Entry | undefined = this.root;
    for (const name of path.split("/")) {
      at = at.children?.get(name);
      if (at === undefined) return this.loose.get(path);
    }
    return at;
  }

  /** Puts an entry at a path. */
  set(path: string, entry: Entry): void {
    const parent = this.#parent(path);
    if (this.loose.size > 0) this.loose.delete(path);
    if (!parent?.children) {
      this.loose.set(path, entry);
      if (entry.racy) this.racy.add(path);
      return;
    }
    const name = nameOf(path);
    const old = parent.children.get(name);
    if (old) this.#forget(path, old);
    if (old?.children) this.#near = null;
    parent.children.set(name, entry);
    this.count += 1;
    if (entry.racy && !entry.children) this.racy.add(path);
    if (entry.children && entry.children.size > 0) this.#count(path, entry);
    if (parent.digest !== null) this.touch(path);
  }

  /** Puts a file into a directory that is in the tree, has no digest yet and nothing of this name: no path is made for it unless it is racy. */
  addFile(directory: string, parent: Entry, name: string, entry: Entry): void {
    parent.children!.set(name, entry);
    this.count += 1;
    if (entry.racy) this.racy.add(joinRaw(directory, name));
  }

  #count(path: string, directory: Entry): void {
    for (const [below, each] of entries(directory, path)) {
      if (below !== path) this.count += 1;
      if (each.racy && !each.children) this.racy.add(below);
    }
  }

  /** Neighbours come one after another: the last directory is remembered. */
  #parent(path: string): Entry | undefined {
    const at = parentOf(path);
    if (this.#near?.path !== at) this.#near = { path: at, entry: this.get(at) };
    return this.#near.entry;
  }

  /** A directory came into the tree: its loose files belong there now. */
  adopt(): void {
    for (const [path, entry] of [...this.loose]) if (this.get(parentOf(path))?.children) this.set(path, entry);
  }

  /** Directories that are left out. */
  *excluded(): Generator<[string, Entry]> {
    for (const [path, entry] of entries(this.root, "")) if (entry.kind === "x") yield [path, entry];
  }

  delete(path: string): void {
    this.#near = null;
    this.loose.delete(path);
    this.racy.delete(path);
    const parent = this.get(parentOf(path));
    const old = parent?.children?.get(nameOf(path));
    if (!parent || !old) return;
    this.#forget(path, old);
    parent.children!.delete(nameOf(path));
    this.touch(path);
  }

  /** The directory itself has other numbers now, but the same entries. */
  replaceRoot(root: Entry): void {
    this.root = root;
    this.#near = null;
  }

  /** The digests of all directories on the way are void: where one is, all above it are. */
  touch(path: string): void {
    let at: Entry | undefined = this.root;
    at.digest = null;
    for (const name of path.split("/")) {
      at = at.children?.get(name);
      if (at === undefined) return;
      at.digest = null;
    }
  }

  /** sha256 of everything a checkpoint remembers. Equal trees have equal digests, wherever and whenever they were taken. */
  digest(): string {
    if (this.loose.size === 0) return `sha256:${digestOf(this.root)}`;
    const loose = [...this.loose].map(([path, entry]) => `${path}\0${stateOf(entry)}\0`).sort();
    return `sha256:${sha256(digestOf(this.root) + loose.join(""))}`;
  }

  #forget(path: string, entry: Entry): void {
    if (!entry.children) {
      this.count -= 1;
      this.racy.delete(path);
      return;
    }
    for (const [below] of entries(entry, path)) {
      this.count -= 1;
      this.racy.delete(below);
    }
  }
}

/** The entry and everything below it, parents first. */
export function* entries(entry: Entry, path: string): Generator<[string, Entry]> {
  yield [path, entry];
  if (entry.children) for (const [name, child] of entry.children) yield* entries(child, joinRaw(path, name));
}

const sha256 = (raw: string): string => hash("sha256", Buffer.from(raw, "latin1"), "hex");

function digestOf(directory: Entry): string {
  if (directory.digest !== null) return directory.digest;
  const lines: string[] = [];
  for (const [name, child] of directory.children!)
    lines.push(`${name}\0${stateOf(child)}${child.kind === "d" ? ` ${digestOf(child)}` : ""}\0`);
  directory.digest = sha256(lines.sort().join(""));
  return directory.digest;
}
