/** One stream in memory: what is committed, and what waits for the end of the tick. */
import { eventJson } from "../../schema/envelope.ts";
import type {
  Batch,
  CoverageRow,
  EventEntry,
  NativeEntry,
  NativePage,
  NativeRow,
  ReadOptions,
  ReadPage,
  Stream,
  StreamKind,
  StreamRow,
  SubscribeOptions,
  Subscription,
} from "../contract.ts";
import { deleted, fenced, gap, malformed } from "../entry-errors.ts";
import { LogError } from "../log-error.ts";
import { type Pump, Tail } from "../tail.ts";
import { MemoryBatch } from "./batch.ts";

const PAGE_BYTES = 8 * 1024 * 1024;
/** Events that one read with `types` looks at before it returns what it has. */
const SCAN_EVENTS = 100_000;

/** An agent that invents types must not grow the counts without bound. */
const MAX_TYPES = 2_000;
const OTHER_TYPES = "(other)";

type StoredEvent = { json: string; type: string; native: number | null };

/** What a stream needs of the log that holds it. */
export interface StreamHost {
  readonly epoch: string;
  readonly pump: Pump;
  /** Throws when the log takes nothing more. */
  admit(): void;
  /** Commits the stream at the end of this tick. */
  enlist(stream: MemoryStream): void;
  report(error: unknown): void;
}

let streams = 0;

export class MemoryStream implements Stream {
  readonly kind: StreamKind;
  readonly id: string;
  readonly no = ++streams;
  readonly created_at: number;
  readonly tail: Tail<Batch>;
  readonly #log: StreamHost;
  readonly #events: StoredEvent[] = [];
  readonly #natives: NativeRow[] = [];
  #committed: { events: number; natives: number; state: string; openSince: number | null } | undefined;
  #updatedAt: number;
  #writtenAt: number | undefined;
  #deleted = false;
  #writerEpoch = 0;
  newestState: string;
  newestOpenSince: number | null = null;

  constructor(log: StreamHost, { kind, id, created_at }: { kind: StreamKind; id: string; created_at: number }, state: string) {
    this.#log = log;
    this.kind = kind;
    this.id = id;
    this.created_at = created_at;
    this.#updatedAt = created_at;
    this.newestState = state;
    const source = {
      end: () => this.lastCommitted,
      next: (after: number) => this.#batch(after, Math.min(this.lastCommitted, after + 1000)),
      from: (batch: Batch) => batch.first,
      to: (batch: Batch) => batch.last,
    };
    this.tail = new Tail<Batch>(source, log.pump, (error) => log.report(error));
  }

  get isCommitted(): boolean {
    return this.#committed !== undefined;
  }
  get last(): number {
    return this.#events.length;
  }
  get lastNative(): number {
    return this.#natives.length;
  }
  get lastCommitted(): number {
    return this.#committed?.events ?? 0;
  }
  get updatedAt(): number {
    return this.#updatedAt;
  }
  get committedState(): string {
    return this.#committed?.state ?? "";
  }
  get committedOpenSince(): number | null {
    return this.#committed?.openSince ?? null;
  }

  async row(): Promise<StreamRow> {
    if (this.#deleted || !this.#committed) throw deleted(this);
    const { kind, id, created_at } = this;
    const { events, natives, state, openSince } = this.#committed;
    const counts = { updated_at: this.#updatedAt, last_sequence: events, last_native: natives };
    return { kind, id, created_at, ...counts, open_since: openSince, state };
  }

  async read(options: ReadOptions = {}): Promise<ReadPage> {
    const last = this.lastCommitted;
    const after = Math.max(0, options.after ?? 0);
    const before = Math.min(options.before ?? Number.POSITIVE_INFINITY, last + 1);
    const reverse = options.reverse === true;
    const types = options.types && new Set(options.types);
    const page: ReadPage = {
      events: [],
      sequences: [],
      types: [],
      natives: [],
      next: reverse ? before : after,
      last,
      has_more: false,
    };
    let bytes = 0;
    const step = reverse ? -1 : 1;
    for (let sequence = page.next + step, seen = 0; sequence > after && sequence < before; sequence += step, seen++) {
      const event = this.#events[sequence - 1];
      if (!event || seen >= SCAN_EVENTS || page.events.length >= Math.max(1, options.limit ?? 1000)) break;
      const wanted = types?.has(event.type) !== false;
      if (wanted) bytes += event.json.length;
      if (wanted && page.events.length > 0 && bytes > (options.maxBytes ?? PAGE_BYTES)) break;
      page.next = sequence;
      if (!wanted) continue;
      page.events.push(event.json);
      page.sequences.push(sequence);
      page.types.push(event.type);
      page.natives.push(event.native);
    }
    page.has_more = reverse ? page.next > after + 1 : page.next < before - 1;
    return page;
  }

  async readRaw(nativeSeqs: Iterable<number>): Promise<Map<number, NativeRow>> {
    const found = new Map<number, NativeRow>();
    for (const seq of nativeSeqs) {
      const row = seq <= (this.#committed?.natives ?? 0) ? this.#natives[seq - 1] : undefined;
      if (row) found.set(seq, row);
    }
    return found;
  }

  async readNative(options: { after?: number; limit?: number; maxBytes?: number } = {}): Promise<NativePage> {
    const end = this.#committed?.natives ?? 0;
    const after = options.after ?? 0;
    const messages: NativeRow[] = [];
    let bytes = 0;
    for (const row of this.#natives.slice(after, end)) {
      bytes += row.body.length;
      if (messages.length >= Math.max(1, options.limit ?? 1000)) break;
      if (messages.length > 0 && bytes > (options.maxBytes ?? PAGE_BYTES)) break;
      messages.push(row);
    }
    const next = after + messages.length;
    return { messages, next, has_more: next < end };
  }

  async coverage(): Promise<CoverageRow[]> {
    const counts = new Map<string, CoverageRow>();
    const types = new Set<string>();
    for (const { type: name, disposition } of this.#natives.slice(0, this.#committed?.natives ?? 0)) {
      const type = types.has(name) || types.size < MAX_TYPES ? name : OTHER_TYPES;
      types.add(type);
      const row = counts.get(`${type} ${disposition}`) ?? { type, disposition, count: 0 };
      row.count++;
      counts.set(`${type} ${disposition}`, row);
    }
    return [...counts.values()].sort((a, b) => (`${a.type} ${a.disposition}` < `${b.type} ${b.disposition}` ? -1 : 1));
  }

  async assertCursor({ sequence, epoch }: { sequence: number; epoch: string }): Promise<void> {
    if (epoch === this.#log.epoch && sequence <= this.lastCommitted) return;
    throw new LogError("log_changed", "The cursor comes from another log. Read again from after=0.");
  }

  subscribe(options: SubscribeOptions<Batch> & { after?: number }): Subscription {
    if (this.#deleted) throw deleted(this);
    return this.tail.subscribe(Math.max(0, options.after ?? 0), options);
  }

  // ── for its writer and its log ──

  takeWriter(epoch: number): void {
    this.#writerEpoch = epoch;
  }

  admit(epoch: number): void {
    if (epoch !== this.#writerEpoch) throw fenced(this);
    if (this.#deleted) throw deleted(this);
    this.#log.admit();
  }

  append({ text, sequence, type, native, written_at }: EventEntry): void {
    if (sequence !== this.last + 1) throw gap(this, sequence);
    this.#writtenAt = written_at;
    const json = eventJson(text, sequence);
    if (json.includes("\n") || !/^[^\s*]+$/.test(type)) throw malformed(this, sequence);
    this.#events.push({ json, type, native });
    this.#log.enlist(this);
  }

  appendNative({ dir, t_ms, type, disposition, raw }: NativeEntry): number {
    const native_seq = this.lastNative + 1;
    this.#natives.push({ native_seq, dir, t_ms, type, disposition, body: Buffer.from(raw) });
    this.#log.enlist(this);
    return native_seq;
  }

  /** What became visible; undefined when there are no new events. */
  commit(): MemoryBatch | undefined {
    const from = this.lastCommitted;
    const { newestState: state, newestOpenSince: openSince } = this;
    this.#committed = { events: this.last, natives: this.lastNative, state, openSince };
    if (from === this.last) return undefined;
    this.#updatedAt = this.#writtenAt ?? Date.now();
    return this.#batch(from, this.last);
  }

  delete(): void {
    this.#deleted = true;
    this.tail.end("deleted");
  }

  #batch(after: number, to: number): MemoryBatch {
    const events = this.#events.slice(after, to);
    return new MemoryBatch(this, after + 1, {
      events: events.map(({ json }) => json),
      types: events.map(({ type }) => type),
      natives: events.map(({ native }) => native),
    });
  }
}
