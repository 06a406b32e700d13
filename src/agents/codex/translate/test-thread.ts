// Test support: writes a conversation with the app-server line by line and replays it as a session would see it.
import type { EventOf, UniversalEvent } from "../../../schema/event.ts";
import type { EventType } from "../../../schema/event-data.ts";
import type { Item } from "../../../schema/item.ts";
import { foldItems } from "../../../schema/projection/item-projection.ts";
import { type Replay, replayTrace, type TraceRow } from "../../../verify/replay.ts";
import type { JsonRecord } from "../../json.ts";
import { CodexTranslator } from "./translator.ts";

export class Conversation {
  readonly rows: TraceRow[] = [];
  #requests = 0;

  in(data: unknown): this {
    this.rows.push({ t_ms: this.rows.length, dir: "in", data });
    return this;
  }

  out(data: unknown): this {
    this.rows.push({ t_ms: this.rows.length, dir: "out", data });
    return this;
  }

  exit(code: number | null, signal: string | null = null): this {
    this.rows.push({ t_ms: this.rows.length, dir: "exit", data: { code, signal } });
    return this;
  }

  /** A request of ours and its answer. */
  call(method: string, params: JsonRecord, answer: { result?: unknown; error?: unknown }): this {
    const id = ++this.#requests;
    return this.in({ id, method, params }).out({ id, ...answer });
  }

  notify(method: string, params: JsonRecord): this {
    return this.out({ method, params, emittedAtMs: 1 });
  }

  started(thread = "th"): this {
    const native = { id: thread, cwd: "/w", name: null, parentThreadId: null };
    const result = {
      thread: native,
      model: "gpt-5.5",
      cwd: "/w",
      approvalPolicy: "on-request",
      sandbox: { type: "workspaceWrite" },
    };
    return this.call("thread/start", { cwd: "/w" }, { result }).notify("thread/started", { thread: native });
  }

  turn(turn = "tu", thread = "th"): this {
    return this.call("turn/start", { threadId: thread, input: [] }, { result: { turn: { id: turn, rootTurnId: turn } } }).notify(
      "turn/started",
      {
        threadId: thread,
        turn: { id: turn, rootTurnId: turn },
      },
    );
  }

  item(phase: "started" | "completed", item: JsonRecord, turn = "tu", thread = "th"): this {
    return this.notify(`item/${phase}`, { threadId: thread, turnId: turn, item });
  }

  whole(item: JsonRecord, turn = "tu", thread = "th"): this {
    return this.item("started", item, turn, thread).item("completed", item, turn, thread);
  }

  delta(
    itemId: string,
    delta: string,
    method = "item/agentMessage/delta",
    turn = "tu",
    thread = "th",
    more: JsonRecord = {},
  ): this {
    return this.notify(method, { threadId: thread, turnId: turn, itemId, delta, ...more });
  }

  done(status = "completed", more: JsonRecord = {}, turn = "tu", thread = "th"): this {
    return this.notify("turn/completed", {
      threadId: thread,
      turn: { id: turn, rootTurnId: turn, status, error: null, items: [], ...more },
    });
  }

  replay(): Replay {
    return replayTrace(() => new CodexTranslator(), this.rows, { location: "codex" });
  }

  /** The only session's events; throws when a rule of the grammar is broken or something is unparsed. */
  events(): UniversalEvent[] {
    const { sessions, unparsed } = this.replay();
    const [session] = sessions;
    if (!session || sessions.length !== 1) throw new Error(`${sessions.length} sessions`);
    if (unparsed.length > 0 || session.violations.length > 0) throw new Error(JSON.stringify([unparsed, session.violations]));
    return session.events;
  }

  /** Without the empty messages that the session makes for calls. */
  items(): Item[] {
    return foldItems(this.events()).filter(({ kind, content }) => kind !== "message" || content.length > 0);
  }

  of<T extends EventType>(type: T): EventOf<T>["data"][] {
    return this.events().flatMap((event) => (isOf(event, type) ? [event.data] : []));
  }
}

const isOf = <T extends EventType>(event: UniversalEvent, type: T): event is UniversalEvent & EventOf<T> => event.type === type;

export const converse = (): Conversation => new Conversation();

export const message = (id: string, text: string, more: JsonRecord = {}): JsonRecord => ({
  type: "agentMessage",
  id,
  text,
  phase: null,
  ...more,
});
export const command = (id: string, more: JsonRecord = {}): JsonRecord => ({
  type: "commandExecution",
  id,
  command: "/bin/bash -lc 'make all'",
  cwd: "/w",
  processId: "77",
  source: "unifiedExecStartup",
  status: "inProgress",
  commandActions: [],
  aggregatedOutput: null,
  exitCode: null,
  durationMs: null,
  ...more,
});
