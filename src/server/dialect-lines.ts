/**
 * The readers of one client's dialect, one for each stream it follows. A reader that begins in the middle of a stream is shown the events that its first
 * lines depend on: the beginning of the stream, and the last items before the place.
 */
import type { Stream, StreamKind } from "../log/contract.ts";
import type { EventRedactor } from "../redaction/event-redactor.ts";
import type { Dialect, DialectEvent, DialectReader, LedgerReader } from "../schema/dialect.ts";
import { keepPlace, LedgerPlace, placeBefore } from "./ledger-place.ts";

/** Events that say what an item is. */
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
/** Events that are read at once before a place in the middle. */
const LEDGER_PAGE = 1_000;
/** Deltas to look back for: arguments of a call that came in pieces. */
const LOOK_BACK_DELTAS = 500;
/** Streams whose readers are kept; the oldest is given up, and shown its past again when it is needed. */
const MAX_READERS = 500;

/** The streams that a run of events can be of. */
export type StreamName = { kind: StreamKind; id: string };
export type OpenStream = (name: StreamName) => Promise<Stream | undefined>;

type Place = { reader: DialectReader; next: number; ledger: LedgerPlace | null };

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

  /** True when the reader of this stream stands at this event. */
  isAt({ kind, id }: StreamName, first: number): boolean {
    const place = this.#readers.get(`${kind}/${id}`);
    // A new reader stands at the beginning, unless there is a ledger to be found first.
    if (place === undefined) return first === 1 && (kind !== "session" || this.dialect.ledgerOf === undefined);
    return place.next === first;
  }

  /** True when, on top of that, nothing must be read before its lines. */
  stands(name: StreamName, first: number): boolean {
    return this.isAt(name, first) && this.#place(name).ledger === null;
  }

  /** For events in the order of the stream, from the place where the reader stands. */
  lines(name: StreamName, sequence: number, type: string, event: DialectEvent): string[] {
    const place = this.#place(name);
    place.next = sequence + 1;
    const lines = place.reader.lines(event);
    const types = this.#types;
    const chosen = types === null ? lines : lines.filter((line) => types.has(line.type) || (!line.ofLedger && types.has(type)));
    return chosen.map(({ json }) => json);
  }

  /** The ledger this stream is read with; null where it is read without. */
  ledger(name: StreamName): LedgerPlace | null {
    return this.#place(name).ledger;
  }

  /** After an event: whoever begins near here later need not begin at the start. */
  passed(name: StreamName, stream: Stream): void {
    const { reader, ledger, next } = this.#place(name);
    if (ledger?.clean && typeof reader.place === "number")
      keepPlace(this.dialect, stream, { sequence: next - 1, native: ledger.native, lines: reader.place });
  }

  /** Puts a new reader of the stream before its event `first`. */
  async begin(name: StreamName, first: number, stream: Stream | undefined, redact: EventRedactor | null): Promise<void> {
    this.#readers.delete(`${name.kind}/${name.id}`);
    // A row is verbatim or nothing: who may not see secrets reads events.
    const ledger = stream === undefined || redact !== null ? undefined : await this.#ledgerOf(stream);
    if (stream !== undefined && ledger !== undefined) return this.#beginWithLedger(name, first, stream, ledger);
    const place = this.#place(name);
    place.next = first;
    if (first === 1 || !stream) return;
    const show = async (events: readonly string[]): Promise<void> => {
      for (const json of events) place.reader.remember({ json: redact ? await redact.once(json) : json });
    };
    const begun = await stream.read({ types: ["message.queued", "turn.started"], before: first, limit: 1 });
    // Nothing was asked yet: whatever happened may still have to be reported.
    const all = begun.sequences.length === 0 && !begun.has_more;
    let last = 0;
    for (let after = 0; after < first - 1 && (all || after < HEAD); ) {
      const page = await stream.read({ after, before: first, limit: HEAD });
      await show(page.events);
      if (page.sequences.length === 0) break;
      last = after = page.sequences.at(-1) ?? first;
    }
    const facts = await stream.read({ before: first, reverse: true, limit: LOOK_BACK, types: FACTS });
    const pieces = await stream.read({ before: first, reverse: true, limit: LOOK_BACK_DELTAS, types: ["item.delta"] });
    const back = [facts, pieces].flatMap(({ events, sequences }) =>
      events.flatMap((json, index) => ((sequences[index] ?? 0) > last ? [{ json, sequence: sequences[index] ?? 0 }] : [])),
    );
    await show(back.sort((a, b) => a.sequence - b.sequence).map(({ json }) => json));
  }

  async #ledgerOf(stream: Stream): Promise<LedgerReader | undefined> {
    if (stream.kind !== "session" || this.dialect.ledgerOf === undefined) return undefined;
    const { agent } = JSON.parse((await stream.row()).state) as { agent?: unknown };
    return typeof agent === "string" ? this.dialect.ledgerOf(agent) : undefined;
  }

  /** From the nearest place that is known, or from the beginning: what was reported until here decides the numbers. */
  async #beginWithLedger(name: StreamName, first: number, stream: Stream, reader: LedgerReader): Promise<void> {
    const from = placeBefore(this.dialect, stream, first);
    const ledger = new LedgerPlace(reader, stream, from.native);
    const opened = this.dialect.open({ ...name, version: this.#version, from: from.lines });
    const place = this.#keep(`${name.kind}/${name.id}`, { reader: opened, next: from.sequence + 1, ledger });
    while (place.next < first) {
      const page = await stream.read({ after: place.next - 1, before: first, limit: LEDGER_PAGE });
      if (page.sequences.length === 0) return;
      await ledger.load(page);
      for (const [index, json] of page.events.entries()) {
        opened.remember({ json, ...ledger.take(page.natives[index] ?? null, page.types[index] ?? "") });
        place.next += 1;
        this.passed(name, stream);
      }
    }
  }

  #place({ kind, id }: StreamName): Place {
    const key = `${kind}/${id}`;
    return (
      this.#readers.get(key) ??
      this.#keep(key, { reader: this.dialect.open({ kind, id, version: this.#version }), next: 1, ledger: null })
    );
  }

  #keep(key: string, place: Place): Place {
    this.#readers.set(key, place);
    if (this.#readers.size > MAX_READERS)
      for (const oldest of this.#readers.keys()) {
        this.#readers.delete(oldest);
        break;
      }
    return place;
  }
}
