// Folds a run of events into what a transcript shows: entries in order, items in their present state. Runs can be put together: an older run before a newer one.
import type { EventOf, UniversalEvent } from "../../../src/schema/event.ts";
import type { ConfigChanged, EventDataOf, EventType, PermissionData, QuestionData } from "../../../src/schema/event-data.ts";
import { ItemProjection } from "../../../src/schema/projection/item-projection.ts";
import type { Item } from "../../../src/schema/item.ts";

/** Events that stand in the transcript as they are. */
const MARKS = [
  "error",
  "session.ended",
  "session.compacted",
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
const isMark = (event: UniversalEvent): event is MarkEvent => marks.has(event.type);

export type Turn = {
  turn_id: string;
  initiator: "client" | "agent" | null;
  started_at: string | null;
  ended: (EventDataOf["turn.ended"] & { at: string }) | null;
};
export type Task = {
  task_id: string;
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
  | { kind: "step"; data: EventDataOf["step.ended"] }
  | { kind: "permission"; data: PermissionData; at: string }
  | { kind: "question"; data: QuestionData; at: string }
  | { kind: "retry"; data: EventDataOf["session.status"] }
  | { kind: "task"; task: Task }
  | { kind: "mark"; event: MarkEvent };
export type Entry = { key: string; sequence: number } & EntryState;

export class TranscriptFold {
  readonly #fold = new ItemProjection();
  readonly #entries = new Map<string, Entry>();
  readonly turns = new Map<string, Turn>();
  /** By permission: the call it was asked for, and when it was asked and answered. A run may know only one of the times. */
  readonly #waits = new Map<string, { item_id: string; asked?: number; answered?: number }>();
  config: ConfigChanged = {};
  /** Counts up whenever entries come, go or change; deltas only change items. */
  structure = 0;
  #last: UniversalEvent | undefined;

  constructor(events: Iterable<UniversalEvent> = []) {
    for (const event of events) this.apply(event);
  }

  entries(): Entry[] {
    return [...this.#entries.values()];
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  item(id: string): Item | undefined {
    return this.#fold.get(id);
  }

  items(): Item[] {
    return this.#fold.items();
  }

  apply(event: UniversalEvent): void {
    const before = this.#last;
    this.#last = event;
    switch (event.type) {
      case "item.started":
      case "item.updated":
      case "item.completed":
        this.#applyItem(event);
        return;
      case "item.delta":
        this.#fold.apply(event);
        return;
      case "item.removed":
        this.#put(event.data.item_id, {
          kind: "removed",
          sequence: event.sequence,
          item_id: event.data.item_id,
          reason: event.data.reason,
          item: this.#fold.get(event.data.item_id),
        });
        this.#fold.apply(event);
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
      case "step.ended":
        this.#put(event.data.step_id, { kind: "step", sequence: event.sequence, data: event.data });
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
        this.config = { ...this.config, ...event.data };
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

  #wait({ type, time, data }: EventOf<"permission.requested"> | EventOf<"permission.resolved">): void {
    const { item_id } = data.metadata;
    if (item_id === null) return;
    const at = Date.parse(time);
    const known = this.#waits.get(data.permission_id);
    this.#waits.set(data.permission_id, {
      ...known,
      item_id,
      ...(type === "permission.requested" ? { asked: at } : { answered: at }),
    });
  }

  #applyItem(event: EventOf<"item.started"> | EventOf<"item.updated"> | EventOf<"item.completed">): void {
    this.#fold.apply(event);
    const { item_id } = event.data.item;
    if (!this.#entries.has(item_id)) this.#put(item_id, { kind: "item", sequence: event.sequence, item_id });
    else if (event.data.item.kind === "tool_call") this.structure++;
  }

  #putRetry(event: EventOf<"session.status">, before: UniversalEvent | undefined): void {
    const follows = before?.type === "session.status" && before.data.status === event.data.status;
    const last = follows ? [...this.#entries.keys()].at(-1) : undefined;
    const key = last?.startsWith("retry ") ? last : `retry ${event.sequence}`;
    this.#put(key, { kind: "retry", sequence: event.sequence, data: event.data });
  }

  #applyTask(event: EventOf<"task.spawned"> | EventOf<"task.status"> | EventOf<"task.output"> | EventOf<"task.cancelled">): void {
    const key = `task ${event.data.task_id}`;
    const known = this.#entries.get(key);
    const task: Task =
      known?.kind === "task"
        ? { ...known.task }
        : { task_id: event.data.task_id, title: event.data.task_id, status: "queued", output: "", exit_code: null, error: null };
    if (event.type === "task.spawned")
      task.title = event.data.title ?? `${event.data.tool_name} ${JSON.stringify(event.data.args)}`;
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
    this.#entries.set(key, { ...entry, key });
    this.structure++;
  }

  /** This run with an older one before it. Where both know something, the place is the older one's and the state the newer one's. */
  static join(older: TranscriptFold, newer: TranscriptFold): TranscriptFold {
    const joined = new TranscriptFold();
    joined.structure = older.structure + newer.structure + 1;
    for (const fold of [older, newer]) {
      for (const item of fold.items()) joined.#fold.apply(stateOf(item));
      for (const [key, entry] of fold.#entries) joined.#entries.set(key, entry);
      for (const [id, turn] of fold.turns) {
        const known = joined.turns.get(id);
        joined.turns.set(id, {
          turn_id: id,
          initiator: turn.initiator ?? known?.initiator ?? null,
          started_at: turn.started_at ?? known?.started_at ?? null,
          ended: turn.ended ?? known?.ended ?? null,
        });
      }
      for (const [id, wait] of fold.#waits) joined.#waits.set(id, { ...joined.#waits.get(id), ...wait });
      joined.config = { ...joined.config, ...fold.config };
    }
    for (const entry of newer.#entries.values()) {
      if (entry.kind !== "removed") continue;
      const item = entry.item ?? older.item(entry.item_id);
      joined.#entries.set(entry.key, { ...entry, item });
      joined.#fold.apply({ ...stateOf(item ?? emptyItem(entry.item_id)), type: "item.removed", data: goneOf(entry) });
    }
    return joined;
  }
}

const envelope = {
  event_id: "",
  sequence: 0,
  time: "",
  session_id: "",
  native_session_id: null,
  synthetic: true,
  source: "daemon",
  raw: null,
} as const;
const stateOf = (item: Item): EventOf<"item.updated"> => ({ ...envelope, type: "item.updated", data: { item } });
const goneOf = (entry: { item_id: string; reason: string }): EventDataOf["item.removed"] => ({
  item_id: entry.item_id,
  native_item_id: null,
  reason: entry.reason,
});
const emptyItem = (item_id: string): Item => ({
  item_id,
  native_item_id: null,
  parent_id: null,
  kind: "unknown",
  role: null,
  content: [],
  status: "completed",
  turn_id: null,
  started_at: "",
  completed_at: null,
});
