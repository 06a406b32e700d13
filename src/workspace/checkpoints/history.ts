/**
 * The history of one workspace: the directory as it is now (LiveTree) and what is stored of it (Store), and the one way from the first to the second, `take`.
 * Callers do one thing after another. Not here: queueing, rewinds.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { textOf } from "../raw-path.ts";
import { named } from "./changes.ts";
import { contentOf } from "./entry.ts";
import { CheckpointError } from "./errors.ts";
import { LiveTree, type Way } from "./live-tree.ts";
import type { Look } from "./look.ts";
import { type CheckpointOptions, DEFAULT_LIMITS, LISTED_FILES, QUOTA_BYTES, type Taken } from "./options.ts";
import type { CheckpointKind, CheckpointRecord } from "./record.ts";
import { dropCheckpoints, oldestFirst } from "./retention.ts";
import { Store } from "./store.ts";
import type { Author, Change } from "./tree.ts";

/** The manifest is saved anew after so many changes, so that loading stays quick. */
const CHANGES_UNSAVED = 5_000;

export type Details = { kind: CheckpointKind; label: string; session_id: string | null; tool_name: string | null; auto: boolean };
export type Freed = { dropped: number; freed_bytes: number };

export class History {
  readonly directory: string;
  store: Store;
  live: LiveTree;
  /** Why only touched files are stored; null: the whole tree is. */
  refusal: CheckpointError | null;
  readonly #options: CheckpointOptions;
  #unsaved = 0;

  constructor(directory: string, store: Store, refusal: CheckpointError | null, options: CheckpointOptions) {
    this.directory = directory;
    this.store = store;
    this.refusal = refusal;
    this.#options = options;
    this.live = this.#liveTree();
  }

  /** Whoever works in the directory now: an agent within a turn, else a person. */
  readonly author = (): Author => (this.store.openTurns.size > 0 ? "a" : "u");

  get quota(): number {
    return this.#options.quota_bytes ?? QUOTA_BYTES;
  }

  async take(details: Details, by: (path: string) => Author, full: boolean, pins: readonly string[]): Promise<Taken> {
    const began = performance.now();
    const { packs } = this.store;
    let seen: Awaited<ReturnType<LiveTree["look"]>>;
    try {
      seen = await this.live.look(full, pins);
    } catch (error) {
      packs.rollback();
      // The first look goes straight into the tree, which now names contents that were taken back.
      if (this.store.checkpoints.length === 0) this.live.sleep();
      throw error;
    }
    const looked = performance.now();
    const last = this.store.checkpoints.at(-1);
    if (last && seen.look.size === 0) {
      this.live.accept(seen.look);
      await this.store.keepContents();
      return taken(last, [], seen.way, false, began, looked);
    }
    const changes = last ? seen.look.changes(by) : [];
    try {
      const record = await this.#commit(details, seen.look, changes, last === undefined);
      return taken(record, changes, seen.way, true, began, looked);
    } catch (error) {
      packs.rollback();
      this.live.reject(seen.dirty);
      // The tree may have been changed already: it is loaded again.
      this.live.sleep();
      throw error;
    }
  }

  async content(id: string, path: string): Promise<Buffer> {
    if (this.store.packs.has(id)) return this.store.packs.read(id);
    const content = await this.live.baseline(id, path);
    if (!content) throw new CheckpointError("content_unavailable", `What ${textOf(path)} was is not stored any more.`);
    return content;
  }

  /** What a file was before, if only git has it: from now on we have it, whatever the user's `gc` does. */
  async keepPreimages(changes: readonly Change[]): Promise<string[]> {
    const { packs } = this.store;
    const missing = new Map<string, string>();
    for (const { path, before, after } of changes) {
      const id = contentOf(before);
      if (id !== null && id !== contentOf(after) && !packs.has(id)) missing.set(id, path);
    }
    const lost: string[] = [];
    await Promise.all(
      [...missing].map(async ([id, path]) => {
        const content = await this.live.baseline(id, path);
        if (content) packs.put(id, content);
        else lost.push(id);
      }),
    );
    return lost;
  }

  async drop(ids: ReadonlySet<string>): Promise<Freed> {
    const before = this.store.bytes();
    const last = this.store.checkpoints.at(-1)?.id;
    const gone = new Set([...ids].filter((id) => id !== last));
    if (gone.size === 0) return { dropped: 0, freed_bytes: 0 };
    const tree = await this.live.tree();
    if (this.store.manifestAt !== last) await this.save();
    await dropCheckpoints(this.store, tree, gone);
    return { dropped: gone.size, freed_bytes: before - this.store.bytes() };
  }

  async shrink(most: number): Promise<Freed> {
    const sum = { dropped: 0, freed_bytes: 0 };
    for (const ids of oldestFirst(this.store)) {
      if (this.store.bytes() <= most) break;
      const { dropped, freed_bytes } = await this.drop(ids());
      sum.dropped += dropped;
      sum.freed_bytes += freed_bytes;
    }
    return sum;
  }

  async save(): Promise<void> {
    const last = this.store.checkpoints.at(-1);
    if (last) await this.store.saveTree(await this.live.tree(), last.id);
    this.#unsaved = 0;
  }

  /** Saves what is loaded and forgets it; the next look scans. */
  async sleep(): Promise<void> {
    if (this.live.isLoaded) await this.save();
    this.live.sleep();
  }

  /** A directory that was too large from the beginning: from now on only touched files, in a store of their own. */
  becomesTouched(error: unknown): boolean {
    if (!(error instanceof CheckpointError) || (error.code !== "too_many_files" && error.code !== "too_many_bytes")) return false;
    if (this.store.checkpoints.length > 0) return false;
    const folder = this.store.folder;
    this.live.sleep();
    void this.store.close();
    rmSync(folder, { recursive: true, force: true });
    this.refusal = error;
    this.store = Store.open(`${folder}-touched`, this.directory, this.#options.durable ?? false);
    this.live = this.#liveTree();
    return true;
  }

  async #commit(details: Details, look: Look, changes: readonly Change[], first: boolean): Promise<CheckpointRecord> {
    const lost = await this.keepPreimages(changes);
    const { quota } = this;
    const fresh = this.store.packs.freshBytes;
    if (fresh > quota)
      throw new CheckpointError(
        "quota_exceeded",
        `This checkpoint needs ${fresh} bytes; the quota is ${quota}. Raise it, or ignore the large files in git.`,
      );
    this.live.accept(look);
    const tree = await this.live.tree();
    const record: CheckpointRecord = {
      id: newId(),
      created_at: new Date().toISOString(),
      ...details,
      digest: tree.digest(),
      counts: count(tree.count, changes),
      head: this.live.head(),
      scope: this.refusal ? "touched" : "tree",
      lost,
    };
    if (first) await this.store.saveTree(tree, record.id);
    await this.store.commit(record, changes);
    this.#unsaved += changes.length;
    if (this.#unsaved > CHANGES_UNSAVED) await this.save();
    if (fresh > 0) await this.shrink(quota);
    return record;
  }

  #liveTree(): LiveTree {
    return new LiveTree({
      directory: this.directory,
      store: this.store,
      scope: this.refusal ? "touched" : "tree",
      limits: { ...DEFAULT_LIMITS, ...this.#options.limits },
      watch: this.#options.watch ?? true,
      hidden: [dirname(this.store.folder), ...(this.#options.hidden ?? [])],
    });
  }
}

/** A UUID that sorts by time (version 7). */
export function newId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function count(entries: number, changes: readonly Change[]): CheckpointRecord["counts"] {
  const counts = { entries, added: 0, modified: 0, deleted: 0, not_stored: 0 };
  for (const change of changes) {
    const kind = named(change)?.change;
    if (change.after?.startsWith("s")) counts.not_stored += 1;
    if (kind === undefined) continue;
    counts[kind === "added" || kind === "deleted" ? kind : "modified"] += 1;
  }
  return counts;
}

function taken(
  record: CheckpointRecord,
  changes: readonly Change[],
  way: Way,
  created: boolean,
  began: number,
  looked: number,
): Taken {
  const files: string[] = [];
  for (const change of changes) {
    const path = files.length < LISTED_FILES ? named(change)?.path : undefined;
    if (path !== undefined) files.push(path);
  }
  const { id, digest, counts, created_at, label, auto, tool_name } = record;
  const now = performance.now();
  const none = { ...counts, added: 0, modified: 0, deleted: 0, not_stored: 0 };
  const timings = { way, look_ms: looked - began, store_ms: now - looked, total_ms: now - began };
  return { id, created, digest, counts: created ? counts : none, files, created_at, label, auto, tool_name, timings };
}
