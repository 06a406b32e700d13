/**
 * The shape of a scenario: plain data that says what the scripted model answers, what the person does, and what must come of it. It lives here because each
 * agent's folder brings scenarios of its own. It holds no behaviour: the model server of `verify` plays `steps`; its runner plays `prompt`, `actions`,
 * `replies` and checks `expect`.
 */

import Type from "typebox";
import { Value } from "typebox/value";
import { ErrorCode, PermissionMode, StopReason } from "../schema/event-data.ts";
import { McpServerConfig, TrustChoice } from "../schema/session.ts";

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Json = Type.Record(Type.String(), Type.Unknown());

/** Tools every coding agent has under some name; `tool-names.ts` says which. */
export const LogicalTool = Type.Union([
  Type.Literal("shell"),
  Type.Literal("read"),
  Type.Literal("write"),
  Type.Literal("edit"),
  Type.Literal("search"),
  Type.Literal("glob"),
  Type.Literal("todo"),
  Type.Literal("ask"),
  Type.Literal("subagent"),
  Type.Literal("plan"),
  Type.Literal("enter_plan"),
  Type.Literal("web_fetch"),
  Type.Literal("web_search"),
  Type.Literal("mcp"),
]);
export type LogicalTool = Type.Static<typeof LogicalTool>;

const TextBlock = Type.Object({
  type: Type.Literal("text"),
  text: Text,
  /** In how many deltas the text is streamed; without it, one delta for about 24 characters, at most 40. */
  chunks: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Only the Responses protocol has phases; others ignore it. */
  phase: Type.Optional(Type.Union([Type.Literal("commentary"), Type.Literal("partial_answer"), Type.Literal("final_answer")])),
});

const ThinkingBlock = Type.Object({
  type: Type.Literal("thinking"),
  text: Text,
  chunks: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Responses only: `raw` streams reasoning text instead of a summary, `both` streams both. */
  style: Type.Optional(Type.Union([Type.Literal("summary"), Type.Literal("raw"), Type.Literal("both")])),
});

/** Thinking the provider does not show: `redacted_thinking`, or an encrypted item without a summary. */
const RedactedThinkingBlock = Type.Object({ type: Type.Literal("redacted_thinking") });

/** A tool call. `name` is logical and mapped to the agent's own tool; anything else goes into `native_name` and is sent as it is. */
const LogicalToolBlock = Type.Object({
  type: Type.Literal("tool"),
  name: LogicalTool,
  input: Json,
  id: Type.Optional(Text),
  chunks: Type.Optional(Type.Integer({ minimum: 1 })),
});
const NativeToolBlock = Type.Object({
  type: Type.Literal("tool"),
  native_name: Text,
  input: Type.Optional(Json),
  /** Sent byte for byte instead of `input`: broken JSON, or the free text of a custom tool. */
  raw_arguments: Type.Optional(Text),
  /** Responses only: a `custom_tool_call`, whose `raw_arguments` is free text. */
  custom: Type.Optional(Type.Boolean()),
  /** Responses only: the namespace of the tool. */
  namespace: Type.Optional(Text),
  id: Type.Optional(Text),
  chunks: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** A tool the provider itself ran: web search. Protocols without server tools leave it out. */
const ServerToolBlock = Type.Object({
  type: Type.Literal("server_tool"),
  name: Type.Literal("web_search"),
  query: Text,
  results: Type.Optional(Type.Array(Type.Object({ title: Text, url: Text }))),
});

const RefusalBlock = Type.Object({ type: Type.Literal("refusal"), text: Text });

/** A block in the provider's own words, for what this vocabulary has no word for. A protocol without an entry leaves it out. */
const NativeBlock = Type.Object({
  type: Type.Literal("native"),
  /** Messages: a content block. */
  anthropic: Type.Optional(Json),
  /** Responses: an output item. */
  responses: Type.Optional(Json),
  /** Chat Completions: a `delta` object. */
  chat: Type.Optional(Json),
  /** Gemini: a part. */
  gemini: Type.Optional(Json),
});

/** A whole streamed event in the provider's own words, e.g. one that no client knows. Not sent in answers that do not stream. */
const NativeEventBlock = Type.Object({
  type: Type.Literal("native_event"),
  event: Type.Optional(Text),
  data: Type.Unknown(),
  only: Type.Optional(
    Type.Array(Type.Union([Type.Literal("anthropic"), Type.Literal("responses"), Type.Literal("chat"), Type.Literal("gemini")])),
  ),
});

export const Block = Type.Union([
  TextBlock,
  ThinkingBlock,
  RedactedThinkingBlock,
  LogicalToolBlock,
  NativeToolBlock,
  ServerToolBlock,
  RefusalBlock,
  NativeBlock,
  NativeEventBlock,
]);
export type Block = Type.Static<typeof Block>;

export const Usage = Type.Object({
  input: Type.Optional(Count),
  output: Type.Optional(Count),
  cache_read: Type.Optional(Count),
  cache_write: Type.Optional(Count),
  reasoning: Type.Optional(Count),
});
export type Usage = Type.Static<typeof Usage>;

const Times = Type.Optional(Type.Integer({ minimum: 1, description: "how many attempts at this step fail; without it, all" }));

export const Fault = Type.Union([
  /** An HTTP error. Without `body` the provider's own error body for that status is sent. */
  Type.Object({
    kind: Type.Literal("http"),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    body: Type.Optional(Type.Unknown()),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    message: Type.Optional(Text),
    times: Times,
  }),
  /** The conversation is too long, said as this provider says it. */
  Type.Object({ kind: Type.Literal("context_overflow"), times: Times }),
  /** `response.failed` of the Responses protocol; an error inside the stream for the others. */
  Type.Object({ kind: Type.Literal("failed"), code: Text, message: Type.Optional(Text), times: Times }),
  /** The socket dies after so many content deltas (0: after the headers). */
  Type.Object({ kind: Type.Literal("cut"), after_chunks: Count, times: Times }),
  /** The stream ends in good order but before its last events. */
  Type.Object({ kind: Type.Literal("eof"), after_chunks: Count, times: Times }),
  /** Silence. After so many deltas (default 0: before the headers) nothing comes until the client closes the connection. */
  Type.Object({ kind: Type.Literal("hang"), after_chunks: Type.Optional(Count), times: Times }),
  /** An error event in the middle of the stream. */
  Type.Object({
    kind: Type.Literal("sse_error"),
    after_chunks: Type.Optional(Count),
    error_type: Type.Optional(Text),
    message: Type.Optional(Text),
    times: Times,
  }),
  /** Bytes that are not the protocol: half a JSON object in an event. */
  Type.Object({ kind: Type.Literal("garbage"), after_chunks: Type.Optional(Count), text: Type.Optional(Text), times: Times }),
  /** The connection is reset before any answer. */
  Type.Object({ kind: Type.Literal("refuse_connection"), times: Times }),
]);
export type Fault = Type.Static<typeof Fault>;

export const Stop = Type.Union([
  Type.Literal("end"),
  Type.Literal("tool"),
  Type.Literal("max_tokens"),
  Type.Literal("refusal"),
  Type.Literal("content_filter"),
  Type.Literal("pause"),
  Type.Literal("stop_sequence"),
  Type.Literal("context_window"),
  Type.Literal("malformed_call"),
]);
export type Stop = Type.Static<typeof Stop>;

/** One answer of the model. */
export const ModelStep = Type.Object({
  blocks: Type.Array(Block),
  /** Default: `tool` when a tool is called, `refusal` when there is a refusal block, else `end`. */
  stop: Type.Optional(Stop),
  /** The stop word itself, sent as it is; wins over `stop`. */
  native_stop: Type.Optional(Text),
  usage: Type.Optional(Usage),
  /** The answer names this model instead of the one that was asked for. */
  model: Type.Optional(Text),
  /** Wait before the headers. */
  delay_ms: Type.Optional(Count),
  /** Wait before each content delta. */
  chunk_delay_ms: Type.Optional(Count),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  fault: Type.Optional(Fault),
});
export type ModelStep = Type.Static<typeof ModelStep>;

/** When the runner acts: the first time something is seen in this turn's events (for a delivery: in those of the turn before). */
export const When = Type.Union([
  /** Before the prompt of this turn is sent. */
  Type.Object({ on: Type.Literal("start") }),
  /** The text streamed by the agent so far contains this. */
  Type.Object({ on: Type.Literal("text"), text: Text }),
  /** An event of this type has come (`item.started`, `permission.requested`, …), the nth one. */
  Type.Object({ on: Type.Literal("event"), type: Text, nth: Type.Optional(Type.Integer({ minimum: 1 })) }),
  /** A tool item is running and its output contains this (empty: any tool that has started). */
  Type.Object({ on: Type.Literal("tool"), output: Type.Optional(Text) }),
  /** The model server has got the request for this step of this turn. */
  Type.Object({ on: Type.Literal("request"), step: Type.Integer({ minimum: 1 }) }),
]);
export type When = Type.Static<typeof When>;

export const Action = Type.Union([
  Type.Object({ do: Type.Literal("interrupt"), when: When }),
  Type.Object({ do: Type.Literal("kill_agent"), when: When, signal: Type.Optional(Text) }),
  Type.Object({ do: Type.Literal("terminate"), when: When }),
  Type.Object({ do: Type.Literal("set_model"), when: When, model: Text }),
  /** `or_busy`: it may be refused because a turn runs; then nothing is expected of the rest. */
  Type.Object({
    do: Type.Literal("set_permission_mode"),
    when: When,
    mode: PermissionMode,
    or_busy: Type.Optional(Type.Boolean()),
  }),
  /** A change that the daemon must refuse, as a whole. */
  Type.Object({ do: Type.Literal("refused_update"), when: When, patch: Json }),
  Type.Object({ do: Type.Literal("compact"), when: When }),
  /** The files go back to what they were before this turn of the session: 1 is its first. */
  Type.Object({ do: Type.Literal("rewind"), when: When, before_turn: Type.Integer({ minimum: 1 }) }),
  /** Something only this agent knows; its own runner gives it a meaning. */
  Type.Object({ do: Type.Literal("native"), when: When, name: Text, input: Type.Optional(Type.Unknown()) }),
]);
export type Action = Type.Static<typeof Action>;

export const Attachment = Type.Union([
  Type.Object({ type: Type.Literal("image"), media_type: Text, base64: Text, name: Type.Optional(Text) }),
  Type.Object({ type: Type.Literal("file"), path: Text }),
]);
export type Attachment = Type.Static<typeof Attachment>;

/** How the prompt of this turn is delivered: after the one before has ended, into its queue, or into its middle. */
export const Delivery = Type.Union([
  Type.Object({ mode: Type.Literal("after") }),
  Type.Object({ mode: Type.Literal("queue"), when: When }),
  Type.Object({ mode: Type.Literal("steer"), when: When }),
  /** After the turn before, in a new process that resumes the session. */
  Type.Object({ mode: Type.Literal("resume") }),
  /** After the turn before, in a daemon that was started again because the last one was killed. */
  Type.Object({ mode: Type.Literal("crash") }),
  /** After the turn before, in a fork of the session. */
  Type.Object({ mode: Type.Literal("fork") }),
  /** After the turn before, in the session that a rewind of the conversation made: it knows nothing from this turn on. 1 is the first. */
  Type.Object({ mode: Type.Literal("rewind"), before_turn: Type.Integer({ minimum: 1 }) }),
]);
export type Delivery = Type.Static<typeof Delivery>;

export const Turn = Type.Object({
  prompt: Text,
  /** The prompt is one of the agent's own commands, chosen by the person. Without it, a prompt that begins with a slash is one. */
  command: Type.Optional(Type.Boolean()),
  /** Whether a permission must be requested in this turn, or must not be. */
  asks: Type.Optional(Type.Boolean()),
  attachments: Type.Optional(Type.Array(Attachment)),
  delivery: Type.Optional(Delivery),
  /** The model's answers, in order. A request beyond the last one is answered with `Done.` */
  steps: Type.Array(ModelStep),
  actions: Type.Optional(Type.Array(Action)),
});
export type Turn = Type.Static<typeof Turn>;

/** Replies are used in the order in which the agent asks; the last one repeats. Without any, permissions are allowed once. */
export const PermissionReply = Type.Object({
  reply: Type.Union([Type.Literal("once"), Type.Literal("always"), Type.Literal("reject"), Type.Literal("none")]),
  message: Type.Optional(Text),
  /** Allow with this input instead of the asked one. */
  updated_input: Type.Optional(Json),
  interrupt: Type.Optional(Type.Boolean()),
  /** Reply only to requests whose text contains this. */
  matching: Type.Optional(Text),
});
export type PermissionReply = Type.Static<typeof PermissionReply>;

export const QuestionReply = Type.Union([
  /** For each question, the chosen labels; a label that is not offered is free text. */
  Type.Object({ answers: Type.Array(Type.Array(Text)) }),
  Type.Object({ reject: Type.Literal(true), message: Type.Optional(Text) }),
  Type.Object({ none: Type.Literal(true) }),
]);
export type QuestionReply = Type.Static<typeof QuestionReply>;

export const SessionSettings = Type.Object({
  permission_mode: Type.Optional(PermissionMode),
  model: Type.Optional(Text),
  system_prompt: Type.Optional(Text),
  /** `builtin: "echo"` is `mcp-echo-server.ts`, which the runner starts. */
  mcp_servers: Type.Optional(
    Type.Array(Type.Union([McpServerConfig, Type.Object({ name: Text, builtin: Type.Literal("echo") })])),
  ),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** Files in the working folder before the session starts: path → content. */
  files: Type.Optional(Type.Record(Type.String(), Type.String())),
  git: Type.Optional(Type.Boolean()),
  /** The person's own configuration allows every command and every edit; the profile knows how that is written. */
  permissive: Type.Optional(Type.Boolean()),
  /** Whether the agent loads the settings among these files. Left out: it does, so that a scenario may bring some along. */
  trust: Type.Optional(TrustChoice),
  /** Settings only this agent knows. */
  native: Type.Optional(Json),
});
export type SessionSettings = Type.Static<typeof SessionSettings>;

export const Expectation = Type.Object({
  /** How many turns the session had. */
  turns: Type.Optional(Count),
  /** How the last turn ends: `end_turn`, `interrupted`, `error`, `refusal`, `output_length`, …; a list allows any of them. */
  stop_reason: Type.Optional(Type.Union([StopReason, Type.Array(StopReason)])),
  error_code: Type.Optional(Type.Union([ErrorCode, Type.Array(ErrorCode)])),
  /** Event types that must occur, in any order. */
  events: Type.Optional(Type.Array(Text)),
  /** Event types that must not occur. */
  no_events: Type.Optional(Type.Array(Text)),
  /** Each of these is part of the last agent message. */
  final_text: Type.Optional(Type.Array(Text)),
  /** Each of these occurs in some agent text, thought or tool output. */
  seen_text: Type.Optional(Type.Array(Text)),
  /** Logical tools whose calls must be visible as items. */
  tools: Type.Optional(Type.Array(LogicalTool)),
  /** Files that must exist at the end: path → what they contain; `null`: must not exist. */
  files: Type.Optional(Type.Record(Type.String(), Type.Union([Text, Type.Null()]))),
  /** The session is refused as `unsupported`, because the agent could not honour it. Nothing else is expected then. */
  refused: Type.Optional(Type.Boolean()),
  /** Files that must not contain this, if they exist. */
  files_without: Type.Optional(Type.Record(Type.String(), Text)),
  /** The history in the last request of the model must contain each of these. */
  model_saw: Type.Optional(Type.Array(Text)),
  /** The last request of the model must contain none of these. */
  model_forgot: Type.Optional(Type.Array(Text)),
});
export type Expectation = Type.Static<typeof Expectation>;

export const Scenario = Type.Object({
  name: Type.String({ pattern: "^[a-z0-9][a-z0-9._-]*$" }),
  title: Text,
  tags: Type.Optional(Type.Array(Text)),
  turns: Type.Array(Turn),
  /** Played by the agent's own side calls instead of the built-in answers: naming the session, summarising for compaction. */
  side: Type.Optional(Type.Object({ title: Type.Optional(ModelStep), summary: Type.Optional(ModelStep) })),
  replies: Type.Optional(
    Type.Object({ permissions: Type.Optional(Type.Array(PermissionReply)), questions: Type.Optional(Type.Array(QuestionReply)) }),
  ),
  session: Type.Optional(SessionSettings),
  expect: Type.Optional(Expectation),
  /** What it needs of an agent that cannot be distinguished from the rest of it. `skill_folder`: it is handed skills as files, `mcp_server`: as a tool. `fork_place`: it can branch off at an earlier point. */
  needs: Type.Optional(Type.Array(Type.Enum(["skill_folder", "mcp_server", "fork_place"]))),
  /** Of an agent's own scenarios: those of its family that play it. Absent: all. */
  only: Type.Optional(Type.Array(Text)),
});
export type Scenario = Type.Static<typeof Scenario>;

/** What an unknown value has wrong as a scenario; empty when it is one. */
export function scenarioErrors(value: unknown): string[] {
  if (Value.Check(Scenario, value)) return [];
  return Value.Errors(Scenario, value).map((error) => `${error.instancePath || "/"}: ${error.message}`);
}

/** Whether the scenario is meant for this agent. */
export const runsOn = ({ only }: Scenario, agent: string): boolean => only?.includes(agent) ?? true;
