// The mock agent's words to drafts. The smallest translator there is: read it first before writing one for a real agent.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import type { NativeMessage, Translation, Translator } from "../../contract.ts";
import { heartbeat, mapped, noted, unparsed } from "../../translation.ts";
import type { MockCommand, MockEvent } from "./wire.ts";
import { isMockCommand, isMockEvent } from "./wire-check.ts";

/** One process serves one session, so everything has the same address. */
export const MOCK_SESSION = "main";

/** What must be remembered of a call until its result: which item it belongs to, and whether its output has begun. */
type Calls = Map<string, { parent: string | null; output: boolean }>;

export function createMockTranslator(): Translator {
  const calls: Calls = new Map();
  return {
    translate({ dir, data }: NativeMessage): Translation[] {
      if (dir === "err") return [mapped(MOCK_SESSION, "stderr")];
      if (dir === "exit") return [mapped(MOCK_SESSION, "exit")];
      if (!hasType(data)) return [unparsed(MOCK_SESSION, "garbage", "a line without a type")];
      if (dir === "in" ? !isMockCommand(data) : !isDelta(data) && !isMockEvent(data))
        return [unparsed(MOCK_SESSION, "unknown", `not a message of the mock agent: ${data.type}`)];
      return [dir === "in" ? sent(data as MockCommand) : received(data as MockEvent, calls)];
    },
  };
}

/** The most frequent message by far, checked by hand. */
const isDelta = (data: { type: string; m?: unknown; d?: unknown; p?: unknown }): boolean =>
  data.type === "text" && typeof data.m === "string" && typeof data.d === "string" && data.p === undefined;

const hasType = (data: unknown): data is { type: string } =>
  typeof data === "object" && data !== null && "type" in data && typeof data.type === "string";

/** What we sent: it opens the client's turn, makes the user's message and settles requests. */
function sent(command: MockCommand): Translation {
  const type = `in:${command.type}`;
  switch (command.type) {
    case "prompt":
      return mapped(MOCK_SESSION, type, [{ do: "turn.start", initiator: "client" }, userMessage(command)]);
    case "steer":
      return mapped(MOCK_SESSION, type, [userMessage(command)]);
    case "permission_reply":
      return mapped(MOCK_SESSION, type, [
        {
          do: "permission.resolve",
          key: command.id,
          status: command.reply === "reject" ? "denied" : "approved",
          resolved_by: "client",
          reply: command.reply,
        },
      ]);
    case "question_reply":
      return mapped(MOCK_SESSION, type, [
        {
          do: "question.resolve",
          key: command.id,
          status: command.answers ? "answered" : "rejected",
          resolved_by: "client",
          ...(command.answers ? { answers: command.answers } : {}),
        },
      ]);
    case "interrupt":
    case "configure":
      return mapped(MOCK_SESSION, type);
    default:
      command satisfies never;
      return unparsed(MOCK_SESSION, "in:unknown", "a command of unknown type");
  }
}

function userMessage({ id, text, attachments }: Extract<MockCommand, { type: "prompt" | "steer" }>): Draft {
  const content: DraftPart[] = [{ type: "text", text }];
  for (const { name, mime, data } of attachments)
    content.push({ type: "media", media: mime.startsWith("image/") ? "image" : "file", mime, base64: data, name });
  return { do: "item.add", synthetic: true, item: { key: `user:${id}`, kind: "message", role: "user", content } };
}

const message = (m: string) => `message:${m}`;
/** What is said is remembered by nobody here: a text like the one before means the same with its own words. */
const REPEAT = { path: ["d"], say: () => true };
const call = (c: string) => `call:${c}`;
const result = (c: string) => `result:${c}`;

/** The first word about a message starts it. */
const startMessage = (m: string, p: string | undefined): Draft => ({
  do: "item.start",
  item: { key: message(m), native_item_id: m, parent: p === undefined ? null : call(p), kind: "message", role: "assistant" },
});

function said({ m, p, d }: { m: string; p?: string; d: string }, part_type: "text" | "reasoning" | "refusal"): Draft[] {
  const delta: Draft = { do: "item.delta", key: message(m), part_type, delta: d };
  return p === undefined ? [delta] : [startMessage(m, p), delta];
}

function received(event: MockEvent, calls: Calls): Translation {
  const { type } = event;
  switch (type) {
    case "hello":
      return mapped(MOCK_SESSION, type, [
        { do: "native_session", id: event.session },
        { do: "event", type: "session.updated", data: { metadata: { resumed: event.resumed, remembered: event.remembered } } },
      ]);
    case "turn":
      return mapped(MOCK_SESSION, type, [
        { do: "turn.start", initiator: event.by === "self" ? "agent" : "client", native_turn_id: event.id },
      ]);
    case "done":
      return mapped(MOCK_SESSION, type, [
        {
          do: "turn.end",
          stop_reason: event.reason,
          ...(event.code ? { error_code: event.code } : {}),
          ...(event.usage ? { usage: event.usage } : {}),
        },
      ]);
    case "text":
    case "thought":
    case "refusal":
      return { ...mapped(MOCK_SESSION, type, said(event, type === "thought" ? "reasoning" : type)), repeat: REPEAT };
    case "part":
      return mapped(MOCK_SESSION, type, [
        startMessage(event.m, event.p),
        { do: "item.complete", key: message(event.m), content: [event.part] },
      ]);
    case "message_end":
      return mapped(MOCK_SESSION, type, [
        { do: "item.complete", key: message(event.m), status: event.failed ? "failed" : "completed" },
      ]);
    case "message_gone":
      return mapped(MOCK_SESSION, type, [{ do: "item.remove", key: message(event.m), reason: event.why }]);
    case "ping":
      return heartbeat(MOCK_SESSION, type);
    case "note":
      return noted(MOCK_SESSION, type, event.name, event.detail);
    case "event":
      return mapped(MOCK_SESSION, `event/${event.event.type}`, [{ do: "event", ...event.event } as Draft]);
    default:
      return receivedWork(event, calls);
  }
}

type Talk =
  | "hello"
  | "turn"
  | "done"
  | "text"
  | "thought"
  | "refusal"
  | "part"
  | "message_end"
  | "message_gone"
  | "ping"
  | "note"
  | "event";

function receivedWork(event: Exclude<MockEvent, { type: Talk }>, calls: Calls): Translation {
  const { type } = event;
  switch (type) {
    case "call":
      return mapped(MOCK_SESSION, type, [startCall(event, calls)]);
    case "call_args":
      return mapped(MOCK_SESSION, type, [{ do: "item.delta", key: call(event.c), part_type: "tool_arguments", delta: event.d }]);
    case "output":
      return mapped(MOCK_SESSION, type, [
        ...startOutput(event.c, calls),
        { do: "item.delta", key: result(event.c), part_type: "tool_output", delta: event.d },
      ]);
    case "result":
      return mapped(MOCK_SESSION, type, endCall(event, calls));
    case "plan":
      return mapped(MOCK_SESSION, type, [
        {
          do: "item.start",
          item: { key: `plan:${event.id}`, kind: "status", role: null, content: [{ type: "plan", entries: event.entries }] },
        },
      ]);
    case "step":
      return mapped(MOCK_SESSION, type, [
        event.end ? { do: "step.end", key: event.id, ...event.end } : { do: "step.start", key: event.id },
      ]);
    case "ask":
      return mapped(MOCK_SESSION, type, [
        {
          do: "permission.request",
          key: event.id,
          action: event.action,
          tool_name: event.name,
          input: event.input,
          call_id: event.c,
          item: call(event.c),
          options: event.options,
          native: { id: event.id },
          ...(event.reason ? { reason: event.reason } : {}),
        },
      ]);
    case "question":
      return mapped(MOCK_SESSION, type, [
        {
          do: "question.request",
          key: event.id,
          questions: event.questions,
          native: { id: event.id },
          ...(event.c ? { call_id: event.c, item: call(event.c) } : {}),
          ...(event.metadata ? { metadata: event.metadata } : {}),
        },
      ]);
    case "withdrawn":
      return mapped(MOCK_SESSION, type, [
        { do: "permission.resolve", key: event.id, status: "denied", resolved_by: "agent" },
        { do: "question.resolve", key: event.id, status: "rejected", resolved_by: "agent" },
      ]);
    case "status":
      return mapped(MOCK_SESSION, type, [{ do: "status", status: event.status }]);
    case "fault":
      return mapped(MOCK_SESSION, type, [
        {
          do: "error",
          error: {
            message: event.message,
            code: event.code,
            details: { error_source: "agent", native_code: event.code, retryable: event.retryable },
          },
        },
      ]);
    default:
      event satisfies never;
      return unparsed(MOCK_SESSION, String(type), `unknown type ${JSON.stringify(type)}`);
  }
}

function startCall(event: Extract<MockEvent, { type: "call" }>, calls: Calls): Draft {
  const { c, m, name, kind, title, input, paths, p, background } = event;
  const parent = m === undefined ? (p === undefined ? null : call(p)) : message(m);
  calls.set(c, { parent, output: false });
  return {
    do: "item.start",
    item: {
      key: call(c),
      native_item_id: c,
      parent,
      kind: "tool_call",
      role: "assistant",
      outlives_turn: background ?? false,
      content: [
        {
          type: "tool_call",
          name,
          arguments: input === undefined ? "" : JSON.stringify(input),
          call_id: c,
          tool_kind: kind,
          title,
          ...(paths ? { paths } : {}),
        },
      ],
    },
  };
}

/** Output makes the result's item when it first comes; a result without output makes it at its end. */
function startOutput(c: string, calls: Calls): Draft[] {
  const known = calls.get(c);
  if (known?.output) return [];
  if (known) known.output = true;
  return [
    {
      do: "item.start",
      synthetic: true,
      item: {
        key: result(c),
        native_item_id: c,
        parent: known?.parent ?? null,
        kind: "tool_result",
        role: "tool",
        content: [{ type: "tool_result", call_id: c, output: "" }],
      },
    },
  ];
}

function endCall(event: Extract<MockEvent, { type: "result" }>, calls: Calls): Draft[] {
  const status = event.error ? "failed" : "completed";
  const start = startOutput(event.c, calls);
  calls.delete(event.c);
  return [
    { do: "item.complete", key: call(event.c), status },
    ...start,
    {
      do: "item.complete",
      key: result(event.c),
      status,
      content: [
        {
          type: "tool_result",
          call_id: event.c,
          output: event.output,
          is_error: event.error ?? false,
          ...(event.exit_code === undefined ? {} : { exit_code: event.exit_code }),
          ...(event.ms === undefined ? {} : { duration_ms: event.ms }),
        },
        ...(event.parts ?? []),
      ],
    },
  ];
}
