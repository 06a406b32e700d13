/**
 * A place in the ledger of one session, and places that were passed. Rows come with the event that was made from the last of them; those of a session's end come with
 * its last event. So a stream that is read with its ledger is the same for everyone, live or later.
 */
import type { NativeRow, Stream } from "../log/contract.ts";
import type { Dialect, LedgerReader, LedgerRow } from "../schema/dialect.ts";

const PAGE = 1_000;
/** Lines between two places that are kept. */
const SPACING = 256;
/** Streams whose places are kept. */
const MAX_STREAMS = 1_000;

/** What comes with an event: the rows since the one before, and whether its own row has reported it. */
export type EventRows = { rows: LedgerRow[]; told: boolean };

/** After the event `sequence` and the row `native`, `lines` lines were made, and nothing was pending. */
export type KnownPlace = { readonly sequence: number; readonly native: number; readonly lines: number };

const BEGINNING: KnownPlace = { sequence: 0, native: 0, lines: 0 };

export class LedgerPlace {
  readonly #reader: LedgerReader;
  readonly #stream: Stream;
  /** The last row that was taken, and whether it reported something. */
  #native: number;
  #tells = false;
  #waiting: NativeRow[] = [];

  constructor(reader: LedgerReader, stream: Stream, native: number) {
    this.#reader = reader;
    this.#stream = stream;
    this.#native = native;
  }

  get native(): number {
    return this.#native;
  }

  /** True: another reader may go on from here. */
  get clean(): boolean {
    return this.#reader.clean;
  }

  /** Reads the rows that these events need. */
  async load({ natives, types }: { natives: readonly (number | null)[]; types: readonly string[] }): Promise<void> {
    const wanted = types.includes("session.ended") ? Infinity : Math.max(0, ...natives.map((native) => native ?? 0));
    for (let last = this.#waiting.at(-1)?.native_seq ?? this.#native; last < wanted; ) {
      const { messages } = await this.#stream.readNative({ after: last, limit: Math.min(PAGE, wanted - last) });
      if (messages.length === 0) return;
      this.#waiting.push(...messages);
      last = messages.at(-1)?.native_seq ?? wanted;
    }
  }

  /** For events in order, after `load`. */
  take(native: number | null, type: string): EventRows {
    const upTo = type === "session.ended" ? this.#lastDecision() : (native ?? 0);
    const count = this.#waiting.findIndex(({ native_seq }) => native_seq > upTo);
    const rows = this.#waiting.splice(0, count === -1 ? this.#waiting.length : count).map((row) => this.#read(row));
    return {
      rows: rows.filter(({ frames }) => frames.length > 0),
      told: native !== null && native === this.#native && this.#tells,
    };
  }

  #read({ native_seq, dir, t_ms, body }: NativeRow): LedgerRow {
    const frames = this.#reader.frames({ dir, text: body.toString("utf8") });
    this.#native = native_seq;
    this.#tells = frames.length > 0;
    return { native_seq, time_ms: this.#stream.created_at + t_ms, frames };
  }

  /** The daemon decides that a session ends: what stands behind its last decision came too late. */
  #lastDecision(): number {
    return this.#waiting.findLast(({ dir }) => dir === "daemon")?.native_seq ?? 0;
  }
}

const known = new WeakMap<Dialect, Map<string, KnownPlace[]>>();

/** The nearest known place before an event. */
export function placeBefore(dialect: Dialect, stream: Stream, sequence: number): KnownPlace {
  return placesOf(dialect, stream).findLast((place) => place.sequence < sequence) ?? BEGINNING;
}

export function keepPlace(dialect: Dialect, stream: Stream, place: KnownPlace): void {
  const places = placesOf(dialect, stream);
  const { sequence, lines } = places.at(-1) ?? BEGINNING;
  if (place.sequence > sequence && place.lines >= lines + SPACING) places.push(place);
}

function placesOf(dialect: Dialect, { kind, id, created_at }: Stream): KnownPlace[] {
  const streams = known.get(dialect) ?? new Map<string, KnownPlace[]>();
  known.set(dialect, streams);
  // A session may be removed and its id used again.
  const key = `${kind}/${id}/${created_at}`;
  const places = streams.get(key) ?? [];
  streams.delete(key);
  streams.set(key, places);
  if (streams.size > MAX_STREAMS)
    for (const oldest of streams.keys()) {
      streams.delete(oldest);
      break;
    }
  return places;
}
