/**
 * Waits until what was deleted is gone from the disk. Removals run in the background; when the last of those under way has ended, old pages are wiped from
 * the WAL, once for all of them.
 */
import { type LogError, toLogError } from "../log-error.ts";

type Waiting = { resolve(): void; reject(error: LogError): void };

export class Erasing {
  readonly #wipe: () => Promise<void>;
  #running = 0;
  #wiping = false;
  #failure: LogError | undefined;
  #waiting: Waiting[] = [];

  constructor(wipe: () => Promise<void>) {
    this.#wipe = wipe;
  }

  /** A removal begins. Returns the function that says how it ended. */
  begin(): (failure?: LogError) => void {
    this.#running++;
    return (failure) => {
      this.#running--;
      this.#failure ??= failure;
      // Not inside the commit that called: a checkpoint needs the transaction to be over.
      if (this.#running > 0) return;
      this.#wiping = true;
      setImmediate(() => void this.#end());
    };
  }

  get busy(): boolean {
    return this.#running > 0 || this.#wiping;
  }

  done(): Promise<void> {
    if (!this.busy) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  stop(error: LogError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  async #end(): Promise<void> {
    if (this.#running === 0) {
      try {
        await this.#wipe();
      } catch (error) {
        this.#failure ??= toLogError(error, "Erasing what was deleted");
      }
    }
    this.#wiping = false;
    // Those that began meanwhile have their own wipe.
    if (this.#running > 0) return;
    const [failure, waiting] = [this.#failure, this.#waiting];
    this.#failure = undefined;
    this.#waiting = [];
    for (const { resolve, reject } of waiting) failure === undefined ? resolve() : reject(failure);
  }
}
