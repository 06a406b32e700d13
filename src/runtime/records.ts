/**
 * The records of a session's journal. They are the only state: everything else is a fold of them (`state.ts`). A record is written before what it says is acted
 * upon: those marked [written] survive a crash of the process by then, those marked [durable] one of the machine.
 */
import Type from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { Settings } from "./settings.ts";

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Item = Type.Record(Text, Type.Unknown());
const Items = Type.Array(Item);
const request = { n: Count, attempt: Count };
/** `n.attempt.index`: a provider may use the same call id twice. */
const call = { call: Text };

/** One file a call changes. Null is a file that does not exist. */
export const FileChange = Type.Object({
  path: Text,
  /** Digest before. */
  pre: Type.Union([Text, Type.Null()]),
  /** Digest after. Both contents are in the blob store. */
  post: Type.Union([Text, Type.Null()]),
  /** Permission bits of the new file. */
  mode: Count,
});
export type FileChange = Type.Static<typeof FileChange>;

/** What a call may do. `unknown` is never run twice. */
export const Effect = Type.Union([Type.Literal("none"), Type.Literal("file"), Type.Literal("unknown")]);
export type Effect = Type.Static<typeof Effect>;

export const TurnEndReason = Type.Union([
  Type.Literal("end_turn"),
  Type.Literal("output_length"),
  Type.Literal("refusal"),
  Type.Literal("interrupted"),
  Type.Literal("max_turns"),
  Type.Literal("max_budget"),
  Type.Literal("loop"),
  Type.Literal("error"),
]);
export type TurnEndReason = Type.Static<typeof TurnEndReason>;

export const TokenCount = Type.Object({ input: Count, output: Count, cached: Count, reasoning: Count });
export type TokenCount = Type.Static<typeof TokenCount>;

const schemas = {
  "session.opened": { session_id: Text, settings: Settings },
  "settings.changed": { settings: Settings },
  "turn.started": { turn_id: Text, items: Items },
  /** Input in the middle of a turn: steering, or a note of ours to the model. */
  "input.added": { why: Type.Union([Type.Literal("steer"), Type.Literal("note")]), items: Items },
  /** `steer`: for the running turn, at its next step. Otherwise it starts a turn of its own. */
  "message.queued": { message_id: Text, steer: Type.Boolean(), items: Items },
  "message.removed": { message_id: Text, why: Type.Union([Type.Literal("sent"), Type.Literal("removed")]) },
  /** [written]; [durable] when something before it could not be had again: a message, the outcome of a call with an effect */
  "request.sent": {
    ...request,
    purpose: Type.Union([Type.Literal("step"), Type.Literal("summary"), Type.Literal("compact")]),
    body_sha256: Text,
    body_bytes: Count,
  },
  /** Bytes of the answer, verbatim. */
  received: { ...request, encoding: Type.Union([Type.Literal("utf8"), Type.Literal("base64")]), bytes: Text },
  "response.failed": {
    ...request,
    code: Text,
    message: Text,
    retryable: Type.Boolean(),
    wait_ms: Type.Union([Count, Type.Null()]),
  },
  "response.ended": {
    ...request,
    outcome: Type.Union([Type.Literal("completed"), Type.Literal("incomplete")]),
    reason: Type.Union([Text, Type.Null()]),
    items: Items,
    usage: Type.Union([TokenCount, Type.Null()]),
  },
  "call.accepted": { ...call, call_id: Text, name: Text, args_digest: Text },
  "call.approved": { ...call, input_digest: Text, by: Type.Union([Type.Literal("policy"), Type.Literal("person")]) },
  /** [durable] unless the effect is none. `result` is what the model gets when the changes turn out to be done. */
  "call.started": {
    ...call,
    effect: Effect,
    changes: Type.Array(FileChange),
    result: Type.Union([Text, Type.Null()]),
    /** After this time it is ended; null: never. Journals of older versions do not have it. */
    timeout_ms: Type.Optional(Type.Union([Count, Type.Null()])),
  },
  "call.output": { ...call, stream: Type.Union([Type.Literal("stdout"), Type.Literal("stderr")]), chunk: Text },
  "call.finished": {
    ...call,
    output: Type.Union([Text, Items]),
    is_error: Type.Boolean(),
    /** `bad_arguments`, `denied`, `interrupted`, `recovered`, `state_unknown`; null for an ordinary end. */
    note: Type.Union([Text, Type.Null()]),
    exit_code: Type.Union([Type.Integer(), Type.Null()]),
    duration_ms: Count,
    artifacts: Type.Array(Text),
  },
  /** A file that a tool gave back, for the person. */
  "call.file": { ...call, name: Text, mime: Text, base64: Text },
  /** The tokens that a sub-agent used count like the turn's own. */
  "child.ended": { ...call, session_id: Text, usage: Type.Union([TokenCount, Type.Null()]) },
  /** A skill is in use: its text as it was read, and what it allows without a question until the turn ends. */
  "skill.used": {
    name: Text,
    path: Text,
    directory: Text,
    digest: Text,
    text: Text,
    allowed: Type.Array(Text),
    by: Type.Union([Type.Literal("person"), Type.Literal("model")]),
  },
  "plan.updated": { entries: Items },
  /** From here on the conversation is these items. */
  compacted: {
    trigger: Type.Union([Type.Literal("window"), Type.Literal("overflow"), Type.Literal("request")]),
    method: Type.Union([Type.Literal("provider"), Type.Literal("pruned"), Type.Literal("summary")]),
    items: Items,
    pre_tokens: Count,
    post_tokens: Count,
  },
  "turn.ended": {
    turn_id: Text,
    reason: TurnEndReason,
    error_code: Type.Union([Text, Type.Null()]),
    message: Type.Union([Text, Type.Null()]),
  },
} as const;

type Schemas = typeof schemas;
export type RecordType = keyof Schemas;
type Fields<T extends RecordType> = {
  [K in keyof Schemas[T]]: Schemas[T][K] extends Type.TSchema ? Type.Static<Schemas[T][K]> : never;
};

/** A record of one type. */
export type RecordOf<T extends RecordType> = { readonly type: T; readonly time: number } & Readonly<Fields<T>>;
export type JournalRecord = { [T in RecordType]: RecordOf<T> }[RecordType];
/** A record without its time. */
export type RecordDraft = { [T in RecordType]: { readonly type: T } & Readonly<Fields<T>> }[RecordType];

const compiled = new Map<string, Validator>();

/** What is wrong with a value read from a journal; null when it is a record. */
export function recordFault(value: unknown): string | null {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  if (typeof type !== "string" || !Object.hasOwn(schemas, type)) return `unknown record type ${JSON.stringify(type)}`;
  let validator = compiled.get(type);
  if (validator === undefined) {
    const known = type as RecordType;
    validator = Compile(Type.Object({ type: Type.Literal(type), time: Type.Number(), ...schemas[known] }));
    compiled.set(type, validator);
  }
  if (validator.Check(value)) return null;
  const [fault] = validator.Errors(value);
  return `${type}${fault?.instancePath ?? ""} ${fault?.message ?? "is invalid"}`;
}

/** Parses once, at the boundary. Throws with the fault. */
export function parseRecord(text: string): JournalRecord {
  const value: unknown = JSON.parse(text);
  const fault = recordFault(value);
  if (fault !== null) throw new Error(`The journal has a record that is none: ${fault}.`);
  return value as JournalRecord;
}

/** The records of one type. The compiler cannot follow a filter by a type parameter. */
export const recordsOf = <T extends RecordType>(records: readonly JournalRecord[], type: T): RecordOf<T>[] =>
  records.filter((record) => record.type === type) as unknown as RecordOf<T>[];
