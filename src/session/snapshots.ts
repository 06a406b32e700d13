/**
 * Stored snapshots: so that no reader of a session's state folds more than a bounded tail. One is due after every SNAPSHOT_EVERY events; while so much
 * text is open that copying it would cost more than the events themselves, after a multiple of that, or when that text has doubled. The bound: a tail has at most
 * SNAPSHOT_EVERY × (1 + open characters / OPEN_CHARS) events.
 */
import type { Documents, StreamWriter } from "../log/contract.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { SessionSnapshot } from "../schema/snapshot.ts";
import { SNAPSHOT_VERSION } from "../schema/snapshot-version.ts";

export const SNAPSHOT_EVERY = 4_096;
/** Open text of this size is worth a snapshot after SNAPSHOT_EVERY events; twice of it after twice as many. */
const OPEN_CHARS = 262_144;
export const SNAPSHOT = "snapshot";

/** Takes snapshots of one session. */
type SnapshotStore = (snapshot: SessionSnapshot) => void;

/** Where snapshots are kept. They go with their session's stream. */
export interface Snapshots {
  /** The newest one of the session at or before this event. */
  floor(sessionId: string, sequence: number): Promise<SessionSnapshot | undefined>;
  /** Of events that are committed. */
  put(sessionId: string, snapshot: SessionSnapshot): void;
}

/** In documents named `<session>/<sequence>`: deleting the stream deletes them. */
export function documentSnapshots(documents: Documents): Snapshots {
  const name = (sessionId: string, sequence: number): string => `${sessionId}/${sequence}`;
  return {
    async floor(sessionId, sequence) {
      for (let at = sequence - (sequence % SNAPSHOT_EVERY); at > 0; at -= SNAPSHOT_EVERY) {
        const snapshot = read(await documents.get(SNAPSHOT, name(sessionId, at)));
        if (snapshot) return snapshot;
      }
      return undefined;
    },
    put: (sessionId, snapshot) => documents.put(SNAPSHOT, name(sessionId, snapshot.sequence), JSON.stringify(snapshot)),
  };
}

/** Of events that are being written: it is committed with them, and refused with them when another has the session. */
export const snapshotsOf =
  ({ documents }: Pick<StreamWriter, "documents">): SnapshotStore =>
  (snapshot) =>
    documents.put(SNAPSHOT, String(snapshot.sequence), JSON.stringify(snapshot), { apart: true });

/** One of another version, or one that cannot be read, is as good as none: the events before it say the same. */
function read(body: string | undefined): SessionSnapshot | undefined {
  if (body === undefined) return undefined;
  try {
    const snapshot = JSON.parse(body) as SessionSnapshot;
    return snapshot.version === SNAPSHOT_VERSION ? snapshot : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the snapshots of one session while its projection passes the points at which they are due. */
export class SnapshotTaker {
  readonly #store: SnapshotStore;
  #last: number;
  /** Open text that the last one holds. */
  #lastChars = 0;

  /** `last`: the sequence of the newest one that is stored. */
  constructor(store: SnapshotStore, last = 0) {
    this.#store = store;
    this.#last = last;
  }

  /** Call it after every event whose sequence is a multiple of SNAPSHOT_EVERY. */
  take(projection: SessionProjection): void {
    const [chars, events] = [openChars(projection), projection.sequence - this.#last];
    const due = chars <= (events / SNAPSHOT_EVERY) * OPEN_CHARS || chars >= 2 * this.#lastChars;
    if (projection.ended || !due) return;
    try {
      this.#store(projection.toJSON());
      this.#last = projection.sequence;
      this.#lastChars = chars;
    } catch {
      // A log that takes no more will be read without it.
    }
  }
}

function openChars(projection: SessionProjection): number {
  let chars = 0;
  for (const { content } of projection.items.items())
    for (const part of content) for (const value of Object.values(part)) if (typeof value === "string") chars += value.length;
  return chars;
}
