/**
 * The directory as it is now, compared with the tree of the last checkpoint: loaded when it is needed, watched while it is in use, forgotten afterwards.
 * One per directory, whoever works in it. Not here: what a checkpoint is (checkpoints.ts).
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { DirectoryWatches } from "../directory-watches.ts";
import { Repositories, Repository } from "../git/repository.ts";
import { isBelow, rawOf, textOf } from "../raw-path.ts";
import { type ContentId, contentIds, readFile } from "./content.ts";
import { Entry, type Kind, parseState } from "./entry.ts";
import type { HashName } from "./journal.ts";
import type { Look } from "./look.ts";
import { isRemote } from "./place.ts";
import { Scan } from "./scan.ts";
import type { Limits } from "./scan-context.ts";
import type { Store } from "./store.ts";
import { type Change, entries, Tree } from "./tree.ts";

export type Way = "watch" | "scan";
export type LiveTreeOptions = {
  directory: string;
  store: Store;
  limits: Limits;
  scope: "tree" | "touched";
  watch: boolean;
  /** Absolute paths that are never looked at. */
  hidden: readonly string[];
};

type Loaded = {
  tree: Tree;
  repositories: Repositories;
  watches: DirectoryWatches | null;
  idOf: ContentId;
  objects: string;
  complete: boolean;
};

export class LiveTree {
  readonly root: string;
  readonly #options: LiveTreeOptions;
  readonly #pinned = new Set<string>();
  #loaded: Loaded | null = null;

  constructor(options: LiveTreeOptions) {
    this.#options = options;
    this.root = rawOf(options.directory);
  }

  async tree(): Promise<Tree> {
    return (await this.#load()).tree;
  }

  async contentIds(): Promise<ContentId> {
    return (await this.#load()).idOf;
  }

  /** Compares. `full`: everything, whatever the watches say. */
  async look(full: boolean, pins: readonly string[]): Promise<{ look: Look; way: Way; dirty: Map<string, boolean> }> {
    const loaded = await this.#load();
    const { tree, watches } = loaded;
    await this.#secureBaseline(loaded);
    const newPins = new Set(pins.filter((pin) => !this.#pinned.has(pin) && !tree.get(pin) && this.#isOutside(tree, pin)));
    for (const pin of pins) this.#pinned.add(pin);
    const scan = this.#scan(loaded, newPins);
    if (this.#options.scope === "touched") return { look: await scan.some(this.#touched(tree)), way: "watch", dirty: new Map() };
    if (!full && loaded.complete && watches && (await watches.settle())) {
      const dirty = watches.takeDirty();
      const paths = new Map(dirty);
      for (const path of [...tree.racy, ...this.#pinned, ...tree.loose.keys()]) if (!paths.has(path)) paths.set(path, false);
      try {
        return { look: await scan.some(paths), way: "watch", dirty };
      } catch (error) {
        watches.giveBack(dirty);
        throw error;
      }
    }
    await watches?.forget();
    loaded.complete = false;
    if (tree.count === 0) for (const repository of loaded.repositories.all()) await repository.loadIndex();
    return { look: await scan.everything(), way: "scan", dirty: new Map() };
  }

  /** The look is stored: it is the tree now. */
  accept(look: Look): void {
    look.apply(this.#loaded!.tree);
    this.#loaded!.complete = true;
  }

  /** The look could not be stored: the next one has to find the same again. */
  reject(dirty: Map<string, boolean>): void {
    this.#loaded?.watches?.giveBack(dirty);
  }

  /** Content that only git has, by the path that had it. */
  async baseline(id: string, path: string): Promise<Buffer | null> {
    const { repositories, idOf } = await this.#load();
    const place = repositories.of(path);
    const content = place ? await place.repository.objects.read(id) : null;
    return content && idOf(content) === id ? content : null;
  }

  head(): { ref: string | null; oid: string | null } | null {
    return this.#loaded?.repositories.main?.head() ?? null;
  }

  get watching(): { directories: number; failure: string | null } {
    const watches = this.#loaded?.watches;
    return { directories: watches?.size ?? 0, failure: watches ? watches.failure : "The directory is not watched." };
  }

  get isLoaded(): boolean {
    return this.#loaded !== null;
  }

  /** Ends the watches and forgets the tree; the next look scans. */
  sleep(): void {
    const loaded = this.#loaded;
    this.#loaded = null;
    loaded?.watches?.close();
    loaded?.repositories.close();
  }

  /** Whether nobody would look at the path if it were not pinned. */
  #isOutside(tree: Tree, path: string): boolean {
    const parent = tree.get(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    return this.#options.scope === "touched" || parent?.kind !== "d";
  }

  #touched(tree: Tree): Map<string, boolean> {
    const paths = new Map<string, boolean>();
    for (const path of [...this.#pinned, ...tree.loose.keys(), ...tree.root.children!.keys()]) paths.set(path, false);
    return paths;
  }

  #scan(loaded: Loaded, newPins: ReadonlySet<string>): Scan {
    return new Scan({
      root: this.root,
      tree: loaded.tree,
      first: this.#options.store.checkpoints.length === 0,
      packs: this.#options.store.packs,
      idOf: loaded.idOf,
      repositories: loaded.repositories,
      nested: (path) => this.#nested(loaded, path),
      watches: loaded.watches?.failure === null ? loaded.watches : null,
      hidden: this.#hidden(),
      pinned: this.#pinned,
      newPins,
      limits: this.#options.limits,
    });
  }

  #hidden(): Set<string> {
    return new Set(
      this.#options.hidden
        .map(rawOf)
        .filter((path) => isBelow(path, this.root))
        .map((path) => path.slice(this.root.length + 1)),
    );
  }

  async #load(): Promise<Loaded> {
    if (this.#loaded) return this.#loaded;
    const { directory, store, scope } = this.#options;
    const tree = store.loadTree(applyState) ?? new Tree();
    const repositories = new Repositories();
    const main = scope === "tree" ? await Repository.at(directory) : null;
    if (main) repositories.add("", main);
    if (store.hash === null) {
      const hash: HashName = main ? `git-${main.format}` : "sha256";
      await store.note({ k: "store", format: 1, directory, hash }, false);
    }
    const watched = this.#options.watch && scope === "tree" && !isRemote(directory);
    const watches = watched ? new DirectoryWatches(this.root, join(store.folder, "cookies")) : null;
    this.#loaded = { tree, repositories, watches, idOf: contentIds(store.hash!), objects: objectsOf(main), complete: false };
    main?.objects.start();
    return this.#loaded;
  }

  /** Baselines need ids of the same kind; others are plain directories to us. */
  async #nested({ repositories }: Loaded, path: string): Promise<void> {
    const text = textOf(`${this.root}/${path}`);
    if (rawOf(text) !== `${this.root}/${path}`) return;
    const repository = await Repository.at(text);
    if (!repository || this.#options.store.hash !== `git-${repository.format}`) return;
    repositories.add(path, repository);
    await repository.loadIndex();
  }

  /** The user's repository was removed or made anew: what only it had is read from the files that still have it. */
  async #secureBaseline(loaded: Loaded): Promise<void> {
    const now = objectsOf(loaded.repositories.main);
    if (now === loaded.objects) return;
    loaded.objects = now;
    const { packs } = this.#options.store;
    for (const [path, entry] of entries(loaded.tree.root, "")) {
      if (entry.kind !== "f" || packs.has(entry.id)) continue;
      const read = readFile(this.root, path, entry.size);
      if (read && loaded.idOf(read.content) === entry.id) packs.put(entry.id, read.content);
    }
  }
}

const objectsOf = (repository: Repository | null): string => {
  if (!repository) return "";
  const stat = statSync(join(repository.gitDir, "objects"), { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}:${stat.birthtimeMs}` : "gone";
};

/** A change that is newer than the saved manifest. Its times are not known, so the next scan looks at the path. */
function applyState(tree: Tree, { path, after }: Change): void {
  if (after === null) return tree.delete(path);
  const parsed = parseState(after);
  const numbers = {
    mode: "mode" in parsed ? parsed.mode : 0,
    size: "size" in parsed ? parsed.size : 0,
    ino: 0,
    mtimeMs: 0,
    ctimeMs: 0,
  };
  const id = parsed.kind === "f" ? parsed.id : parsed.kind === "l" ? parsed.target : parsed.kind === "d" ? "" : parsed.reason;
  const old = tree.get(path);
  if (parsed.kind === "d" && old?.kind === "d") old.mode = parsed.mode;
  else if (path !== "") tree.set(path, new Entry(parsed.kind satisfies Kind, numbers, id));
  tree.touch(path);
  tree.adopt();
}
