// Follows one session's live events and lets the runner wait for something in them. It keeps all events: a scenario is short.
import type { SessionHandle } from "../client/index.ts";
import type { UniversalEvent } from "../schema/event.ts";

type Waiter = { test(): boolean; resolve(): void; reject(error: unknown): void };

export class EventWatch {
  readonly events: UniversalEvent[] = [];
  readonly #onEvent: (event: UniversalEvent) => void;
  readonly #waiters = new Set<Waiter>();
  #reading = new AbortController();
  #fault: unknown = null;

  constructor(onEvent: (event: UniversalEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Reads on from the last event, also through another daemon. */
  follow(session: SessionHandle): void {
    this.#reading.abort();
    this.#reading = new AbortController();
    void this.#read(session, this.#reading.signal);
  }

  async #read(session: SessionHandle, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of session.events({ after: this.events.at(-1)?.sequence ?? 0, signal })) {
        if (signal.aborted) return;
        this.events.push(event);
        this.#onEvent(event);
        this.wake();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#fault = error;
      for (const waiter of this.#waiters) waiter.reject(error);
      this.#waiters.clear();
    }
  }

  get ended(): boolean {
    return this.events.at(-1)?.type === "session.ended";
  }

  /** Looks again at what is waited for. */
  wake(): void {
    for (const waiter of this.#waiters) {
      if (!waiter.test()) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  /** Resolves when the test holds; it is asked now and after every event. */
  until(test: () => boolean, signal: AbortSignal): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    if (test()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiters.delete(waiter);
        reject(signal.reason);
      };
      const done = () => signal.removeEventListener("abort", stop);
      const waiter: Waiter = {
        test,
        resolve: () => {
          done();
          resolve();
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#waiters.add(waiter);
    });
  }

  close(): void {
    this.#reading.abort();
  }
}
