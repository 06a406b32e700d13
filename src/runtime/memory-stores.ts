/** Journal and blobs in memory: for tests, replays and forks that nobody keeps. */
import { sha256 } from "./digest.ts";
import type { BlobStore, Ids, JournalStore } from "./ports.ts";
import type { JournalRecord } from "./records.ts";

export class MemoryJournal implements JournalStore {
  readonly records: JournalRecord[];

  constructor(records: readonly JournalRecord[] = []) {
    this.records = [...records];
  }

  append(record: JournalRecord): void {
    this.records.push(record);
  }

  written(): void {}

  durable(): Promise<void> {
    return Promise.resolve();
  }

  read(): Promise<readonly JournalRecord[]> {
    return Promise.resolve([...this.records]);
  }
}

export class MemoryBlobs implements BlobStore {
  readonly #blobs = new Map<string, Buffer>();

  put(bytes: Buffer): Promise<string> {
    const digest = sha256(bytes);
    this.#blobs.set(digest, Buffer.from(bytes));
    return Promise.resolve(digest);
  }

  get(digest: string): Promise<Buffer | null> {
    return Promise.resolve(this.#blobs.get(digest) ?? null);
  }
}

/** Ids that count. */
export class CountingIds implements Ids {
  #last: number;

  constructor(last = 0) {
    this.#last = last;
  }

  next(kind: "turn" | "message" | "task"): string {
    this.#last += 1;
    return `${kind}_${this.#last}`;
  }
}
