/**
 * Contents of files in append-only pack files of 64 MiB, so that cleaning up rewrites one pack at a time and never needs twice the disk. A pack is nothing but
 * contents one after another; where each lies is in the journal. What is read is compared with its sha256 first.
 */
import { createHash } from "node:crypto";
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readSync, statSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CheckpointError } from "./errors.ts";
import { syncFile } from "./journal.ts";

const PACK_BYTES = 64 * 1024 * 1024;
/** Contents are collected up to this before they are written. */
const BUFFER_BYTES = 4 * 1024 * 1024;

export type Place = { sha256: string; pack: number; offset: number; length: number };

export class Packs {
  readonly #directory: string;
  readonly #places = new Map<string, Place>();
  readonly #readers = new Map<number, number>();
  #pack = 0;
  #fd: number | null = null;
  #size = 0;
  #buffer: Buffer[] = [];
  #buffered = 0;
  /** Written since the last commit, to be made durable and put into the journal, or taken back. */
  #fresh: string[] = [];
  #start: { pack: number; size: number } | null = null;
  #unsynced = new Set<number>();

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(directory)) this.#pack = Math.max(this.#pack, Number.parseInt(name, 10) || 0);
  }

  has(id: string): boolean {
    return this.#places.has(id);
  }

  /** From the journal. A content that is not wholly in its pack (power was lost) is not there. */
  restore(id: string, place: Place): boolean {
    if (this.sizeOf(place.pack) < place.offset + place.length) return false;
    this.#places.set(id, place);
    return true;
  }

  place(id: string): Place | undefined {
    return this.#places.get(id);
  }

  ids(): IterableIterator<string> {
    return this.#places.keys();
  }

  get packs(): number[] {
    return readdirSync(this.#directory).map((name) => Number.parseInt(name, 10));
  }

  get current(): number {
    return this.#pack;
  }

  sizeOf(pack: number): number {
    if (pack === this.#pack && this.#fd !== null) return this.#size;
    return statSync(this.#path(pack), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Removes packs that hold nothing the journal knows: a crash came between two steps of cleaning up. */
  sweep(): void {
    const used = new Set([...this.#places.values()].map(({ pack }) => pack));
    for (const pack of this.packs) if (!used.has(pack)) this.remove(pack);
  }

  /** Bytes on disk of all packs. */
  bytes(): number {
    return this.packs.reduce((sum, pack) => sum + this.sizeOf(pack), 0);
  }

  put(id: string, content: Buffer, move = false): void {
    if (!move && this.#places.has(id)) return;
    this.#open(content.length);
    const sha256 = createHash("sha256").update(content).digest("hex");
    this.#places.set(id, { sha256, pack: this.#pack, offset: this.#size, length: content.length });
    this.#fresh.push(id);
    this.#buffer.push(content);
    this.#buffered += content.length;
    this.#size += content.length;
    if (this.#buffered >= BUFFER_BYTES) this.#flush();
  }

  /** What was put since the last commit, written out; the caller puts it into the journal, calls `durable`, then `committed`. */
  written(): [string, Place][] {
    this.#flush();
    return this.#fresh.map((id) => [id, this.#places.get(id)!]);
  }

  /** Through a handle of its own: packs may be closed or removed meanwhile. */
  async durable(): Promise<void> {
    const packs = [...this.#unsynced];
    this.#unsynced.clear();
    await Promise.all(packs.map((pack) => syncFile(this.#path(pack))));
  }

  /** Bytes put since the last commit. */
  get freshBytes(): number {
    return this.#fresh.reduce((sum, id) => sum + (this.#places.get(id)?.length ?? 0), 0);
  }

  /** What comes next goes to a new pack. */
  nextPack(): void {
    this.#flush();
    this.#closeWriter();
    this.#openPack(this.#pack + 1);
  }

  committed(): void {
    this.#fresh = [];
    this.#start = null;
  }

  /** Takes back everything that was put since the last commit. */
  rollback(): void {
    for (const id of this.#fresh) this.#places.delete(id);
    this.#fresh = [];
    this.#buffer = [];
    this.#buffered = 0;
    const start = this.#start;
    this.#start = null;
    if (!start) return;
    for (let pack = start.pack + 1; pack <= this.#pack; pack++) this.remove(pack);
    this.#pack = start.pack;
    this.#closeWriter();
    if (start.pack > 0) {
      const fd = openSync(this.#path(start.pack), "a");
      ftruncateSync(fd, start.size);
      closeSync(fd);
    }
  }

  read(id: string): Buffer {
    const place = this.#places.get(id);
    if (!place) throw new CheckpointError("content_unavailable", `The content ${id} is not stored.`);
    this.#flush();
    let fd = this.#readers.get(place.pack);
    if (fd === undefined) {
      fd = openSync(this.#path(place.pack), "r");
      this.#readers.set(place.pack, fd);
    }
    const content = Buffer.allocUnsafe(place.length);
    let at = 0;
    while (at < place.length) {
      const count = readSync(fd, content, at, place.length - at, place.offset + at);
      if (count === 0) break;
      at += count;
    }
    if (at < place.length || createHash("sha256").update(content).digest("hex") !== place.sha256)
      throw new CheckpointError("content_unavailable", `The content ${id} in pack ${place.pack} is damaged.`);
    return content;
  }

  forget(id: string): void {
    this.#places.delete(id);
  }

  remove(pack: number): void {
    const reader = this.#readers.get(pack);
    if (reader !== undefined) closeSync(reader);
    this.#readers.delete(pack);
    if (pack === this.#pack) this.#closeWriter();
    this.#unsynced.delete(pack);
    try {
      unlinkSync(this.#path(pack));
    } catch {
      // It was never written.
    }
  }

  close(): void {
    this.#closeWriter();
    for (const fd of this.#readers.values()) closeSync(fd);
    this.#readers.clear();
  }

  #open(length: number): void {
    if (this.#fd === null && this.#pack > 0 && this.sizeOf(this.#pack) + length <= PACK_BYTES) this.#openPack(this.#pack);
    if (this.#fd === null || (this.#size > 0 && this.#size + length > PACK_BYTES)) {
      this.#flush();
      this.#start ??= { pack: this.#pack, size: this.#pack === 0 ? 0 : this.sizeOf(this.#pack) };
      this.#closeWriter();
      this.#openPack(this.#pack + 1);
    }
    this.#start ??= { pack: this.#pack, size: this.#size };
  }

  #openPack(pack: number): void {
    this.#fd = openSync(this.#path(pack), "a", 0o600);
    this.#size = statSync(this.#path(pack)).size;
    this.#pack = pack;
  }

  #flush(): void {
    if (this.#buffered === 0 || this.#fd === null) return;
    const all = this.#buffer.length === 1 ? this.#buffer[0]! : Buffer.concat(this.#buffer);
    for (let at = 0; at < all.length; ) at += writeSync(this.#fd, all, at);
    this.#buffer = [];
    this.#buffered = 0;
    this.#unsynced.add(this.#pack);
  }

  #closeWriter(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #path(pack: number): string {
    return join(this.#directory, `${String(pack).padStart(6, "0")}.pack`);
  }
}
