/**
 * Reads everything that is stored once, little by little, while the log is in use. It looks for damage, which the stores report; it changes nothing. Each
 * turn is short, and there is a pause between two.
 */
import { setTimeout } from "node:timers/promises";
import { LogError } from "../log-error.ts";
import type { SqliteDocuments } from "./documents.ts";
import type { EventStore } from "./event-store.ts";
import type { NativeStore } from "./native-store.ts";
import type { StreamStore } from "./stream-store.ts";

type Stores = { streams: StreamStore; events: EventStore; natives: NativeStore; documents: SqliteDocuments };

const PAUSE_MS = 20;
/** Of one turn: some milliseconds. */
const TURN_BYTES = 2 * 1024 * 1024;

export class Scrub {
  readonly #stores: Stores;
  readonly #stopped = new AbortController();

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  start(): void {
    this.#run().catch(() => undefined);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #run(): Promise<void> {
    for (const row of this.#stores.streams.all()) {
      await this.#walk(0, (after) => this.#stores.events.check(row, row.last_sequence, after, TURN_BYTES));
      await this.#walk(0, (after) => this.#stores.natives.check(row, row.last_native, after, TURN_BYTES));
    }
    await this.#walk({ kind: "", id: "" }, (after) => this.#stores.documents.check(after));
  }

  /** `step` returns how far it has come, null at the end. The rest of what is damaged once is not looked at. */
  async #walk<Place>(first: Place, step: (after: Place) => Place | null): Promise<void> {
    for (let at: Place | null = first; at !== null; ) {
      await setTimeout(PAUSE_MS, undefined, { ref: false, signal: this.#stopped.signal });
      try {
        at = step(at);
      } catch (error) {
        if (error instanceof LogError && error.code === "corrupt_chunk") return;
        throw error;
      }
    }
  }
}
