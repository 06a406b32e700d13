/**
 * Keeps the WAL short without making the log wait for the disk: has it written back in the background, and only when it has become long holds commits for
 * the moment that the rest takes, after which SQLite begins it anew. If the background does not keep up, SQLite does it by itself, in the log's thread.
 */

import { int } from "../packing/row-readers.ts";
import type { WrittenBack } from "./background-work.ts";
import type { Database } from "./driver.ts";

/** Of WAL between two times that it is written back: that fsyncs, and what changed twice meanwhile is written once. */
const PASS_BYTES = 32 * 1024 * 1024;
/** From this length on it is to begin anew. */
const LONG_BYTES = 64 * 1024 * 1024;
/** SQLite's own bound. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Pages that a commit writes for each stream, and beside them. About. */
const [PAGES_A_STREAM, PAGES_A_COMMIT] = [3, 5];
/** Of what a stream got, so much is left when it is packed. */
const PACKED = 1 / 6;

type WalOptions = {
  writeBack(): Promise<WrittenBack>;
  /** While true, commits wait. */
  hold(held: boolean): void;
};

export class Wal {
  readonly #options: WalOptions;
  readonly #pageSize: number;
  /** Since it was written back last, about. */
  #grown = 0;
  #pass: Promise<void> | null = null;
  #closed = false;

  /** Without `options` SQLite does it, in the log's thread. */
  static open(db: Database, options: WalOptions | null): Wal | null {
    const pageSize = int(db.prepare("PRAGMA page_size").get() ?? {}, "page_size");
    const most = options === null ? LONG_BYTES : MOST_BYTES;
    db.exec(`PRAGMA wal_autocheckpoint = ${Math.floor(most / pageSize)}; PRAGMA journal_size_limit = ${LONG_BYTES}`);
    return options && new Wal(pageSize, options);
  }

  private constructor(pageSize: number, options: WalOptions) {
    this.#pageSize = pageSize;
    this.#options = options;
  }

  /** After each commit: of so many streams, with so much in them. */
  committed(streams: number, bytes: number): void {
    this.#grown += (PAGES_A_COMMIT + PAGES_A_STREAM * streams) * this.#pageSize + bytes * PACKED;
    if (this.#grown < PASS_BYTES || this.#pass || this.#closed) return;
    this.#grown = 0;
    this.#pass = this.#writeBack()
      // A full disk, or a thread that died: the next pass tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#options.hold(false);
        this.#pass = null;
      });
  }

  async #writeBack(): Promise<void> {
    const { pages, written } = await this.#options.writeBack();
    if (written === pages || pages * this.#pageSize < LONG_BYTES || this.#closed) return;
    // What was committed meanwhile is little. While it is written back nothing is added, so that all of it is.
    this.#options.hold(true);
    await this.#options.writeBack();
  }

  /** Resolves when nothing is being written back. */
  async quiet(): Promise<void> {
    while (this.#pass) await this.#pass;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.quiet();
  }
}
