// One live line at the bottom of a terminal that says what runs now. Elsewhere it is silent.
import type { CommandOutput } from "../command-io.ts";

export class Progress {
  readonly #out: CommandOutput;
  readonly #running = new Set<string>();
  #done = 0;
  #total = 0;
  #label = "";
  #shown = false;

  constructor(out: CommandOutput) {
    this.#out = out;
  }

  begin(label: string, total: number): void {
    this.#label = label;
    this.#total = total;
    this.#done = 0;
    this.#running.clear();
    this.#draw();
  }

  start(name: string): void {
    this.#running.add(name);
    this.#draw();
  }

  finish(name: string): void {
    this.#running.delete(name);
    this.#done++;
  }

  /** Writes lasting text above the live line. */
  print(write: () => void): void {
    this.clear();
    write();
    this.#draw();
  }

  clear(): void {
    if (this.#shown) this.#out.clearLine?.();
    this.#shown = false;
  }

  #draw(): void {
    if (!this.#out.isTTY || this.#total === 0) return;
    this.clear();
    const text = `${this.#label} ${this.#done}/${this.#total} · ${[...this.#running].join(", ")}`;
    this.#out.write(text.slice(0, (this.#out.columns ?? 80) - 1));
    this.#shown = true;
  }
}
