/** The last thing said or done in each session, in one line: live from the stream of all sessions, and read once for a session that is quiet. */
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { Item } from "../../../src/schema/item.ts";
import { speakerOf } from "../../../src/schema/speaker.ts";
import { daemon } from "./daemon.ts";
import { Signal } from "./store.ts";

export type LastLine = { text: string; by: "user" | "agent" | "tool" };

const KEPT = 200;
/** Enough to find one with words among calls, results and statuses. */
const PAGE = 6;

class LastLines {
  readonly changed = new Signal();
  readonly #lines = new Map<string, LastLine>();
  readonly #asked = new Set<string>();

  readonly get = (id: string): LastLine | undefined => this.#lines.get(id);

  note(event: UniversalEvent): void {
    const id = event.session_id;
    if (event.type === "item.delta") {
      if (event.data.part_type !== "text") return;
      const before = this.#lines.get(id);
      const text = `${before?.by === "agent" ? before.text : ""}${event.data.delta}`.slice(-KEPT * 2);
      this.#put(id, { text: lastLineOf(text), by: "agent" });
    } else if (event.type === "item.started" || event.type === "item.completed") {
      const line = lineOf(event.data.item);
      if (line) this.#put(id, line);
    }
  }

  /** Reads the last line of a session nothing was heard of yet. */
  want(id: string): void {
    if (this.#asked.has(id) || this.#lines.has(id)) return;
    this.#asked.add(id);
    void daemon
      .session(id)
      .items({ order: "desc", limit: PAGE })
      .then(
        ({ items }) => {
          const line = items.map(lineOf).find((each) => each !== null);
          if (line && !this.#lines.has(id)) this.#put(id, line);
        },
        () => this.#asked.delete(id),
      );
  }

  #put(id: string, line: LastLine): void {
    const before = this.#lines.get(id);
    if (before?.text === line.text && before.by === line.by) return;
    this.#lines.set(id, line);
    this.changed.schedule();
  }
}

export function lineOf(item: Item): LastLine | null {
  for (const part of item.content.toReversed()) {
    if (part.type === "text" && part.text.trim() !== "")
      return { text: lastLineOf(part.text), by: speakerOf(item) === "user" ? "user" : "agent" };
    if (part.type === "tool_call")
      return { text: (part.title ?? part.paths?.join(", ") ?? part.name).slice(0, KEPT), by: "tool" };
  }
  return null;
}

const lastLineOf = (text: string): string =>
  (text.trimEnd().split("\n").at(-1) ?? "").replace(/^[#>\-*\s]+|[`*]|(?<!\w)_|_(?!\w)/g, "").slice(-KEPT);

export const lastLines = new LastLines();
