/**
 * A value of which only the committed state is shown [D1]: a new one is written to the log and set here in the same tick, and is shown when the log has
 * committed since. Readers never wait, also while the log cannot write.
 */
import type { StreamWriter } from "../log/contract.ts";

export class CommittedValue<T> {
  readonly #writer: Pick<StreamWriter, "commits">;
  #shown: T;
  /** `commits`: the number of commits when it was set. */
  #next: { value: T; commits: number } | null = null;

  constructor(writer: Pick<StreamWriter, "commits">, value: T) {
    this.#writer = writer;
    this.#shown = value;
  }

  /** Call it after what the value stands for was given to the log. */
  set(value: T): void {
    this.get();
    this.#next = { value, commits: this.#writer.commits };
  }

  get(): T {
    if (this.#next !== null && this.#writer.commits > this.#next.commits) {
      this.#shown = this.#next.value;
      this.#next = null;
    }
    return this.#shown;
  }
}
