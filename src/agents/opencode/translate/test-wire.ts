// Builds recorded traffic for tests: the rows of one server, in the shapes the recorder writes. Not part of the product.
import type { EventOf, UniversalEvent } from "../../../schema/event.ts";
import type { EventDataOf, EventType } from "../../../schema/event-data.ts";
import { type Replay, replayTrace, type TraceRow } from "../../../verify/replay.ts";
import { OpencodeTranslator } from "./translator.ts";

export const SESSION = "ses_root";
const STREAM = "/event";

/** A conversation that is written row by row and then replayed. */
export class Wire {
  readonly rows: TraceRow[] = [];
  #events = 0;
  #requests = 0;

  row(dir: TraceRow["dir"], data: unknown): this {
    this.rows.push({ t_ms: this.rows.length, dir, data });
    return this;
  }

  event(type: string, properties: object = {}, id = `evt_${++this.#events}`, stream = STREAM): this {
    return this.row("sse", { stream, json: { id, type, properties } });
  }

  request(method: string, path: string, body?: unknown): number {
    this.row("http", { id: ++this.#requests, phase: "request", method, path, ...(body === undefined ? {} : { body }) });
    return this.#requests;
  }

  answer(id: number, status: number, body?: unknown): this {
    return this.row("http", {
      id,
      phase: "response",
      status,
      ...(body === undefined ? {} : { content_type: "application/json", body }),
    });
  }

  ask(method: string, path: string, body: unknown, status: number, reply?: unknown): this {
    return this.answer(this.request(method, path, body), status, reply);
  }

  /** A session of ours. */
  created(id = SESSION, more: object = {}): this {
    return this.ask("POST", "/session", {}, 200, { id, title: "t", directory: "/p", time: { created: 1, updated: 1 }, ...more });
  }

  prompt(text: string, session = SESSION): this {
    this.ask("POST", `/session/${session}/prompt_async`, { parts: [{ type: "text", text }] }, 204);
    return this;
  }

  status(type: string, more: object = {}, sessionID = SESSION): this {
    return this.event("session.status", { sessionID, status: { type, ...more } });
  }

  idle(sessionID = SESSION): this {
    return this.status("idle", {}, sessionID).event("session.idle", { sessionID });
  }

  user(id: string, text: string, sessionID = SESSION): this {
    this.event("message.updated", { sessionID, info: { id, sessionID, role: "user", time: { created: 2 } } });
    return this.part(id, `${id}_p`, { type: "text", text }, sessionID);
  }

  assistant(id: string, more: object = {}, sessionID = SESSION): this {
    const info = { id, sessionID, role: "assistant", parentID: "msg_u", time: { created: 3 }, cost: 0, tokens: {}, ...more };
    return this.event("message.updated", { sessionID, info });
  }

  done(id: string, finish: string | null = "stop", more: object = {}, sessionID = SESSION): this {
    return this.assistant(id, { time: { created: 3, completed: 9 }, ...(finish === null ? {} : { finish }), ...more }, sessionID);
  }

  part(messageID: string, id: string, part: object, sessionID = SESSION): this {
    return this.event("message.part.updated", { sessionID, part: { id, messageID, sessionID, ...part } });
  }

  delta(messageID: string, partID: string, delta: string, sessionID = SESSION): this {
    return this.event("message.part.delta", { sessionID, messageID, partID, field: "text", delta });
  }

  tool(messageID: string, id: string, tool: string, state: object, sessionID = SESSION): this {
    return this.part(messageID, id, { type: "tool", tool, callID: `call_${id}`, state }, sessionID);
  }

  error(name: string, data: object, sessionID = SESSION): this {
    return this.event("session.error", { sessionID, error: { name, data } });
  }

  /** Opens a turn with an assistant message in progress. */
  begun(): this {
    return this.created().prompt("hi").user("msg_u", "hi").status("busy").assistant("msg_a");
  }

  replay(): Told {
    return new Told(replayTrace(() => new OpencodeTranslator(), this.rows, { location: "test" }));
  }
}

/** What was reported, with the questions tests ask of it. */
export class Told {
  readonly replay: Replay;
  constructor(replay: Replay) {
    this.replay = replay;
  }

  get events(): UniversalEvent[] {
    return this.replay.sessions[0]?.events ?? [];
  }

  get faults(): unknown[] {
    return [...this.replay.unparsed, ...this.replay.sessions.flatMap((session) => session.violations)];
  }

  of<T extends EventType>(type: T): EventDataOf[T][] {
    return this.events.filter((event): event is EventOf<T> & UniversalEvent => event.type === type).map(({ data }) => data);
  }

  /** Finished items as `role status: text`. */
  get items(): string[] {
    return this.of("item.completed").map(({ item }) => {
      const text = item.content
        .map((part) => ("text" in part ? part.text : "output" in part ? part.output : part.type))
        .join("|");
      return `${item.kind === "message" ? item.role : item.kind} ${item.status}: ${text}`;
    });
  }

  get stops(): string[] {
    return this.of("turn.ended").map(({ stop_reason, error_code }) => [stop_reason, error_code].filter(Boolean).join(" "));
  }
}
