// The SDK's streaming input: messages are pushed in, query() pulls them out, until it is closed.
export class PromptStream implements AsyncIterable<unknown> {
  readonly #ready: unknown[] = [];
  #wake: (() => void) | null = null;
  #closed = false;

  push(message: unknown): void {
    this.#ready.push(message);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<unknown> {
    while (true) {
      while (this.#ready.length > 0) yield this.#ready.shift();
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
