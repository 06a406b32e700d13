/**
 * The grammar of a session: takes events one by one and names the rule that is broken and where. SPEC.md states the rules G1 to G9, and U1 to U15 for
 * strict mode. It judges a stream against the session's projection before the event; it never changes a stream.
 */
import type { UniversalEvent } from "./event.ts";
import type { Item } from "./item.ts";
import { streamedText } from "./projection/parts.ts";
import { SessionProjection } from "./projection/session-projection.ts";
import { Sameness, type SamenessRule } from "./sameness.ts";
import { eventFault } from "./validate.ts";

export type GrammarRule = "G1" | "G2" | "G3" | "G4" | "G5" | "G6" | "G7" | "G8" | "G9" | SamenessRule;

export type Violation = { rule: GrammarRule; sequence: number; event_type: string; message: string };

export class Grammar {
  /** The session after the events that were checked. */
  readonly session = new SessionProjection();
  /** Names that were ever used: the projection forgets what is finished. Items with what became of them. */
  readonly #items = new Map<string, "open" | "completed" | "removed">();
  readonly #turns = new Set<string>();
  readonly #steps = new Set<string>();
  readonly #calls = new Set<string>();
  readonly #requests = new Set<string>();
  readonly #messages = new Set<string>();
  readonly #sameness: Sameness | null;

  /** `strict`: the sameness rules too. */
  constructor({ strict = false }: { strict?: boolean } = {}) {
    this.#sameness = strict ? new Sameness() : null;
  }

  /**
   * Checks the next event of the session and returns the rules it breaks: mostly none. `native`: number of the native message it was made from, null
   * when none, undefined when that is not known.
   */
  check(event: UniversalEvent, native?: number | null): Violation[] {
    const broken: Violation[] = [];
    const blame = (rule: GrammarRule, message: string): void =>
      void broken.push({ rule, sequence: event.sequence, event_type: event.type, message });
    this.#envelope(event, blame);
    this.#content(event, blame);
    this.#sameness?.check(event, this.session, blame, native);
    this.session.apply(event);
    return broken;
  }

  #envelope(event: UniversalEvent, blame: Blame): void {
    const fault = eventFault(event);
    if (fault) blame("G1", fault);
    const before = this.session.sequence;
    if (event.sequence !== before + 1) blame("G1", `sequence ${event.sequence} follows ${before}`);
    if (event.synthetic !== (event.source === "daemon"))
      blame("G1", `synthetic is ${event.synthetic} but source is ${event.source}`);
    if ((event.type === "session.started") !== (before === 0)) blame("G2", "session.started is first and once");
    if (this.session.ended) blame("G2", "nothing follows session.ended");
  }

  #content(event: UniversalEvent, blame: Blame): void {
    switch (event.type) {
      case "item.started":
        return this.#itemStarted(event.data.item, blame);
      case "item.delta":
        return this.#mustBeOpen(event.data.item_id, blame);
      case "item.updated":
        this.#mustBeOpen(event.data.item.item_id, blame);
        this.#links(event.data.item, blame);
        return this.#parent(event.data.item, blame);
      case "item.completed":
        return this.#itemCompleted(event.data.item, blame);
      case "item.removed":
        return this.#itemRemoved(event.data.item_id, blame);
      case "permission.requested":
        return this.#asked("permission", event.data.permission_id, blame);
      case "question.requested":
        return this.#asked("question", event.data.question_id, blame);
      case "permission.resolved":
        return this.#answered("permission", event.data.permission_id, blame);
      case "question.resolved":
        return this.#answered("question", event.data.question_id, blame);
      case "message.queued":
        if (this.#messages.has(event.data.message_id)) blame("G9", `message ${event.data.message_id} is queued twice`);
        this.#messages.add(event.data.message_id);
        return;
      case "message.updated":
        return this.#mustBeQueued(event.data.message_id, blame);
      case "message.removed":
        return this.#mustBeQueued(event.data.message_id, blame);
      case "turn.started":
        return this.#turnStarted(event.data, blame);
      case "turn.ended":
        return this.#turnEnded(event.data.turn_id, blame);
      case "step.started":
        if (event.data.turn_id !== this.#turnId) blame("G7", `step ${event.data.step_id} lies outside its turn`);
        if (this.#steps.has(event.data.step_id)) blame("G7", `step ${event.data.step_id} starts twice`);
        this.#steps.add(event.data.step_id);
        return;
      case "step.ended":
        if (!this.session.steps.has(event.data.step_id)) blame("G7", `step ${event.data.step_id} is not open`);
        if (event.data.turn_id !== this.#turnId) blame("G7", `step ${event.data.step_id} ends outside its turn`);
        return;
      case "session.ended":
        for (const open of this.open()) blame("G8", `${open} is still open`);
        return;
      default:
        return;
    }
  }

  /** What is open now, in words: empty after a clean end. */
  open(): string[] {
    const { items, requests, steps, turn, queue } = this.session;
    return [
      ...items.items().map((item) => `item ${item.item_id}`),
      ...Array.from(requests, ([id, { kind }]) => `${kind} ${id}`),
      ...Array.from(steps.keys(), (id) => `step ${id}`),
      ...queue.map(({ message_id }) => `message ${message_id}`),
      ...(turn ? [`turn ${turn.turn_id}`] : []),
    ];
  }

  get #turnId(): string | null {
    return this.session.turn?.turn_id ?? null;
  }

  #itemStarted(item: Item, blame: Blame): void {
    if (this.#items.has(item.item_id)) blame("G3", `item ${item.item_id} starts twice`);
    this.#parent(item, blame);
    if (item.turn_id !== null && item.turn_id !== this.#turnId)
      blame("G7", `item ${item.item_id} names turn ${item.turn_id}, which is not open`);
    this.#items.set(item.item_id, "open");
    if (item.kind === "message" && item.content.some((part) => streamedText(part)))
      blame("G4", "a message starts empty: its text comes as deltas");
    this.#links(item, blame);
  }

  #parent(item: Item, blame: Blame): void {
    if (item.parent_id !== null && !this.#items.has(item.parent_id)) blame("G5", `parent ${item.parent_id} was never announced`);
  }

  #links(item: Item, blame: Blame): void {
    for (const part of item.content) {
      if (part.type === "tool_call") this.#calls.add(part.call_id);
      if (part.type === "tool_result" && !this.#calls.has(part.call_id))
        blame("G6", `tool_result ${part.call_id} answers no tool_call`);
    }
  }

  #mustBeOpen(id: string, blame: Blame): void {
    const state = this.#items.get(id);
    if (state === undefined) blame("G3", `item ${id} was never started`);
    else if (state !== "open") blame("G3", `item ${id} was ${state} before`);
  }

  #itemCompleted(item: Item, blame: Blame): void {
    const before = this.session.items.get(item.item_id);
    this.#mustBeOpen(item.item_id, blame);
    if (item.status === "in_progress") blame("G3", `item ${item.item_id} is completed in progress`);
    this.#links(item, blame);
    if (!before) return;
    this.#items.set(item.item_id, "completed");
    if (item.kind !== "message") return;
    item.content.forEach((part, index) => {
      const text = streamedText(part);
      const last = before.content[index];
      const said = (last && streamedText(last)) ?? "";
      if (text !== undefined && text !== said)
        blame("G4", `part ${index} of ${item.item_id} is ${excerpt(text)}, its deltas say ${excerpt(said)}`);
    });
  }

  #itemRemoved(id: string, blame: Blame): void {
    const state = this.#items.get(id);
    if (state === undefined) return blame("G3", `item ${id} was never started`);
    if (state === "removed") return blame("G3", `item ${id} was removed before`);
    this.#items.set(id, "removed");
  }

  #asked(kind: "permission" | "question", id: string, blame: Blame): void {
    const name = `${kind} ${id}`;
    if (this.#requests.has(name)) blame("G6", `${name} is requested twice`);
    this.#requests.add(name);
  }

  #answered(kind: "permission" | "question", id: string, blame: Blame): void {
    if (this.session.requests.get(id)?.kind !== kind) blame("G6", `${kind} ${id} is resolved but not open`);
  }

  #mustBeQueued(id: string, blame: Blame): void {
    if (!this.session.queue.some(({ message_id }) => message_id === id)) blame("G9", `message ${id} is not in the queue`);
  }

  #turnStarted({ turn_id, message_id }: { turn_id: string; message_id?: string }, blame: Blame): void {
    if (this.#turnId) blame("G7", `turn ${turn_id} starts inside turn ${this.#turnId}`);
    if (this.#turns.has(turn_id)) blame("G7", `turn ${turn_id} starts twice`);
    this.#turns.add(turn_id);
    const named = this.session.queue.find((message) => message.message_id === message_id);
    if (message_id !== undefined && !named) blame("G9", `turn ${turn_id} names message ${message_id}, which is not in the queue`);
    if (named && named.turn_id !== turn_id)
      blame("G9", `message ${message_id} was promised turn ${named.turn_id}, not ${turn_id}`);
    if (message_id === undefined && this.session.queue.some((message) => message.turn_id === turn_id))
      blame("G9", `turn ${turn_id} does not name the message it was promised to`);
  }

  #turnEnded(turn: string, blame: Blame): void {
    if (this.#turnId !== turn) return blame("G7", `turn ${turn} ends but ${this.#turnId ?? "none"} is open`);
    for (const id of this.session.steps.keys()) blame("G7", `step ${id} is open at the end of its turn`);
    for (const item of this.session.items.items())
      if (item.turn_id === turn && item.kind === "message" && item.parent_id === null)
        blame("G7", `message ${item.item_id} is open at the end of its turn`);
  }
}

type Blame = (rule: GrammarRule, message: string) => void;

const excerpt = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Checks a whole stream. `strict`: the sameness rules too. */
export function checkGrammar(events: Iterable<UniversalEvent>, options: { strict?: boolean } = {}): Violation[] {
  const grammar = new Grammar(options);
  return Array.from(events, (event) => grammar.check(event)).flat();
}
