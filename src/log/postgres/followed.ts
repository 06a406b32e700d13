/**
 * Streams that somebody follows here and that another process writes: how far they have come is looked up a few times a second, all of them in one question. Those whose
 * writer sends what it commits (`LiveTail`) are looked up seldom, to be sure.
 */
import type { LiveTail } from "./live.ts";
import type { PostgresStream } from "./stream.ts";
import type { StreamStore } from "./stream-store.ts";

const POLL_MS = 250;
/** Every so many times those whose writer sends what it commits. */
const COVERED_ROUNDS = 8;

export class Followed {
  readonly #streams = new Map<number, PostgresStream>();
  readonly #store: StreamStore;
  readonly #onThrow: (error: unknown) => void;
  readonly #live: LiveTail;
  /** Covered streams that were behind the log when they were looked up last, and where the log was then. */
  readonly #late = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #round = 0;

  constructor(store: StreamStore, live: LiveTail, onThrow: (error: unknown) => void) {
    this.#store = store;
    this.#live = live;
    this.#onThrow = onThrow;
  }

  add(stream: PostgresStream): void {
    if (!this.#streams.has(stream.no)) this.#live.onFollowed(stream);
    this.#streams.set(stream.no, stream);
    this.#timer ??= setInterval(() => void this.#look().catch(this.#onThrow), POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#streams.clear();
  }

  async #look(): Promise<void> {
    for (const [no, stream] of this.#streams) if (!stream.isFollowed()) this.#streams.delete(no);
    if (this.#streams.size === 0) return this.stop();
    if (this.#looking) return;
    const { covered } = this.#live;
    // Also what was given up in a moment in which nobody followed it.
    for (const [no, stream] of this.#streams) if (!covered.has(no)) this.#live.onFollowed(stream);
    const all = ++this.#round % COVERED_ROUNDS === 0;
    const wanted = [...this.#streams.keys()].filter((no) => all || !covered.has(no) || this.#late.has(no));
    if (wanted.length === 0) return;
    this.#looking = true;
    try {
      const found = await this.#store.progress(wanted);
      for (const no of wanted) {
        const stream = this.#streams.get(no);
        if (!stream?.isFollowed()) continue;
        const row = found.get(no);
        if (row === undefined) stream.gone();
        else if (!this.#isOnItsWay(no, stream.lastCommitted, row.last_sequence)) stream.advance(row);
      }
    } finally {
      this.#looking = false;
    }
  }

  /** What the log has and the writer has not sent yet is given a round: a session that is being written is nearly always a little behind. */
  #isOnItsWay(no: number, seen: number, last: number): boolean {
    const before = this.#late.get(no);
    this.#late.delete(no);
    if (seen >= last || !this.#live.covered.has(no)) return false;
    if (before === undefined || seen >= before) {
      this.#late.set(no, last);
      return true;
    }
    this.#live.onMissed(no);
    return false;
  }
}
