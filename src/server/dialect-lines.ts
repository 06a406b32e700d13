/**
 * The readers of one client's dialect, one for each stream it follows. A reader that begins in the middle of a stream is shown the events that its first
 * lines depend on: the beginning of the stream, and the last items before the place.
 */
import type { Stream, StreamKind } from "../log/contract.ts";
import type { EventRedactor } from "../redaction/event-redactor.ts";
import type { Dialect, DialectEvent, DialectLine, DialectReader } from "../schema/dialect.ts";

/** Events that say what an item is; deltas say nothing that these do not. */
const FACTS = [
  "item.started",
  "item.updated",
  "item.completed",
  "permission.requested",
  "permission.resolved",
  "turn.started",
  "error",
];
/** The beginning of a stream: who the agent is, what it was asked first. */
const HEAD = 64;
/** Facts to look back for: far more than any agent leaves open at once. */
const LOOK_BACK = 500;
/** Streams whose readers are kept; the oldest is given up, and shown its past again when it is needed. */
const MAX_READERS = 500;

/** The streams that a run of events can be of. */
export type StreamName = { kind: StreamKind; id: string };
export type OpenStream = (name: StreamName) => Promise<Stream | undefined>;

type Place = { reader: DialectReader; next: number };

export class DialectLines {
  readonly dialect: Dialect;
  readonly #version: number | undefined;
  /** Null: all lines. */
  readonly #types: ReadonlySet<string> | null;
  readonly #readers = new Map<string, Place>();

  constructor(dialect: Dialect, options: { version?: number | undefined; types: ReadonlySet<string> | null }) {
    this.dialect = dialect;
    this.#version = options.version;
    this.#types = options.types;
  }

  /** True when the reader of this stream stands at this event, and nothing must be read before its lines. */
  stands({ kind, id }: StreamName, first: number): boolean {
    return first === 1 || this.#readers.get(`${kind}/${id}`)?.next === first;
  }

  /** For events in the order of the stream, from the place where the reader stands. */
  lines(name: StreamName, sequence: number, type: string, event: DialectEvent): string[] {
    const place = this.#place(name);
    place.next = sequence + 1;
    const chosen = (line: DialectLine): boolean => this.#types === null || this.#types.has(line.type) || this.#types.has(type);
    return place.reader
      .lines(event)
      .filter(chosen)
      .map(({ json }) => json);
  }

  /** Puts a new reader of the stream before its event `first`. */
  async begin(name: StreamName, first: number, stream: Stream | undefined, redact: EventRedactor | null): Promise<void> {
    this.#readers.delete(`${name.kind}/${name.id}`);
    const place = this.#place(name);
    place.next = first;
    if (first === 1 || !stream) return;
    const show = async (events: readonly string[]): Promise<void> => {
      for (const json of events) place.reader.remember({ json: redact ? await redact.once(json) : json });
    };
    const begun = await stream.read({ types: ["message.queued", "turn.started"], before: first, limit: 1 });
    // Nothing was asked yet: whatever happened may still have to be told.
    const all = begun.sequences.length === 0 && !begun.has_more;
    let last = 0;
    for (let after = 0; after < first - 1 && (all || after < HEAD); ) {
      const page = await stream.read({ after, before: first, limit: HEAD });
      await show(page.events);
      if (page.sequences.length === 0) break;
      last = after = page.sequences.at(-1) ?? first;
    }
    const back = await stream.read({ before: first, reverse: true, limit: LOOK_BACK, types: FACTS });
    await show(back.events.filter((_, index) => (back.sequences[index] ?? 0) > last).reverse());
  }

  #place({ kind, id }: StreamName): Place {
    const key = `${kind}/${id}`;
    const known = this.#readers.get(key);
    if (known) return known;
    const place = { reader: this.dialect.open({ kind, id, version: this.#version }), next: 1 };
    this.#readers.set(key, place);
    if (this.#readers.size > MAX_READERS) for (const oldest of this.#readers.keys()) return this.#without(oldest, place);
    return place;
  }

  #without(key: string, place: Place): Place {
    this.#readers.delete(key);
    return place;
  }
}
