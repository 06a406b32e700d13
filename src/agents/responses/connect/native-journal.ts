/**
 * The journal as the session sees it: each record goes into the file and, as a native message, into the session's ledger. The provider's bytes go there as they came.
 * While the daemon's log cannot write, nothing becomes durable, so nothing new begins.
 */
import type { JournalStore } from "../../../runtime/ports.ts";
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

  append(record: JournalRecord): void {
    this.#file.append(record);
    if (record.type === "received") this.#received(record.encoding, record.bytes);
    else this.#channel.record("out", JSON.stringify(record), record);
  }

  async durable(): Promise<void> {
    await this.#gate.opened;
    return this.#file.durable();
  }

  read(): Promise<readonly JournalRecord[]> {
    return this.#file.read();
  }

  /** A message of a WebSocket is JSON; a block of an event stream is text. So they are read again from the ledger. */
  #received(encoding: "utf8" | "base64", bytes: string): void {
    if (encoding === "base64") {
      const raw = Buffer.from(bytes, "base64");
      return this.#channel.record("sse", raw, raw.toString("utf8"));
    }
    const data: unknown = bytes.startsWith("{") ? asJson(bytes) : bytes;
    this.#channel.record("sse", bytes, data);
  }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
