/** Reads the files that a scan found changed, names their contents, and puts into the packs what nobody has yet. */
import { lstatSync, type Stats } from "node:fs";
import { toFs } from "../raw-path.ts";
import { readFile } from "./content.ts";
import { Entry, type SkipReason } from "./entry.ts";
import { CheckpointError } from "./errors.ts";
import type { Look } from "./look.ts";
import type { ScanContext } from "./scan-context.ts";
import type { Slices } from "./slices.ts";

export type ChangedFile = { path: string; stat: Stats; old: Entry | undefined };

/** The index is read again for this many files, or for large ones: then it may save copies. */
const MANY_FILES = 200;
const UNSEEN = "x unseen";

export class FileReader {
  readonly #context: ScanContext;
  readonly #look: Look;
  readonly #slices: Slices;
  #copied = 0;

  constructor(context: ScanContext, look: Look, slices: Slices) {
    this.#context = context;
    this.#look = look;
    this.#slices = slices;
  }

  async read(files: readonly ChangedFile[]): Promise<void> {
    const { repositories, limits } = this.#context;
    const large = files.filter(({ stat }) => stat.size > limits.ignored_bytes);
    if (files.length > MANY_FILES || large.length > 0) for (const repository of repositories.all()) await repository.loadIndex();
    const ignored = await this.#largeIgnored(large);
    for (const file of files) {
      this.#file(file, ignored);
      if (this.#slices.over) await this.#slices.pause();
    }
  }

  #file({ path, stat, old }: ChangedFile, largeIgnored: ReadonlySet<string>): void {
    const { packs, idOf, limits, pinned, watches } = this.#context;
    const place = this.#context.repositories.of(path);
    const tracked = place?.repository.isTracked(place.path) ?? false;
    const skip = (reason: SkipReason, now = stat) => this.#look.found(path, old, new Entry("s", now, reason), watches);
    const most = tracked || pinned.has(path) ? limits.file_bytes : Math.min(limits.file_bytes, limits.untracked_bytes);
    if (stat.size > most) return skip("too_large");
    if (largeIgnored.has(path) && !pinned.has(path)) return skip("ignored_large");
    const now = Date.now();
    const read = readFile(this.#context.root, path, most);
    if (!read) {
      const still = statOf(`${this.#context.root}/${path}`);
      // It was looked at a while ago, and may have grown.
      if (still?.isFile()) skip(still.size > most ? "too_large" : "unreadable", still);
      else if (!still && old) this.#look.gone(path, old, watches);
      return;
    }
    const entry = new Entry("f", read.stat, idOf(read.content)).readAt(now);
    entry.size = read.content.length;
    if (read.changing) entry.racy = true;
    if (!packs.has(entry.id) && !place?.repository.holds(place.path, entry.id)) {
      this.#copied += read.content.length;
      if (this.#copied > limits.copied_bytes)
        throw new CheckpointError(
          "too_many_bytes",
          `More than ${limits.copied_bytes.toLocaleString("en")} bytes would have to be copied.`,
        );
      packs.put(entry.id, read.content);
    }
    this.#look.found(path, old, entry, watches, this.#context.newPins.has(path) ? UNSEEN : undefined);
  }

  /** Of files between the two limits, those that git ignores. */
  async #largeIgnored(files: readonly ChangedFile[]): Promise<Set<string>> {
    const ignored = new Set<string>();
    for (const repository of this.#context.repositories.all()) {
      const places = files
        .map(({ path }) => ({ path, place: this.#context.repositories.of(path) }))
        .filter(({ place }) => place?.repository === repository && !repository.isTracked(place.path));
      const answer = await repository.ignored(places.map(({ place }) => place!.path));
      for (const { path, place } of places) if (answer.has(place!.path)) ignored.add(path);
    }
    return ignored;
  }
}

function statOf(full: string): Stats | undefined {
  try {
    return lstatSync(toFs(full), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
