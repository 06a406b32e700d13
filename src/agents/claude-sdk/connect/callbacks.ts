// Callbacks of the SDK that wait for a person: recorded like the control requests they stand for, settled by the session or by the SDK's signal.
import type { Channel, NativeDirection } from "../../contract.ts";
import { type JsonRecord, toJson } from "../../json.ts";
import type { CallbackOptions } from "./sdk-module.ts";

type Open = { name: string; resolve(value: JsonRecord): void };

export class Callbacks {
  readonly #channel: Channel;
  readonly #open = new Map<string, Open>();
  #count = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Resolves with what the session answers. `refused` is returned when the SDK withdraws the request. */
  ask(name: string, args: unknown[], options: CallbackOptions, refused: JsonRecord): Promise<JsonRecord> {
    this.#count += 1;
    const id = options.requestId ?? options.toolUseID ?? `callback-${this.#count}`;
    const { signal, ...facts } = options;
    record(this.#channel, "out", { $sdk: "callback", name, args: [...args, { ...facts, requestId: id }] });
    return new Promise((resolve) => {
      this.#open.set(id, { name, resolve });
      signal.addEventListener("abort", () => this.#withdrawn(id, refused), { once: true });
      if (signal.aborted) this.#withdrawn(id, refused);
    });
  }

  /** False: the request was withdrawn, or answered before. */
  answer(id: string, value: JsonRecord): boolean {
    const open = this.#take(id);
    if (!open) return false;
    record(this.#channel, "in", { $sdk: "callback_return", name: open.name, requestId: id, value });
    open.resolve(value);
    return true;
  }

  #withdrawn(id: string, value: JsonRecord): void {
    const open = this.#take(id);
    if (!open) return;
    record(this.#channel, "in", { $sdk: "callback_return", name: open.name, requestId: id, aborted: true, value });
    open.resolve(value);
  }

  #take(id: string): Open | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    return open;
  }
}

export function record(channel: Channel, dir: NativeDirection, row: JsonRecord): void {
  channel.record(dir, toJson(row), row);
}
