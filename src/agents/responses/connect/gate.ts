/** Open or closed. Whoever must not go on while it is closed waits for `opened`. */
export class Gate {
  #opened: Promise<void> = Promise.resolve();
  #open: (() => void) | null = null;

  get opened(): Promise<void> {
    return this.#opened;
  }

  get isOpen(): boolean {
    return this.#open === null;
  }

  set(open: boolean): void {
    if (open) {
      this.#open?.();
      this.#open = null;
    } else if (this.#open === null) {
      this.#opened = new Promise((resolve) => {
        this.#open = resolve;
      });
    }
  }
}
