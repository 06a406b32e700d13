/**
 * The blocks of a provider's stream on their way into the journal: those of one read of the socket are one record, each still a block of its own for whoever watches the
 * journal. Every record that reports something that followed from a block must come after it: `flush` first.
 */
import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../openresponses/json.ts";
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

  add(bytes: Buffer, data: JsonObject | null): void {
    this.#blocks.push({ bytes, data });
  }

  flush(): void {
    const [first] = this.#blocks;
    if (first === undefined) return;
    const blocks = this.#blocks;
    this.#blocks = [];
    const bytes = blocks.length === 1 ? first.bytes : Buffer.concat(blocks.map((block) => block.bytes));
    this.#ledger.append({ type: "received", ...this.#request, ...encoded(bytes) }, blocks);
  }
}

/** Text where the bytes are text, so that a journal can be read. */
function encoded(bytes: Buffer): { encoding: "utf8" | "base64"; bytes: string } {
  if (isUtf8(bytes)) return { encoding: "utf8", bytes: bytes.toString("utf8") };
  return { encoding: "base64", bytes: bytes.toString("base64") };
}
