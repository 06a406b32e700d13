/**
 * The store of one workspace: journal, packs and manifest in one folder, written by one process. It knows checkpoints and their changes, not the directory they
 * came from. The trees of all checkpoints follow from one manifest and the changes between neighbours.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CheckpointError, codeOf } from "./errors.ts";
import { changeOf, type HashName, Journal, type JournalRecord, type Spot, stored } from "./journal.ts";
import { loadManifest, saveManifest } from "./manifest-file.ts";
import { Packs } from "./packs.ts";
import type { CheckpointRecord } from "./record.ts";
import type { Change, Tree } from "./tree.ts";

export type Kept = CheckpointRecord & { spot: Spot };
export type OpenRewind = Extract<JournalRecord, { k: "rewind" }>;

/** The folder of a workspace inside the folder of all. */
export const storeOf = (stores: string, directory: string): string =>
  join(stores, createHash("sha256").update(directory, "utf8").digest("hex").slice(0, 24));

export class Store {
  readonly folder: string;
  readonly directory: string;
  readonly packs: Packs;
  /** Oldest first. */
  checkpoints: Kept[] = [];
  readonly openTurns = new Set<string>();
  hash: HashName | null = null;
  /** A rewind that was begun and not ended. */
  openRewind: OpenRewind | null = null;
  /** Set when the store was damaged and had to begin anew. */
  warning: string | null = null;
  readonly #journal: Journal;
  readonly #durable: boolean;
  #manifestAt: string | null = null;
  #saved: Tree | null = null;
  #syncing: Promise<void> = Promise.resolve();
  #syncError: unknown = null;

  private constructor(folder: string, directory: string, durable: boolean) {
    this.folder = folder;
    this.directory = directory;
    this.#durable = durable;
    this.packs = new Packs(join(folder, "packs"));
    let complete = true;
    this.#journal = Journal.open(join(folder, "journal"), (record, spot) => {
      complete = this.#replay(record, spot) && complete;
    });
    this.packs.sweep();
    if (!complete) this.warning = "Some stored contents were lost with the last power failure.";
  }

  static open(folder: string, directory: string, durable = true): Store {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    lock(folder);
    try {
      const store = new Store(folder, directory, durable);
      if (store.checkpoints.length === 0 || store.#readManifest()) return store;
      // Checkpoints without a manifest name no tree: nothing may be rewound to them.
      store.packs.close();
      store.#journal.close();
      return Store.#anew(folder, directory, durable);
    } catch (error) {
      unlock(folder);
      throw error;
    }
  }

  static #anew(folder: string, directory: string, durable: boolean): Store {
    const aside = `${folder}.damaged`;
    rmSync(aside, { recursive: true, force: true });
    renameSync(folder, aside);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    lock(folder);
    const store = new Store(folder, directory, durable);
    store.warning = `The store was damaged and is kept in ${aside}; older checkpoints are gone.`;
    return store;
  }

  /** The tree of the newest checkpoint, null when there is none. `apply` makes a change that is newer than the manifest. */
  loadTree(apply: (tree: Tree, change: Change) => void): Tree | null {
    if (this.checkpoints.length === 0) return null;
    const tree = this.#saved ?? this.#readManifest();
    this.#saved = null;
    if (!tree)
      throw new CheckpointError("content_unavailable", `The manifest in ${this.folder} is damaged. Open the workspace again.`);
    const at = this.indexOf(this.#manifestAt!);
    for (const { spot } of this.checkpoints.slice(at + 1)) for (const change of this.changesAt(spot)) apply(tree, change);
    return tree;
  }

  #readManifest(): Tree | null {
    const saved = loadManifest(join(this.folder, "manifest"));
    if (!saved || !this.checkpoints.some(({ id }) => id === saved.at)) return null;
    this.#manifestAt = saved.at;
    this.#saved = saved.tree;
    return saved.tree;
  }

  /** Contents that were put, and the record, durable together. */
  async commit(record: CheckpointRecord, changes: readonly Change[]): Promise<void> {
    const before = this.#journal.size;
    try {
      await this.#write(record, changes);
    } catch (error) {
      this.packs.rollback();
      this.#journal.cut(before);
      throw error;
    }
  }

  async #write(record: CheckpointRecord, changes: readonly Change[]): Promise<void> {
    const fresh = this.packs.written();
    const records: JournalRecord[] = [];
    if (fresh.length > 0) records.push({ k: "blobs", b: fresh.map(([id, p]) => [id, p.sha256, p.pack, p.offset, p.length]) });
    records.push({ k: "checkpoint", ...record, delta: changes.map(stored) });
    const spots = this.#journal.append(...records);
    await this.#sync(this.#durable);
    this.packs.committed();
    this.checkpoints.push({ ...record, spot: spots.at(-1)! });
  }

  /** Contents that were put without a checkpoint. */
  async keepContents(): Promise<void> {
    const fresh = this.packs.written();
    if (fresh.length === 0) return;
    this.#journal.append({ k: "blobs", b: fresh.map(([id, p]) => [id, p.sha256, p.pack, p.offset, p.length]) });
    await this.#sync(this.#durable);
    this.packs.committed();
  }

  async note(record: Extract<JournalRecord, { k: "turn" | "rewind" | "rewound" | "store" }>, durable: boolean): Promise<void> {
    this.#journal.append(record);
    this.#replay(record, { at: 0, length: 0 });
    if (durable) await this.#sync(true);
  }

  /**
   * Packs and journal at once: the journal is checked against the packs when it is read, so the order does not matter. Without `wait` the disk gets it as
   * soon as it can; that it could not is said by the next call.
   */
  async #sync(wait: boolean): Promise<void> {
    const [earlier, sync] = [this.#syncing, Promise.all([this.packs.durable(), this.#journal.sync()])];
    this.#syncing = Promise.all([earlier, sync]).then(() => {});
    this.#syncing.catch((error: unknown) => {
      this.#syncing = Promise.resolve();
      this.#syncError = error;
    });
    if (this.#syncError !== null) {
      const error = this.#syncError;
      this.#syncError = null;
      throw error;
    }
    if (wait) await this.#syncing;
  }

  /** Only a checkpoint that the disk has may be named by the manifest. */
  async saveTree(tree: Tree, at: string): Promise<void> {
    await this.#sync(true);
    saveManifest(join(this.folder, "manifest"), tree, at);
    this.#manifestAt = at;
  }

  get manifestAt(): string | null {
    return this.#manifestAt;
  }

  changesAt(spot: Spot): Change[] {
    const record = this.#journal.read(spot);
    return record.k === "checkpoint" ? record.delta.map(changeOf) : [];
  }

  indexOf(id: string): number {
    const at = this.checkpoints.findIndex((checkpoint) => checkpoint.id === id);
    if (at === -1) throw new CheckpointError("unknown_checkpoint", `There is no checkpoint ${id} (any more).`);
    return at;
  }

  /** Changes of a range of checkpoints: from the tree of index `from` to that of index `to`, `from` < `to`. */
  *changesBetween(from: number, to: number): Generator<Change> {
    for (let at = from + 1; at <= to; at++) yield* this.changesAt(this.checkpoints[at]!.spot);
  }

  /** Writes the journal anew with other checkpoints and only the contents that are left. */
  rewrite(checkpoints: readonly { record: CheckpointRecord; changes: readonly Change[] }[]): void {
    const records: JournalRecord[] = [{ k: "store", format: 1, directory: this.directory, hash: this.hash ?? "sha256" }];
    const ids = [...this.packs.ids()];
    for (let at = 0; at < ids.length; at += 10_000)
      records.push({
        k: "blobs",
        b: ids.slice(at, at + 10_000).map((id) => {
          const { sha256, pack, offset, length } = this.packs.place(id)!;
          return [id, sha256, pack, offset, length];
        }),
      });
    for (const session of this.openTurns) records.push({ k: "turn", session, open: true });
    const first = records.length;
    for (const { record, changes } of checkpoints) records.push({ k: "checkpoint", ...record, delta: changes.map(stored) });
    const spots = this.#journal.rewrite(records);
    this.checkpoints = checkpoints.map(({ record }, at) => ({ ...record, spot: spots[first + at]! }));
  }

  /** Bytes on disk. */
  bytes(): number {
    return (
      this.packs.bytes() + this.#journal.size + (statSync(join(this.folder, "manifest"), { throwIfNoEntry: false })?.size ?? 0)
    );
  }

  async close(): Promise<void> {
    await this.#syncing.catch(() => {});
    this.packs.close();
    this.#journal.close();
    unlock(this.folder);
  }

  #replay(record: JournalRecord, spot: Spot): boolean {
    switch (record.k) {
      case "store":
        this.hash = record.hash;
        return true;
      case "blobs":
        return record.b.reduce(
          (whole, [id, sha256, pack, offset, length]) => this.packs.restore(id, { sha256, pack, offset, length }) && whole,
          true,
        );
      case "checkpoint": {
        const { k: _, delta: __, ...rest } = record;
        this.checkpoints.push({ ...rest, spot });
        return true;
      }
      case "turn":
        if (record.open) this.openTurns.add(record.session);
        else this.openTurns.delete(record.session);
        return true;
      case "rewind":
        this.openRewind = record;
        return true;
      case "rewound":
        if (this.openRewind?.id === record.id) this.openRewind = null;
        return true;
    }
  }
}

/** One writer. A lock of a process that is gone does not count. */
function lock(folder: string): void {
  const path = join(folder, "lock");
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx", mode: 0o600 });
      return;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      const pid = Number(readFileSync(path, "utf8"));
      if (attempt > 0 || (pid !== process.pid && isAlive(pid)))
        throw new CheckpointError("store_locked", `The checkpoints in ${folder} are in use by process ${pid}.`);
      unlinkSync(path);
    }
  }
}

function unlock(folder: string): void {
  rmSync(join(folder, "lock"), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
