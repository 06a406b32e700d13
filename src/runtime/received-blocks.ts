/**
 * The blocks of a provider's stream on their way into the journal: those of one read of the socket go there together, each still a block of its own for whoever watches
 * the journal. Every record that reports something that followed from a block must come after it: `flush` first.
 */
import type { Ledger } from "./ledger.ts";
import type { ReceivedBlock } from "./ports.ts";

export class ReceivedBlocks {
  readonly #ledger: Ledger;
  readonly #request: { readonly n: number; readonly attempt: number };
  #blocks: ReceivedBlock[] = [];

  constructor(ledger: Ledger, request: { readonly n: number; readonly attempt: number }) {
    this.#ledger = ledger;
    this.#request = request;
  }

  add(block: ReceivedBlock): void {
    this.#blocks.push(block);
  }

  flush(): void {
    if (this.#blocks.length === 0) return;
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#ledger.received(this.#request, blocks);
  }
}
