// A session as a text a person can review: what was said and done, in order, without ids and times. Golden files are made of it.
import type { UniversalEvent } from "../../schema/event.ts";
import type { Item } from "../../schema/item.ts";
import { eventLine, partLine, short } from "./event-line.ts";

/** Reported by the items they belong to, or of no interest to a reader. */
const SILENT = new Set(["item.updated", "artifact.written"]);

export function transcript(events: readonly UniversalEvent[]): string {
  const writer = new TranscriptWriter();
  return events.map((event) => writer.write(event)).join("");
}

class TranscriptWriter {
  readonly #deltas = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #turns = 0;

  write(event: UniversalEvent): string {
    switch (event.type) {
      case "session.started":
        return `session of ${String(event.data.metadata.agent)}\n`;
      case "session.ended":
        return `session ended: ${event.data.reason}${event.data.message ? `, ${short(event.data.message)}` : ""}\n`;
      case "turn.started":
        return `\nturn ${++this.#turns} (${event.data.initiator})\n`;
      case "turn.ended":
        return `turn ${this.#turns} ended: ${event.data.stop_reason}${event.data.error_code ? ` ${event.data.error_code}` : ""}\n`;
      case "item.started":
        this.#name(event.data.item);
        return "";
      case "item.delta":
        this.#deltas.set(event.data.item_id, (this.#deltas.get(event.data.item_id) ?? 0) + 1);
        return "";
      case "item.completed":
        return this.#item(event.data.item);
      case "item.removed":
        return `  removed: ${event.data.reason}\n`;
      default:
        return SILENT.has(event.type) ? "" : `  · ${withoutIds(eventLine(event).replace(/^\d+ /, ""))}\n`;
    }
  }

  #name(item: Item): void {
    const call = item.content.find((part) => part.type === "tool_call");
    this.#names.set(item.item_id, call ? `the call of ${call.name}` : `the ${item.role ?? item.kind} message`);
  }

  #item(item: Item): string {
    const deltas = this.#deltas.get(item.item_id) ?? 0;
    const under = item.parent_id === null ? "" : ` under ${this.#names.get(item.parent_id) ?? "an unknown item"}`;
    this.#name(item);
    const state = item.status === "completed" ? "" : ` ${item.status}`;
    const head = `  ${item.kind}${item.role ? ` ${item.role}` : ""}${state}${under}${deltas > 0 ? ` (${deltas} deltas)` : ""}\n`;
    return head + item.content.map((part) => `    ${partLine(part)}\n`).join("");
  }
}

/** Our own ids are counted in a replay, but a golden file must not change when one more event is made. */
const withoutIds = (line: string): string => line.replaceAll(/\b(turn|itm|stp|prm|qst|evt|sess)_(?=\w*\d)\w+/g, "$1_…");
