// The grammar of a session: takes events one by one and names the rule that is broken and where. SPEC.md states the rules G1 to G8.
// It judges a stream; it never changes one.
import type { ContentPart } from "./content.ts";
import type { UniversalEvent } from "./event.ts";
import type { Item } from "./item.ts";
import { eventFault } from "./validate.ts";

export type GrammarRule = "G1" | "G2" | "G3" | "G4" | "G5" | "G6" | "G7" | "G8";

export type Violation = { rule: GrammarRule; sequence: number; event_type: string; message: string };

type SeenItem = {
  state: "open" | "completed" | "removed";
  kind: Item["kind"];
  nested: boolean;
  turn_id: string | null;
  /** What a reader that adds up deltas has in hand, per part. */
  said: Map<number, string>;
};

/** The text a delta can build; undefined for parts that never stream. */
export const streamedText = (part: ContentPart): string | undefined =>
  part.type === "text" || part.type === "reasoning" || part.type === "refusal" ? part.text : undefined;

export class Grammar {
  #sequence = 0;
  #ended = false;
  #turn: string | null = null;
  readonly #turns = new Set<string>();
  readonly #steps = new Map<string, "open" | "ended">();
  readonly #items = new Map<string, SeenItem>();
  readonly #calls = new Set<string>();
  readonly #requests = new Map<string, "open" | "resolved">();
  #broken: Violation[] = [];

  /** Checks the next event of the session and returns the rules it breaks: mostly none. */
  check(event: UniversalEvent): Violation[] {
    this.#broken = [];
    const blame = (rule: GrammarRule, message: string) =>
      this.#broken.push({ rule, sequence: event.sequence, event_type: event.type, message });
    this.#envelope(event, blame);
    this.#content(event, blame);
    return this.#broken;
  }

  #envelope(event: UniversalEvent, blame: Blame): void {
    const fault = eventFault(event);
    if (fault) blame("G1", fault);
    if (event.sequence !== this.#sequence + 1) blame("G1", `sequence ${event.sequence} follows ${this.#sequence}`);
    if (event.synthetic !== (event.source === "daemon"))
      blame("G1", `synthetic is ${event.synthetic} but source is ${event.source}`);
    if ((event.type === "session.started") !== (this.#sequence === 0)) blame("G2", "session.started is first and once");
    if (this.#ended) blame("G2", "nothing follows session.ended");
    this.#sequence = event.sequence;
  }

  #content(event: UniversalEvent, blame: Blame): void {
    switch (event.type) {
      case "item.started":
        return this.#itemStarted(event.data.item, blame);
      case "item.delta":
        return this.#itemDelta(event.data, blame);
      case "item.updated":
        return this.#itemUpdated(event.data.item, blame);
      case "item.completed":
        return this.#itemCompleted(event.data.item, blame);
      case "item.removed": {
        const item = this.#items.get(event.data.item_id);
        if (!item) return blame("G3", `item ${event.data.item_id} was never started`);
        if (item.state === "removed") return blame("G3", `item ${event.data.item_id} was removed before`);
        item.state = "removed";
        return;
      }
      case "permission.requested":
        return this.#asked(`permission ${event.data.permission_id}`, blame);
      case "question.requested":
        return this.#asked(`question ${event.data.question_id}`, blame);
      case "permission.resolved":
        return this.#answered(`permission ${event.data.permission_id}`, blame);
      case "question.resolved":
        return this.#answered(`question ${event.data.question_id}`, blame);
      case "turn.started":
        if (this.#turn) blame("G7", `turn ${event.data.turn_id} starts inside turn ${this.#turn}`);
        if (this.#turns.has(event.data.turn_id)) blame("G7", `turn ${event.data.turn_id} starts twice`);
        this.#turns.add(event.data.turn_id);
        this.#turn = event.data.turn_id;
        return;
      case "turn.ended":
        return this.#turnEnded(event.data.turn_id, blame);
      case "step.started":
        if (event.data.turn_id !== this.#turn) blame("G7", `step ${event.data.step_id} lies outside its turn`);
        if (this.#steps.has(event.data.step_id)) blame("G7", `step ${event.data.step_id} starts twice`);
        this.#steps.set(event.data.step_id, "open");
        return;
      case "step.ended":
        if (this.#steps.get(event.data.step_id) !== "open") blame("G7", `step ${event.data.step_id} is not open`);
        if (event.data.turn_id !== this.#turn) blame("G7", `step ${event.data.step_id} ends outside its turn`);
        this.#steps.set(event.data.step_id, "ended");
        return;
      case "session.ended":
        this.#ended = true;
        for (const open of this.open()) blame("G8", `${open} is still open`);
        return;
      default:
        return;
    }
  }

  /** What is open now, in words: empty after a clean end. */
  open(): string[] {
    const open: string[] = [];
    for (const [id, item] of this.#items) if (item.state === "open") open.push(`item ${id}`);
    for (const [name, state] of this.#requests) if (state === "open") open.push(name);
    for (const [id, state] of this.#steps) if (state === "open") open.push(`step ${id}`);
    if (this.#turn) open.push(`turn ${this.#turn}`);
    return open;
  }

  #itemStarted(item: Item, blame: Blame): void {
    if (this.#items.has(item.item_id)) blame("G3", `item ${item.item_id} starts twice`);
    if (item.parent_id !== null && !this.#items.has(item.parent_id)) blame("G5", `parent ${item.parent_id} was never announced`);
    if (item.turn_id !== null && item.turn_id !== this.#turn)
      blame("G7", `item ${item.item_id} names turn ${item.turn_id}, which is not open`);
    const said = new Map<number, string>();
    this.#items.set(item.item_id, {
      state: "open",
      kind: item.kind,
      nested: item.parent_id !== null,
      turn_id: item.turn_id,
      said,
    });
    if (item.kind === "message" && item.content.some((part) => streamedText(part)))
      blame("G4", "a message starts empty: its text comes as deltas");
    this.#links(item, blame);
  }

  #links(item: Item, blame: Blame): void {
    for (const part of item.content) {
      if (part.type === "tool_call") this.#calls.add(part.call_id);
      if (part.type === "tool_result" && !this.#calls.has(part.call_id))
        blame("G6", `tool_result ${part.call_id} answers no tool_call`);
    }
  }

  #still(id: string, blame: Blame): SeenItem | undefined {
    const item = this.#items.get(id);
    if (!item) blame("G3", `item ${id} was never started`);
    else if (item.state !== "open") blame("G3", `item ${id} was ${item.state} before`);
    return item;
  }

  #itemDelta(data: { item_id: string; part_index: number; delta: string }, blame: Blame): void {
    const item = this.#still(data.item_id, blame);
    item?.said.set(data.part_index, (item.said.get(data.part_index) ?? "") + data.delta);
  }

  #itemUpdated(item: Item, blame: Blame): void {
    const seen = this.#still(item.item_id, blame);
    this.#links(item, blame);
    if (item.parent_id !== null && !this.#items.has(item.parent_id)) blame("G5", `parent ${item.parent_id} was never announced`);
    if (seen) seen.nested = item.parent_id !== null;
    seen?.said.clear();
    item.content.forEach((part, index) => {
      const text = streamedText(part);
      if (text !== undefined) seen?.said.set(index, text);
    });
  }

  #itemCompleted(item: Item, blame: Blame): void {
    const seen = this.#still(item.item_id, blame);
    if (item.status === "in_progress") blame("G3", `item ${item.item_id} is completed in progress`);
    this.#links(item, blame);
    if (!seen) return;
    seen.state = "completed";
    if (item.kind === "message")
      item.content.forEach((part, index) => {
        const text = streamedText(part);
        const said = seen.said.get(index) ?? "";
        if (text !== undefined && text !== said)
          blame("G4", `part ${index} of ${item.item_id} is ${excerpt(text)}, its deltas say ${excerpt(said)}`);
      });
    seen.said.clear();
  }

  #asked(name: string, blame: Blame): void {
    if (this.#requests.has(name)) blame("G6", `${name} is requested twice`);
    this.#requests.set(name, "open");
  }

  #answered(name: string, blame: Blame): void {
    if (this.#requests.get(name) !== "open") blame("G6", `${name} is resolved but not open`);
    this.#requests.set(name, "resolved");
  }

  #turnEnded(turn: string, blame: Blame): void {
    if (this.#turn !== turn) return blame("G7", `turn ${turn} ends but ${this.#turn ?? "none"} is open`);
    for (const [id, state] of this.#steps) if (state === "open") blame("G7", `step ${id} is open at the end of its turn`);
    for (const [id, item] of this.#items)
      if (item.state === "open" && item.turn_id === turn && item.kind === "message" && !item.nested)
        blame("G7", `message ${id} is open at the end of its turn`);
    this.#turn = null;
  }
}

type Blame = (rule: GrammarRule, message: string) => void;

const excerpt = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Checks a whole stream. */
export function checkGrammar(events: Iterable<UniversalEvent>): Violation[] {
  const grammar = new Grammar();
  const violations: Violation[] = [];
  for (const event of events) violations.push(...grammar.check(event));
  return violations;
}
