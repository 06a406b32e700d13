/**
 * Events on their way to a reader who may not see secrets. One for each reader, because a secret can be divided over several deltas. Events keep their number,
 * their order and their form; what a delta holds back comes with the next delta of the same part, or with the completed item.
 */
import { mayBeOfType, sessionIdOf } from "../schema/envelope.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { begunItem } from "./open-items.ts";
import { PieceRedactor } from "./piece-redactor.ts";
import type { Redactor } from "./redactor.ts";

/** Events to look back when a reader begins in the middle of an item. */
const LOOK_BACK = 200;
/** Items whose deltas are followed; the oldest is given up for a new one. */
const MAX_ITEMS = 2_000;

export type EventHistory = {
  /** The events of a session before this one, newest first. */
  before(sessionId: string, sequence: number, limit: number): Promise<string[]>;
};

/** Chunks of a task's output to look back. */
const CHUNKS_BACK = 20;

type TaskOutput = Extract<UniversalEvent, { type: "task.output" }>;
type Parts = Map<number, PieceRedactor>;

export class EventRedactor {
  readonly #redactorOf: (sessionId: string) => Promise<Redactor>;
  readonly #history: EventHistory;
  readonly #items = new Map<string, Parts>();

  constructor(redactorOf: (sessionId: string) => Promise<Redactor>, history: EventHistory) {
    this.#redactorOf = redactorOf;
    this.#history = history;
  }

  /** An event of the past, by itself: what it begins is not followed. */
  async once(json: string): Promise<string> {
    return (await this.#redactorOf(sessionIdOf(json))).text(json);
  }

  /** In the order of the stream, one after the other. */
  async event(json: string): Promise<string> {
    const redactor = await this.#redactorOf(sessionIdOf(json));
    if (!mayBeOfType(json, "item.") && !mayBeOfType(json, "task.")) return redactor.text(json);
    const event = JSON.parse(json) as UniversalEvent;
    switch (event.type) {
      case "task.output":
        return JSON.stringify({ ...event, data: { ...event.data, chunk: await this.#output(event, redactor) } });
      case "task.stdin":
        // Base64 hides a secret from those who look for it.
        return JSON.stringify({ ...event, data: { ...event.data, chunk_b64: "" } });
      case "item.delta":
        return JSON.stringify({ ...event, data: { ...event.data, delta: await this.#delta(event, redactor) } });
      case "item.started":
      case "item.updated": {
        // What it says already may end in the middle of a secret: its deltas go on from there.
        const { item, parts } = begunItem(event.data.item, redactor);
        this.#follow(item.item_id, parts);
        return redactor.text(JSON.stringify({ ...event, data: { ...event.data, item } }));
      }
      case "item.completed":
        this.#items.delete(event.data.item.item_id);
        return redactor.text(json);
      case "item.removed":
        this.#items.delete(event.data.item_id);
        return redactor.text(json);
      default:
        return redactor.text(json);
    }
  }

  /** Output of a task comes in chunks, like deltas. What could be the beginning of a secret comes with the next chunk, or never. */
  async #output({ session_id, sequence, data }: TaskOutput, redactor: Redactor): Promise<string> {
    const key = `${data.task_id} ${data.stream}`;
    const known = this.#items.get(key)?.get(0);
    if (known) return known.add(data.chunk);
    const text = new PieceRedactor(redactor);
    this.#follow(key, new Map([[0, text]]));
    if (data.offset === 0) return text.add(data.chunk);
    const before = (await this.#history.before(session_id, sequence, CHUNKS_BACK))
      .map((json) => JSON.parse(json) as UniversalEvent)
      .filter((event): event is TaskOutput => event.type === "task.output" && event.data.stream === data.stream);
    for (const event of before.reverse()) text.add(event.data.chunk);
    return text.add(data.chunk);
  }

  async #delta(event: Extract<UniversalEvent, { type: "item.delta" }>, redactor: Redactor): Promise<string> {
    const parts = this.#items.get(event.data.item_id) ?? (await this.#lookBack(event, redactor));
    return grow(parts, event, redactor);
  }

  /** What the item's text was when this reader came in. */
  async #lookBack(
    { session_id, sequence, data }: Extract<UniversalEvent, { type: "item.delta" }>,
    redactor: Redactor,
  ): Promise<Parts> {
    let parts: Parts = new Map();
    const deltas: Extract<UniversalEvent, { type: "item.delta" }>[] = [];
    for (const json of await this.#history.before(session_id, sequence, LOOK_BACK)) {
      if (!json.includes(data.item_id)) continue;
      const event = JSON.parse(json) as UniversalEvent;
      if (event.type === "item.delta" && event.data.item_id === data.item_id) deltas.push(event);
      if ((event.type === "item.started" || event.type === "item.updated") && event.data.item.item_id === data.item_id) {
        parts = begunItem(event.data.item, redactor).parts;
        break;
      }
    }
    for (const event of deltas.reverse()) grow(parts, event, redactor);
    this.#follow(data.item_id, parts);
    return parts;
  }

  #follow(itemId: string, parts: Parts): void {
    this.#items.delete(itemId);
    this.#items.set(itemId, parts);
    if (this.#items.size > MAX_ITEMS) for (const oldest of this.#items.keys()) return void this.#items.delete(oldest);
  }
}

function grow(parts: Parts, { data }: Extract<UniversalEvent, { type: "item.delta" }>, redactor: Redactor): string {
  const known = parts.get(data.part_index);
  const text = known ?? new PieceRedactor(redactor);
  if (!known) parts.set(data.part_index, text);
  return text.add(data.delta);
}
