/**
 * The state of sessions for readers that come again and again: the newest one of a few sessions is kept, and only the events since then are applied. For any
 * other point of a session it is read from the nearest snapshot.
 */
import type { Stream } from "../log/contract.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { SessionSnapshot } from "../schema/snapshot.ts";
import { readProjection } from "./projection-reader.ts";
import type { Snapshots } from "./snapshots.ts";

const MAX_KEPT = 16;

type Kept = { stream: Stream; state: Promise<SessionProjection> };

export class StateReader {
  readonly snapshots: Snapshots;
  /** In order of use. */
  readonly #kept = new Map<string, Kept>();

  constructor(snapshots: Snapshots) {
    this.snapshots = snapshots;
  }

  /** The state after this committed event; default: the last one. */
  async at(stream: Stream, sequence = stream.lastCommitted): Promise<SessionSnapshot> {
    const kept = this.#kept.get(stream.id);
    this.#kept.delete(stream.id);
    if (sequence < stream.lastCommitted) {
      if (kept) this.#kept.set(stream.id, kept);
      return (await readProjection(stream, this.snapshots, { at: sequence })).toJSON();
    }
    return this.#newest(stream, kept?.stream === stream ? kept.state : undefined);
  }

  async #newest(stream: Stream, known: Promise<SessionProjection> | undefined): Promise<SessionSnapshot> {
    // One after the other: each applies what came after the one before.
    const read = known
      ? known.then((from) => readProjection(stream, this.snapshots, { from }))
      : readProjection(stream, this.snapshots);
    let snapshot: SessionSnapshot | undefined;
    const state = read.then((projection) => {
      snapshot = projection.toJSON();
      return projection;
    });
    this.#kept.set(stream.id, { stream, state });
    for (const id of this.#kept.keys()) if (this.#kept.size > MAX_KEPT) this.#kept.delete(id);
    try {
      const projection = await state;
      return snapshot ?? projection.toJSON();
    } catch (error) {
      this.#kept.delete(stream.id);
      throw error;
    }
  }
}
