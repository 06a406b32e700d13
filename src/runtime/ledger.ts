/** The one way to change the state: a record is stamped, goes into the journal and is applied. */
import type { Clock, JournalStore, ReceivedBlock } from "./ports.ts";
import type { JournalRecord, RecordDraft } from "./records.ts";
import { RuntimeState } from "./state.ts";

export class Ledger {
  readonly state: RuntimeState;
  readonly #store: JournalStore;
  readonly #clock: Clock;

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

  /** `blocks`: what a record of received bytes is made of. */
  append(draft: RecordDraft, blocks?: readonly ReceivedBlock[]): JournalRecord {
    const record: JournalRecord = { ...draft, time: this.#clock.now() };
    this.#store.append(record, blocks);
    this.state.apply(record);
    return record;
  }

  /** Everything so far survives a crash. */
  durable(): Promise<void> {
    return this.#store.durable();
  }
}
