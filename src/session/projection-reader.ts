/**
 * Reads the state of a session from its stream: the newest snapshot, and the events after it. Snapshots that are missing (an imported session, one of an
 * older version) are stored on the way, so that this is done once.
 */
import { setImmediate } from "node:timers/promises";
import type { Stream } from "../log/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { EventType } from "../schema/event-data.ts";
import { SessionProjection } from "../schema/projection/session-projection.ts";
import type { SessionSnapshot } from "../schema/snapshot.ts";
import { SNAPSHOT_EVERY, type Snapshots, SnapshotTaker } from "./snapshots.ts";

const PAGE_BYTES = 1_048_576;
/** The events that change what stays when nothing is open. A test holds this list against the projection. */
export const FACT_TYPES: readonly EventType[] = [
  "session.started",
  "session.ended",
  "session.status",
  "session.updated",
  "message.queued",
  "config.changed",
  "usage.updated",
  "turn.started",
  "turn.ended",
  "error",
  "item.removed",
];

export type ReadAt = {
  /** The state after this event. Default: the last committed one. */
  at?: number;
  /** Goes on from here instead of from a snapshot, and changes it. */
  from?: SessionProjection;
  /** It is known that nothing was open after this event: of the events up to it only facts are read. */
  quietUntil?: number;
};

/** Page by page, others get their turn in between. */
export async function readProjection(stream: Stream, snapshots: Snapshots, options: ReadAt = {}): Promise<SessionProjection> {
  const at = Math.min(options.at ?? stream.lastCommitted, stream.lastCommitted);
  const quiet = Math.min(options.quietUntil ?? 0, at);
  const snapshot = options.from ? undefined : await snapshots.floor(stream.id, at);
  const projection = options.from ?? new SessionProjection(snapshot);
  if (projection.sequence < quiet) {
    await apply(stream, projection, quiet, { types: FACT_TYPES });
    projection.forgetOpen(quiet);
  }
  const store = (taken: SessionSnapshot): void => snapshots.put(stream.id, taken);
  const taker = new SnapshotTaker(store, options.from?.sequence ?? snapshot?.sequence);
  await apply(stream, projection, at, { taker });
  return projection;
}

type Applying = { types?: readonly EventType[]; taker?: SnapshotTaker };

async function apply(stream: Stream, projection: SessionProjection, until: number, { types, taker }: Applying): Promise<void> {
  let after = projection.sequence;
  while (after < until) {
    const page = await stream.read({ after, before: until + 1, limit: 1_000, maxBytes: PAGE_BYTES, ...(types ? { types } : {}) });
    for (const json of page.events) {
      projection.apply(JSON.parse(json) as UniversalEvent);
      if (taker && projection.sequence % SNAPSHOT_EVERY === 0) taker.take(projection);
    }
    if (!page.has_more) return;
    after = page.next;
    await setImmediate();
  }
}
