/** The last thing said or done in each session, in one line: live from the stream of all sessions, and read once for a session that is quiet. */
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { Item } from "../../../src/schema/item.ts";
import { daemon } from "./daemon.ts";
import { type LastLine, lastLineOf, lineOf } from "./last-line-of.ts";
import { Signal } from "./store.ts";

/** Of a text that grows: enough for its last line. */
const KEPT = 800;
/** Enough to find one with words among calls, results and statuses. */
const PAGE = 6;

class LastLines {
  readonly changed = new Signal();
  /** With the item each is about. */
  readonly #lines = new Map<string, LastLine & { item: string }>();
  readonly #asked = new Set<string>();
  /** The text that grows in each session, and the event it is known up to. */
  readonly #growing = new Map<string, { item: string; text: string; sequence: number }>();

  readonly get = (id: string): LastLine | undefined => this.#lines.get(id);

  note(event: UniversalEvent): void {
    const id = event.session_id;
    if (event.type === "item.delta") {
      if (event.data.part_type === "text") this.#grow(id, event.data.item_id, event.data.delta, event.sequence);
    } else if (event.type === "item.started" || event.type === "item.completed") {
      const { item } = event.data;
      const line = lineOf(item);
      if (line) this.#put(id, { ...line, item: item.item_id });
      if (item.kind === "message") this.#growing.set(id, { item: item.item_id, text: textOf(item), sequence: event.sequence });
    } else if (event.type === "item.removed" && this.#lines.get(id)?.item === event.data.item_id) {
      // What was taken back was not the last thing said.
      this.#lines.delete(id);
      this.#read(id);
    }
  }

  /** A text whose beginning was not seen is read first: half a sentence says nothing. */
  #grow(id: string, item: string, delta: string, sequence: number): void {
    const known = this.#growing.get(id);
    if (known?.item !== item) return this.#read(id);
    if (sequence <= known.sequence) return;
    const text = `${known.text}${delta}`.slice(-KEPT);
    this.#growing.set(id, { item, text, sequence });
    if (text.trim() !== "") this.#put(id, { text: lastLineOf(text), by: "agent", item });
  }

  /** Reads the last line of a session nothing was heard of yet. */
  want(id: string): void {
    if (!this.#lines.has(id)) this.#read(id);
  }

  #read(id: string): void {
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    void daemon
      .session(id)
      .items({ order: "desc", limit: PAGE })
      .then(({ items, last_sequence }) => {
        const line = items
          .flatMap((item) => {
            const found = lineOf(item);
            return found ? [{ ...found, item: item.item_id }] : [];
          })
          .at(0);
        const open = items.find(({ kind, status }) => kind === "message" && status === "in_progress");
        if (open) this.#growing.set(id, { item: open.item_id, text: textOf(open), sequence: last_sequence });
        if (line && (open || !this.#lines.has(id))) this.#put(id, line);
      })
      .catch(() => {})
      .finally(() => this.#asked.delete(id));
  }

  #put(id: string, line: LastLine & { item: string }): void {
    const before = this.#lines.get(id);
    this.#lines.set(id, line);
    if (before?.text === line.text && before.by === line.by && before.asked === line.asked) return;
    this.changed.schedule();
  }
}

const textOf = ({ content }: Item): string => content.map((part) => (part.type === "text" ? part.text : "")).join("");

export const lastLines = new LastLines();
