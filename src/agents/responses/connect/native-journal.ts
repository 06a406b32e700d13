/**
 * The journal as the session sees it: each record goes into the file and, as a native message, into the session's ledger. The provider's bytes go there as they came.
 * While the daemon's log cannot write, nothing becomes durable, so nothing new begins.
 */
import { parseJson } from "../../../openresponses/json.ts";
import { readFields } from "../../../openresponses/sse-reader.ts";
import type { JournalStore, ReceivedBlock } from "../../../runtime/ports.ts";
import type { JournalRecord } from "../../../runtime/records.ts";
import type { Channel, Repeated } from "../../contract.ts";
import type { Gate } from "./gate.ts";

export class NativeJournal implements JournalStore {
  readonly #file: JournalStore;
  readonly #channel: Channel;
  readonly #gate: Gate;
  /** Takes the pieces of a text that follow its first one. */
  #repeated: Repeated | undefined;

  constructor(file: JournalStore, channel: Channel, gate: Gate) {
    this.#file = file;
    this.#channel = channel;
    this.#gate = gate;
  }

  append(record: JournalRecord): void {
    const json = JSON.stringify(record);
    this.#file.append(record, json);
    this.#channel.record("out", json, record);
  }

  /** They change nothing, so that the file does not need them: the ledger has them, block by block. */
  received(blocks: readonly ReceivedBlock[]): void {
    for (const block of blocks) {
      const { text, delta } = block;
      if (text === null || delta === null || !this.#repeated?.take(text, delta)) this.#repeated = this.#received(block);
    }
  }

  written(): Promise<void> | void {
    return this.#gate.isOpen ? this.#file.written() : this.#gate.opened.then(() => this.#file.written());
  }

  async durable(): Promise<void> {
    await this.#gate.opened;
    return this.#file.durable();
  }

  read(): Promise<readonly JournalRecord[]> {
    return this.#file.read();
  }

  /** The payload is read once, by the client. What has none is reported by its text, as when it is read again from the ledger. */
  #received({ bytes, text: known, data, delta }: ReceivedBlock): Repeated | undefined {
    const text = known ?? bytes.toString("utf8");
    const payload = delta === null ? data : parseJson(readFields(text).data ?? "");
    // A replacement character may be the provider's own, or stand for bytes that are no text: then the bytes are kept.
    return this.#channel.record("sse", text.includes("\ufffd") ? bytes : text, payload ?? text);
  }
}
