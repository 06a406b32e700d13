/**
 * What a transcript shows: entries in the order of their events, items in their present state. It begins with a snapshot and pages of what lies before it, and
 * goes on with live events. State is the projections' business; this knows what stands in the list, and where.
 */
import type { EventOf, UniversalEvent } from "../../../src/schema/event.ts";
import type { EventDataOf, EventType, PermissionData, QuestionData } from "../../../src/schema/event-data.ts";
import type { Item } from "../../../src/schema/item.ts";
import { ItemProjection } from "../../../src/schema/projection/item-projection.ts";
import { SessionProjection } from "../../../src/schema/projection/session-projection.ts";
import type { ConfigFacts, SessionSnapshot } from "../../../src/schema/snapshot.ts";

/** Events that stand in the transcript as they are. */
const MARKS = [
  "error",
  "session.ended",
  "session.compacted",
  "session.moved",
  "auth.status",
  "checkpoint.created",
  "checkpoint.rewound",
  "checkpoint.failed",
  "team.message",
  "team.task_updated",
  "skill.loaded",
  "skill.invoked",
  "skill.warning",
  "agent.unparsed",
] as const satisfies readonly EventType[];
export type MarkType = (typeof MARKS)[number];
export type MarkEvent = { [T in MarkType]: EventOf<T> }[MarkType];
const marks: ReadonlySet<string> = new Set(MARKS);
/** A checkpoint before every turn is no news: those that a person took are. All are in the drawer. */
const isMark = (event: UniversalEvent): event is MarkEvent =>
  marks.has(event.type) && !(event.type === "checkpoint.created" && event.data.auto);

/** Kinds of tools that change files, or may. */
const CHANGING: ReadonlySet<string> = new Set(["write", "edit", "delete", "move", "shell"]);

export type Turn = {
  turn_id: string;
  initiator: "client" | "agent" | null;
  started_at: string | null;
  ended: (EventDataOf["turn.ended"] & { at: string }) | null;
};
export type Task = {
  task_id: string;
  /** A command or a terminal of a person, or a command of the agent. */
  by: "person" | "agent";
  title: string;
  status: string;
  output: string;
  exit_code: number | null;
  error: string | null;
};

type EntryState =
  | { kind: "item"; item_id: string }
  | { kind: "removed"; item_id: string; reason: string; item: Item | undefined }
  | { kind: "turn-start"; turn_id: string }
  | { kind: "turn-end"; turn_id: string }
  | { kind: "permission"; data: PermissionData; at: string }
  | { kind: "question"; data: QuestionData; at: string }
  | { kind: "retry"; data: EventDataOf["session.status"] }
  | { kind: "task"; task: Task }
  | { kind: "mark"; event: MarkEvent };
export type Entry = { key: string; sequence: number } & EntryState;

/** A stretch of the past: items in their present state, with the sequences of their starts, and all other events of the stretch. */
export type PastPage = { items: readonly Item[]; sequences: readonly number[]; events: readonly UniversalEvent[] };

/** Of a task only its start says what it is. */
function joined(before: Entry, known: Entry): Entry {
  const { sequence } = before;
  if (before.kind !== "task" || known.kind !== "task") return { ...known, sequence };
  const { title, by, output } = before.task;
  return { ...known, sequence, task: { ...known.task, title, by, output: output + known.task.output } };
}

export class TranscriptFold {
  readonly #items = new ItemProjection();
  /** Facts, queue and open turn. Items are in `#items`. */
  readonly session: SessionProjection;
  readonly #permissions = new Map<string, PermissionData>();
  readonly #entries = new Map<string, Entry>();
  readonly turns = new Map<string, Turn>();
  /** By permission: the call it was asked for, and when it was asked and answered. A page may know only one of the times. */
  readonly #waits = new Map<string, { item_id: string; asked?: number; answered?: number }>();
  /** Counts up whenever entries come, go or change; deltas only change items. */
  structure = 0;
  #last: UniversalEvent | undefined;
  /** The key of the last retry: one that follows it at once takes its place. */
  #retry: string | null = null;
  #ordered: { structure: number; entries: Entry[] } | null = null;

  /** Items in progress are there from the beginning, at the top as long as their start is not loaded. */
  constructor(snapshot?: SessionSnapshot) {
    this.session = new SessionProjection(snapshot);
    for (const item of this.session.items.items()) this.#addItem(item, 0);
    this.session.items.clear();
  }

  entries(): Entry[] {
    if (this.#ordered?.structure !== this.structure) {
      const entries = [...this.#entries.values()].sort((a, b) => a.sequence - b.sequence);
      this.#ordered = { structure: this.structure, entries };
    }
    return this.#ordered.entries;
  }

  get config(): ConfigFacts {
    return this.session.facts.config;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  item(id: string): Item | undefined {
    return this.#items.get(id);
  }

  items(): Item[] {
    return this.#items.items();
  }

  /** Puts the page before what is there. Where both know something, the place is the page's and the state stays. */
  prepend({ items, sequences, events }: PastPage): void {
    const older = new TranscriptFold();
    for (const event of events) older.apply(event);
    items.forEach((item, index) => {
      older.#addItem(item, sequences[index] ?? 0);
    });
    for (const [key, entry] of older.#entries) {
      const known = this.#entries.get(key);
      this.#entries.set(key, known ? joined(entry, known) : entry);
    }
    for (const item of older.items())
      if (!this.#items.has(item.item_id) && this.#entries.get(item.item_id)?.kind === "item") this.#items.add(item);
    for (const [id, turn] of older.turns) {
      const known = this.turns.get(id);
      this.turns.set(id, {
        turn_id: id,
        initiator: known?.initiator ?? turn.initiator,
        started_at: known?.started_at ?? turn.started_at,
        ended: known?.ended ?? turn.ended,
      });
    }
    for (const [id, data] of older.#permissions) if (!this.#permissions.has(id)) this.#permissions.set(id, data);
    for (const [id, wait] of older.#waits) this.#waits.set(id, { ...wait, ...this.#waits.get(id) });
    this.structure++;
  }

  #addItem(item: Item, sequence: number): void {
    this.#items.add(item);
    this.#put(item.item_id, { kind: "item", sequence, item_id: item.item_id });
  }

  apply(event: UniversalEvent): void {
    const before = this.#last;
    this.#last = event;
    if (!event.type.startsWith("item.")) this.session.apply(event);
    switch (event.type) {
      case "item.started":
      case "item.updated":
      case "item.completed":
        this.#applyItem(event);
        return;
      case "item.delta":
        this.#items.apply(event);
        return;
      case "item.removed":
        this.#put(event.data.item_id, {
          kind: "removed",
          sequence: event.sequence,
          item_id: event.data.item_id,
          reason: event.data.reason,
          item: this.#items.get(event.data.item_id),
        });
        this.#items.apply(event);
        return;
      case "turn.started":
        this.turns.set(event.data.turn_id, { ...event.data, started_at: event.time, ended: null });
        this.#put(`start ${event.data.turn_id}`, { kind: "turn-start", sequence: event.sequence, turn_id: event.data.turn_id });
        return;
      case "turn.ended":
        this.turns.set(event.data.turn_id, {
          turn_id: event.data.turn_id,
          initiator: this.turns.get(event.data.turn_id)?.initiator ?? null,
          started_at: this.turns.get(event.data.turn_id)?.started_at ?? null,
          ended: { ...event.data, at: event.time },
        });
        this.#put(`end ${event.data.turn_id}`, { kind: "turn-end", sequence: event.sequence, turn_id: event.data.turn_id });
        return;
      case "permission.requested":
      case "permission.resolved":
        this.#wait(event);
        this.#put(event.data.permission_id, { kind: "permission", sequence: event.sequence, data: event.data, at: event.time });
        return;
      case "question.requested":
      case "question.resolved":
        this.#put(event.data.question_id, { kind: "question", sequence: event.sequence, data: event.data, at: event.time });
        return;
      case "session.status":
        if (event.data.status === "retrying" || event.data.status === "stalled") this.#putRetry(event, before);
        return;
      case "config.changed":
        this.structure++;
        return;
      case "task.spawned":
      case "task.status":
      case "task.output":
      case "task.cancelled":
        this.#applyTask(event);
        return;
      default:
        if (isMark(event)) this.#put(`event ${event.sequence}`, { kind: "mark", sequence: event.sequence, event });
    }
  }

  /** Milliseconds a call waited for a person. */
  waited(itemId: string): number {
    let sum = 0;
    for (const { item_id, asked, answered } of this.#waits.values())
      if (item_id === itemId && asked !== undefined && answered !== undefined) sum += Math.max(0, answered - asked);
    return sum;
  }

  /** The event an item began with. */
  sequenceOf(itemId: string): number | undefined {
    return this.#entries.get(itemId)?.sequence;
  }

  /** The message a turn began with. */
  questionOf(turnId: string): Item | undefined {
    return this.#itemsOf(turnId).find((item) => item.role === "user" && item.parent_id === null);
  }

  /** The turn has a call that changed files, as far as calls say. */
  changesFiles(turnId: string): boolean {
    return this.#itemsOf(turnId).some((item) =>
      item.content.some(
        (part) =>
          (part.type === "tool_call" && CHANGING.has(part.tool_kind ?? "")) ||
          (part.type === "file_ref" && part.action !== "read"),
      ),
    );
  }

  /** The turn has a plan of its own, which calls of its to-do tool only repeat. */
  showsPlan(turnId: string): boolean {
    return this.#itemsOf(turnId).some((item) => item.kind === "status" && item.content.some((part) => part.type === "plan"));
  }

  #itemsOf(turnId: string): Item[] {
    const end = this.#entries.get(`end ${turnId}`)?.sequence ?? Number.POSITIVE_INFINITY;
    const start = this.#entries.get(`start ${turnId}`)?.sequence ?? 0;
    return this.entries().flatMap((entry) =>
      entry.kind === "item" && entry.sequence >= start && entry.sequence <= end ? (this.#items.get(entry.item_id) ?? []) : [],
    );
  }

  /** The last permission that was asked for this call. */
  permissionOf(itemId: string): PermissionData | undefined {
    return this.#permissions.get(itemId);
  }

  #wait({ type, time, data }: EventOf<"permission.requested"> | EventOf<"permission.resolved">): void {
    const { item_id } = data.metadata;
    if (item_id === null) return;
    this.#permissions.set(item_id, data);
    const at = Date.parse(time);
    const known = this.#waits.get(data.permission_id);
    this.#waits.set(data.permission_id, {
      ...known,
      item_id,
      ...(type === "permission.requested" ? { asked: at } : { answered: at }),
    });
  }

  #applyItem(event: EventOf<"item.started"> | EventOf<"item.updated"> | EventOf<"item.completed">): void {
    this.#items.apply(event);
    const { item_id } = event.data.item;
    if (!this.#entries.has(item_id)) this.#put(item_id, { kind: "item", sequence: event.sequence, item_id });
    else if (event.data.item.kind === "tool_call") this.structure++;
  }

  #putRetry(event: EventOf<"session.status">, before: UniversalEvent | undefined): void {
    const follows = before?.type === "session.status" && before.data.status === event.data.status;
    const key = (follows && this.#retry) || `retry ${event.sequence}`;
    this.#retry = key;
    this.#put(key, { kind: "retry", sequence: event.sequence, data: event.data });
  }

  #applyTask(event: EventOf<"task.spawned"> | EventOf<"task.status"> | EventOf<"task.output"> | EventOf<"task.cancelled">): void {
    const key = `task ${event.data.task_id}`;
    const known = this.#entries.get(key);
    const task: Task =
      known?.kind === "task"
        ? { ...known.task }
        : // The session's own stream does not show when it begins: until its end it counts as running.
          {
            ...{ task_id: event.data.task_id, title: event.data.task_id, by: "agent" },
            ...{ status: "running", output: "", exit_code: null, error: null },
          };
    if (event.type === "task.spawned") {
      const { tool_name, title, args, owner } = event.data;
      task.title = title ?? `${tool_name} ${JSON.stringify(args)}`;
      task.by = tool_name === "shell" && owner !== "agent" ? "person" : "agent";
    }
    if (event.type === "task.output") task.output += event.data.chunk;
    if (event.type === "task.cancelled") task.status = "cancelled";
    if (event.type === "task.status") {
      task.status = event.data.status;
      task.exit_code = event.data.exit_code ?? null;
      task.error = event.data.error ?? null;
    }
    this.#put(key, { kind: "task", sequence: event.sequence, task });
  }

  /** A known key keeps its place; only its state changes. */
  #put(key: string, entry: { sequence: number } & EntryState): void {
    this.#entries.set(key, { ...entry, sequence: this.#entries.get(key)?.sequence || entry.sequence, key });
    this.structure++;
  }
}
