/**
 * A value of which only the committed state is shown [D1]: a new one is written to the log and set here in the same tick, and is shown when the log has
 * committed what it stands for. Readers never wait, also while the log cannot write.
 */
import type { StreamWriter } from "../log/contract.ts";

type Marks = Pick<StreamWriter, "enqueuedMark" | "committedMark">;

export class CommittedValue<T> {
  readonly #writer: Marks;
  #shown: T;
  /** Oldest first, one for each commit. While one is on its way newer values wait for the next. */
  readonly #next: { value: T; mark: number }[] = [];

  constructor(writer: Marks, value: T) {
    this.#writer = writer;
    this.#shown = value;
  }

  /** Call it after what the value stands for was given to the log. */
  set(value: T): void {
    // What is committed by now is let go, also when nobody reads.
    this.get();
    const mark = this.#writer.enqueuedMark;
    if (this.#next.at(-1)?.mark === mark) this.#next.pop();
    this.#next.push({ value, mark });
  }

  get(): T {
    while (this.#next[0] !== undefined && this.#next[0].mark <= this.#writer.committedMark)
      this.#shown = this.#next.shift()?.value as T;
    return this.#shown;
  }
}
