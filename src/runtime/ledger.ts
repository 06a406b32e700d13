/** The one way to change the state: a record is stamped, goes into the journal and is applied. */
import { isUtf8 } from "node:buffer";
import type { Clock, JournalStore, ReceivedBlock } from "./ports.ts";
import type { JournalRecord, RecordDraft } from "./records.ts";
import { RuntimeState } from "./state.ts";

export class Ledger {
  readonly state: RuntimeState;
  readonly #store: JournalStore;
  readonly #clock: Clock;
  /** Something that could not be had again is not on disk yet. */
  #mustSync = false;

  private constructor(store: JournalStore, clock: Clock, state: RuntimeState) {
    this.#store = store;
    this.#clock = clock;
    this.state = state;
  }

  /** Reads the journal and folds it. */
  static async open(store: JournalStore, clock: Clock): Promise<Ledger> {
    return new Ledger(store, clock, RuntimeState.from(await store.read()));
  }

  get now(): number {
    return this.#clock.now();
  }

  /** Bytes of an answer, in the order in which they came, between the records. */
  received(request: { readonly n: number; readonly attempt: number }, blocks: readonly ReceivedBlock[]): void {
    if (this.#store.received !== undefined) return this.#store.received(blocks);
    const [first] = blocks;
    const bytes = first !== undefined && blocks.length === 1 ? first.bytes : Buffer.concat(blocks.map((block) => block.bytes));
    this.append({ type: "received", ...request, ...encoded(bytes) });
  }

  append(draft: RecordDraft): JournalRecord {
    const record: JournalRecord = { ...draft, time: this.#clock.now() };
    this.#store.append(record);
    this.state.apply(record);
    if (!this.#repeatable(record)) this.#mustSync = true;
    return record;
  }

  /** Before a request: everything so far survives a crash of this process, and what could not be had again a crash of the machine. */
  beforeRequest(): Promise<void> | void {
    return this.#mustSync ? this.durable() : this.#store.written();
  }

  /** Everything so far survives a crash of the machine. */
  durable(): Promise<void> {
    this.#mustSync = false;
    return this.#store.durable();
  }

  /** The model can be asked again, and what changes nothing can be done again. */
  #repeatable(record: JournalRecord): boolean {
    switch (record.type) {
      case "request.sent":
      case "received":
      case "response.failed":
      case "response.ended":
      case "call.accepted":
        return true;
      case "call.approved":
        return record.by === "policy";
      case "call.started":
      case "call.finished":
        return this.state.calls.get(record.call)?.effect === "none";
      default:
        return false;
    }
  }
}

/** Text where the bytes are text, so that a journal can be read. */
function encoded(bytes: Buffer): { encoding: "utf8" | "base64"; bytes: string } {
  if (isUtf8(bytes)) return { encoding: "utf8", bytes: bytes.toString("utf8") };
  return { encoding: "base64", bytes: bytes.toString("base64") };
}
