/**
 * Removes a deleted stream: hidden with the first commit, its rows then go in small portions, a portion a tick, so that a large session does not hold up
 * the others. At the end nothing of it is left in the files: artifacts that only it had are unlinked, and the WAL, which still has the old pages, is
 * emptied. A removal that a stop interrupted goes on at the next start.
 */

import type { StreamKind } from "../contract.ts";
import type { LogError } from "../log-error.ts";
import type { SqliteArtifacts } from "./artifacts.ts";
import type { Committer, Writer } from "./committer.ts";
import type { EventStore } from "./event-store.ts";
import type { NativeStore } from "./native-store.ts";
import type { StreamStore } from "./stream-store.ts";

const PORTION = 64;

export type RemovalStores = {
  committer: Committer;
  streams: StreamStore;
  events: EventStore;
  natives: NativeStore;
  artifacts: SqliteArtifacts;
};

export class Removal implements Writer {
  readonly #stream: { no: number; kind: StreamKind };
  readonly #stores: RemovalStores;
  readonly #onDone: (failure?: LogError) => void;
  #hidden = false;
  /** Its rows are gone. */
  #purged = false;
  /** Artifacts whose files are gone, once that was done. */
  #unlinked: { gone: string[]; failure?: LogError } | undefined;

  constructor(stream: { no: number; kind: StreamKind }, stores: RemovalStores, onDone: (failure?: LogError) => void) {
    this.#stream = stream;
    this.#stores = stores;
    this.#onDone = onDone;
  }

  write(): void {
    const { streams, events, natives, artifacts } = this.#stores;
    const { no, kind } = this.#stream;
    if (!this.#hidden) return streams.markDeleted(no, kind);
    if (this.#unlinked !== undefined) return artifacts.endRemovals(this.#unlinked.gone);
    this.#purged = events.purge(no, PORTION) + natives.purge(no, PORTION) === 0;
    if (!this.#purged) return;
    artifacts.release(no);
    streams.remove(no);
  }

  settle(): void {
    if (this.#unlinked !== undefined) return this.#onDone(this.#unlinked.failure);
    this.#hidden = true;
    if (this.#purged) this.#unlinked = this.#stores.artifacts.removeFiles();
    this.#stores.committer.enlist(this, 0, false);
  }
}
