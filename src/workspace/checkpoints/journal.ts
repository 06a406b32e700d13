/**
 * The append-only record of a store: one JSON document a line, each with a checksum. A line that was cut off or damaged ends the journal: it and all after it are
 * taken away at the next start. Big lists of changes are not kept in memory but read again where they lie.
 */
import { createHash } from "node:crypto";
import { closeSync, fdatasync, fsyncSync, ftruncateSync, openSync, readFileSync, readSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CheckpointRecord } from "./record.ts";
import type { Author, Change } from "./tree.ts";

/** [path, before, after, by] */
export type StoredChange = [string, string | null, string | null, Author];

export type JournalRecord =
  | { k: "store"; format: 1; directory: string; hash: HashName }
  /** Where contents lie: [id, sha256, pack, offset, length]. */
  | { k: "blobs"; b: [string, string, number, number, number][] }
  | ({ k: "checkpoint"; delta: StoredChange[] } & CheckpointRecord)
  /** A turn of a session began or ended: distinguishes changes of agents from those of people. */
  | { k: "turn"; session: string; open: boolean }
  /** Durable before the first file is touched: [path, from, to]. */
  | { k: "rewind"; id: string; target: string; undo: string; plan: [string, string | null, string | null][] }
  | { k: "rewound"; id: string };
export type HashName = "git-sha1" | "git-sha256" | "sha256";
export type Spot = { at: number; length: number };

const sum = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex").slice(0, 16);
const line = (record: JournalRecord): string => {
  const json = JSON.stringify(record);
  return `${sum(json)} ${json}\n`;
};

export class Journal {
  readonly #path: string;
  #fd: number;
  #size: number;

  constructor(path: string, size: number) {
    this.#path = path;
    this.#fd = openSync(path, "a+", 0o600);
    this.#size = size;
  }

  /** Reads all whole records, cuts off the rest, and opens the journal for more. */
  static open(path: string, each: (record: JournalRecord, spot: Spot) => void): Journal {
    let file: Buffer = Buffer.alloc(0);
    try {
      file = readFileSync(path);
    } catch {
      // A new store.
    }
    let at = 0;
    for (;;) {
      const end = file.indexOf(10, at);
      if (end === -1) break;
      const record = parse(file.toString("utf8", at, end));
      if (!record) break;
      each(record, { at, length: end + 1 - at });
      at = end + 1;
    }
    const journal = new Journal(path, at);
    if (at < file.length) ftruncateSync(journal.#fd, at);
    return journal;
  }

  get size(): number {
    return this.#size;
  }

  append(...records: JournalRecord[]): Spot[] {
    const spots: Spot[] = [];
    const texts = records.map(line);
    const bytes = Buffer.from(texts.join(""), "utf8");
    let at = this.#size;
    for (const text of texts) {
      const length = Buffer.byteLength(text);
      spots.push({ at, length });
      at += length;
    }
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
    } catch (error) {
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
    this.#size = at;
    return spots;
  }

  sync(): Promise<void> {
    return syncFile(this.#path);
  }

  /** Takes back the last appends. */
  cut(size: number): void {
    ftruncateSync(this.#fd, size);
    this.#size = size;
  }

  read(spot: Spot): JournalRecord {
    const bytes = Buffer.alloc(spot.length - 1);
    readSync(this.#fd, bytes, 0, bytes.length, spot.at);
    const record = parse(bytes.toString("utf8"));
    if (!record) throw new Error(`${this.#path} is damaged at ${spot.at}`);
    return record;
  }

  /** Replaces the whole journal, all or nothing. */
  rewrite(records: Iterable<JournalRecord>): Spot[] {
    const fresh = `${this.#path}.new`;
    const fd = openSync(fresh, "w", 0o600);
    const spots: Spot[] = [];
    let at = 0;
    for (const record of records) {
      const bytes = Buffer.from(line(record), "utf8");
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
      spots.push({ at, length: bytes.length });
      at += bytes.length;
    }
    fsyncSync(fd);
    closeSync(fd);
    renameSync(fresh, this.#path);
    syncDirectory(dirname(this.#path));
    closeSync(this.#fd);
    this.#fd = openSync(this.#path, "a+", 0o600);
    this.#size = at;
    return spots;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Waits until the disk has what was written to the file. */
export function syncFile(path: string): Promise<void> {
  const fd = openSync(path, "r+");
  return new Promise((resolve, reject) =>
    fdatasync(fd, (error) => {
      closeSync(fd);
      if (error) reject(error);
      else resolve();
    }),
  );
}

/** A rename is durable only when its directory is. */
export function syncDirectory(path: string): void {
  const fd = openSync(join(path, "."), "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function parse(text: string): JournalRecord | null {
  const json = text.slice(17);
  if (text[16] !== " " || sum(json) !== text.slice(0, 16)) return null;
  return JSON.parse(json) as JournalRecord;
}

export const stored = ({ path, before, after, by }: Change): StoredChange => [path, before, after, by];
export const changeOf = ([path, before, after, by]: StoredChange): Change => ({ path, before, after, by });
