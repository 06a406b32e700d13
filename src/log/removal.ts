/**
 * Removes a deleted stream: hidden with the first commit, its rows then go in small portions, a portion a tick, so that a large session does not hold up
 * the others. A removal that a stop interrupted goes on at the next start.
 */
import type { Committer, Writer } from "./committer.ts";
import type { EventStore } from "./event-store.ts";
import type { NativeStore } from "./native-store.ts";
import type { StreamStore } from "./stream-store.ts";

const PORTION = 64;

type Stores = { committer: Committer; streams: StreamStore; events: EventStore; natives: NativeStore };

export class Removal implements Writer {
  readonly #no: number;
  readonly #stores: Stores;
  #hidden = false;
  #done = false;

  constructor(no: number, stores: Stores) {
    this.#no = no;
    this.#stores = stores;
  }

  write(): void {
    const { streams, events, natives } = this.#stores;
    if (!this.#hidden) {
      streams.markDeleted(this.#no);
      return;
    }
    this.#done = events.purge(this.#no, PORTION) + natives.purge(this.#no, PORTION) === 0;
    if (this.#done) streams.remove(this.#no);
  }

  settle(): void {
    this.#hidden = true;
    if (!this.#done) this.#stores.committer.enlist(this, 0, false);
  }
}
