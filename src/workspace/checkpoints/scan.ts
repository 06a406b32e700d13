/**
 * Looks at the directory and says which paths are not as the manifest has them: at everything, or at some paths. It changes neither the directory nor the
 * manifest; contents that are new are put into the packs. Directories are watched before they are read, so nothing falls between.
 */
import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import type { Repository } from "../git/repository.ts";
import { isBelow, isPlain, joinRaw, parentOf, textOf, toFs } from "../raw-path.ts";
import { Entry, type SkipReason } from "./entry.ts";
import { CheckpointError } from "./errors.ts";
import { Look } from "./look.ts";
import { type ChangedFile, FileReader } from "./read-files.ts";
import type { ScanContext } from "./scan-context.ts";
import { Slices } from "./slices.ts";

/** How far to look into a directory: not at all, where its times differ, or everywhere. */
type Depth = "none" | "changed" | "all";
type Directory = { path: string; stat: Stats; old: Entry | undefined; entry: Entry; depth: Depth };

const MAYBE = { throwIfNoEntry: false } as const;

export class Scan {
  readonly #context: ScanContext;
  readonly #look: Look;
  readonly #slices = new Slices();
  readonly #reader: FileReader;
  readonly #directories: Directory[] = [];
  #unknown: Directory[] = [];
  readonly #files: ChangedFile[] = [];
  #count: number;
  #device = 0;

  constructor(context: ScanContext) {
    this.#context = context;
    this.#look = new Look(context.first ? context.tree : null);
    this.#reader = new FileReader(context, this.#look, this.#slices);
    this.#count = context.tree.count;
  }

  async everything(): Promise<Look> {
    const { tree } = this.#context;
    const stat = this.#root();
    this.#directories.push({ path: "", stat, old: tree.root, entry: tree.root, depth: "changed" });
    await this.#run();
    for (const path of tree.loose.keys()) this.#path(path, "none");
    for (const path of this.#context.pinned) if (!tree.loose.has(path) && !tree.get(path)) this.#path(path, "none");
    return this.#finish();
  }

  /** `true`: an entry of this name came or went. */
  async some(paths: ReadonlyMap<string, boolean>): Promise<Look> {
    this.#root();
    for (const [path, renamed] of paths) this.#path(path, renamed ? "all" : "none");
    await this.#run();
    return this.#finish();
  }

  #root(): Stats {
    const stat = lstatSync(toFs(this.#context.root), { throwIfNoEntry: false });
    if (!stat?.isDirectory())
      throw new CheckpointError(
        "directory_missing",
        `${textOf(this.#context.root)} is not there any more, or is not a directory.`,
      );
    this.#device = stat.dev;
    const { root } = this.#context.tree;
    if ((stat.mode & 0o7777) !== root.mode) {
      const entry = new Entry("d", stat, "", root.children!);
      Object.assign(entry, { mtime: root.mtime, ctime: root.ctime, racy: true });
      this.#look.found("", root, entry);
    }
    return stat;
  }

  /** One path by itself. It counts only when its directory is in the tree, or when it is pinned. */
  #path(path: string, depth: Depth): void {
    if (path === "" || this.#isHidden(path)) return;
    const { tree, pinned } = this.#context;
    const parent = tree.get(parentOf(path));
    if (parent?.kind !== "d" && !pinned.has(path) && !tree.loose.has(path)) return;
    this.#entry(path, this.#stat(path), tree.get(path), depth);
  }

  #isHidden(path: string): boolean {
    if (path === ".git" || path.endsWith("/.git") || path.includes("/.git/") || path.startsWith(".git/")) return true;
    for (const hidden of this.#context.hidden) if (isBelow(path, hidden)) return true;
    return false;
  }

  async #run(): Promise<void> {
    while (this.#directories.length > 0 || this.#unknown.length > 0) {
      const next = this.#directories.pop();
      if (next) await this.#directory(next);
      else await this.#decide(this.#unknown.splice(0));
    }
  }

  /** Ignored directories may not be any more; what was once in the tree stays in it. */
  async #lookIntoExcluded(): Promise<void> {
    this.#look.ignoresChanged = false;
    for (const [path, entry] of this.#context.tree.excluded()) {
      const stat = this.#stat(path);
      if (entry.id === "ignored" && stat?.isDirectory())
        this.#unknown.push({ path, stat, old: entry, entry: new Entry("d", stat), depth: "all" });
    }
    await this.#run();
  }

  async #directory({ path, stat, old, entry, depth }: Directory): Promise<void> {
    const { watches, repositories } = this.#context;
    if (depth === "all" && old?.kind === "d") watches?.remove(path);
    watches?.add(path);
    const now = Date.now();
    const trusted = depth === "changed" && old?.children && !old.racy && old.mtime === stat.mtimeMs && old.ctime === stat.ctimeMs;
    let names: readonly string[];
    if (trusted) names = [...old.children!.keys()];
    else {
      const listed = this.#list(path);
      if (listed === null) return this.#leaveOut(path, stat, old, "unreadable");
      if (path !== "" && listed.includes(".git") && !repositories.has(path)) await this.#context.nested(path);
      if (listed.includes(".gitattributes")) this.#attributes(joinRaw(path, ".gitattributes"));
      const seen = new Set(listed);
      for (const [name, child] of old?.children ?? []) if (!seen.has(name)) this.#look.gone(joinRaw(path, name), child, watches);
      names = listed;
      this.#look.refresh(entry, stat, now);
    }
    const base = path === "" ? `${this.#context.root}/` : `${this.#context.root}/${path}/`;
    // Asked once for all names: a path of plain characters needs no bytes.
    const plain = isPlain(base) && isPlain(names.join(""));
    const proofs = this.#context.first && old === undefined ? this.#proofs(path) : null;
    for (const name of names) {
      if (name === ".git") continue;
      const stat = this.#statAt(plain ? base + name : toFs(base + name));
      const id = proofs && stat?.isFile() ? proofs(name, stat) : null;
      if (id !== null) {
        this.#countOne();
        this.#context.tree.addFile(path, entry, name, new Entry("f", stat!, id).readAt(now));
        continue;
      }
      const known = old?.children?.get(name);
      // The hot path of a scan: no string is made for what did not change.
      if (stat === undefined || known === undefined || !isSame(known, stat)) this.#seen(joinRaw(path, name), stat, known, depth);
      if (this.#slices.over) await this.#slices.pause();
    }
  }

  /** What git proves of a directory that nobody has seen before. */
  #proofs(directory: string): ReturnType<Repository["proofsIn"]> {
    const { repositories, hidden } = this.#context;
    if (hidden.size > 0) return null;
    const place = repositories.of(joinRaw(directory, "file"));
    return place?.repository.proofsIn(parentOf(place.path)) ?? null;
  }

  #attributes(path: string): void {
    const place = this.#context.repositories.of(path);
    place?.repository.attributesIn(parentOf(place.path));
  }

  #seen(path: string, stat: Stats | undefined, known: Entry | undefined, depth: Depth): void {
    const { hidden, tree } = this.#context;
    if (hidden.size > 0 && hidden.has(path)) return;
    this.#entry(path, stat, known ?? tree.loose.get(path), depth);
  }

  #entry(path: string, stat: Stats | undefined, old: Entry | undefined, depth: Depth): void {
    if (!stat) {
      if (old) this.#look.gone(path, old, this.#context.watches);
      return;
    }
    if (!old) this.#countOne();
    if (stat.isDirectory()) this.#subdirectory(path, stat, old, depth);
    else if (old && isSame(old, stat)) return;
    else if (stat.isFile()) this.#regular(path, stat, old);
    else if (stat.isSymbolicLink()) this.#link(path, stat, old);
    else this.#look.found(path, old, new Entry("s", stat, "special" satisfies SkipReason), this.#context.watches);
  }

  #countOne(): void {
    if (++this.#count > this.#context.limits.files)
      throw new CheckpointError(
        "too_many_files",
        `The directory has more than ${this.#context.limits.files.toLocaleString("en")} files.`,
      );
  }

  /** What git proves needs not be read. */
  #regular(path: string, stat: Stats, old: Entry | undefined): void {
    const place = this.#context.repositories.of(path);
    const proved = place?.repository.proved(place.path, stat);
    if (proved) this.#look.found(path, old, new Entry("f", stat, proved).readAt(Date.now()), this.#context.watches);
    else this.#files.push({ path, stat, old });
  }

  #subdirectory(path: string, stat: Stats, old: Entry | undefined, depth: Depth): void {
    if (old?.kind === "d") {
      let entry = old;
      if ((stat.mode & 0o7777) !== old.mode) {
        entry = new Entry("d", stat, "", old.children!);
        // Its times are those of the last time its names were read.
        Object.assign(entry, { mtime: old.mtime, ctime: old.ctime, racy: true });
        this.#look.found(path, old, entry);
      }
      if (depth !== "none") this.#directories.push({ path, stat, old, entry, depth });
      return;
    }
    if (old?.kind === "x" && !(depth === "all" && old.ino !== stat.ino)) return;
    this.#unknown.push({ path, stat, old, entry: new Entry("d", stat), depth: "all" });
  }

  /** Which new directories belong to the tree. */
  async #decide(directories: Directory[]): Promise<void> {
    const { repositories } = this.#context;
    const asked = new Map<string, { within: string; path: string }[]>();
    const ignored = new Set<string>();
    for (const { path } of directories) {
      const place = repositories.of(path);
      if (!place) continue;
      if (place.repository.holdsTracked(place.path)) continue;
      const paths = asked.get(place.repository.directory);
      if (paths) paths.push({ within: place.path, path });
      else asked.set(place.repository.directory, [{ within: place.path, path }]);
    }
    for (const repository of repositories.all()) {
      const paths = asked.get(repository.directory);
      if (!paths) continue;
      const answer = await repository.ignored(paths.map(({ within }) => within));
      for (const { within, path } of paths) if (answer.has(within)) ignored.add(path);
    }
    for (const directory of directories) {
      const { path, stat, old, entry } = directory;
      if (ignored.has(path)) this.#leaveOut(path, stat, old, "ignored");
      else if (stat.dev !== this.#device) this.#leaveOut(path, stat, old, "mount");
      else {
        this.#look.found(path, old, entry, this.#context.watches);
        this.#directories.push(directory);
      }
    }
  }

  #leaveOut(path: string, stat: Stats, old: Entry | undefined, reason: SkipReason): void {
    this.#context.watches?.remove(path);
    if (old?.kind === "x" && old.id === reason) return;
    this.#look.found(path, old, new Entry("x", stat, reason), this.#context.watches);
  }

  #link(path: string, stat: Stats, old: Entry | undefined): void {
    try {
      const entry = new Entry("l", stat, readlinkSync(toFs(`${this.#context.root}/${path}`), "latin1")).readAt(Date.now());
      this.#look.found(path, old, entry, this.#context.watches);
    } catch {
      if (old) this.#look.gone(path, old, this.#context.watches);
    }
  }

  async #finish(): Promise<Look> {
    await this.#reader.read(this.#files.splice(0));
    if (this.#look.ignoresChanged) await this.#lookIntoExcluded();
    await this.#reader.read(this.#files.splice(0));
    return this.#look;
  }

  #stat(path: string): Stats | undefined {
    return this.#statAt(toFs(`${this.#context.root}/${path}`));
  }

  #statAt(full: string | Buffer): Stats | undefined {
    try {
      return lstatSync(full, MAYBE);
    } catch {
      // A directory on the way is a file now, may not be searched, or the path is too long.
      return undefined;
    }
  }

  #list(path: string): string[] | null {
    try {
      return readdirSync(toFs(path === "" ? this.#context.root : `${this.#context.root}/${path}`), "latin1");
    } catch {
      return null;
    }
  }
}

/** A file or link that is as the manifest has it. */
function isSame(entry: Entry, stat: Stats): boolean {
  if (entry.racy || !entry.isUnchanged(stat)) return false;
  if (entry.kind === "f") return stat.isFile();
  return entry.kind === "l" ? stat.isSymbolicLink() : entry.kind === "s" && !stat.isSymbolicLink() && !stat.isDirectory();
}
