/**
 * The journal as the session sees it: each record goes into the file and, as a native message, into the session's ledger. The provider's bytes go there as they came.
 * While the daemon's log cannot write, nothing becomes durable, so nothing new begins.
 */
import type { JsonObject } from "../../../openresponses/json.ts";
import type { JournalStore, ReceivedBlock } from "../../../runtime/ports.ts";
import type { JournalRecord } from "../../../runtime/records.ts";
import type { Channel } from "../../contract.ts";
import type { Gate } from "./gate.ts";

export class NativeJournal implements JournalStore {
  readonly #file: JournalStore;
  readonly #channel: Channel;
  readonly #gate: Gate;

  constructor(file: JournalStore, channel: Channel, gate: Gate) {
    this.#file = file;
    this.#channel = channel;
    this.#gate = gate;
  }

  append(record: JournalRecord, blocks: readonly ReceivedBlock[] = []): void {
    this.#file.append(record);
    if (record.type !== "received") this.#channel.record("out", JSON.stringify(record), record);
    else for (const { bytes, data } of blocks) this.#received(bytes, data);
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
  #received(bytes: Buffer, data: JsonObject | null): void {
    const text = bytes.toString("utf8");
    // A replacement character may be the provider's own, or stand for bytes that are no text: then the bytes are kept.
    this.#channel.record("sse", text.includes("\ufffd") ? bytes : text, data ?? text);
  }
}
