/** For tests only: the contract of event frames as strict schemas. A field that is missing, has another type, or stands in no contract is an error. */
import Type from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { FrameType } from "./frame.ts";

const Text = Type.String();
const Uuid = Type.String({ pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" });
const U64 = Type.Integer({ minimum: 0 });
const I32 = Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 });
const Fields = Type.Object({});
const Texts = Type.Array(Text);
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(schema);
const artifacts = maybe(Type.Array(Type.Object({ artifact_id: Text })));

/** A task's id is that of its stream: in version 1 a uuid, like every other. */
const fieldsOf = (Id: Type.TString): Record<FrameType, Type.TProperties> => ({
  session_started: { input: Text },
  output_text_delta: { delta: Text },
  session_ended: { reason: Text },
  tool_started: { tool_id: Uuid, name: Text, args: Fields, timeout_ms: orNull(U64) },
  tool_stdout: { tool_id: Uuid, chunk: Text },
  tool_stderr: { tool_id: Uuid, chunk: Text },
  tool_ended: { tool_id: Uuid, exit_code: I32, duration_ms: U64, artifacts: orNull(Fields) },
  tool_failed: { tool_id: Uuid, error: Type.String({ minLength: 1 }) },
  provider_event: {
    provider: Type.String({ minLength: 1 }),
    status: Type.Enum(["event", "done", "invalid_json"]),
    event_name: orNull(Text),
    data: orNull(Fields),
    raw: orNull(Text),
    errors: Texts,
    response_errors: Texts,
  },
  checkpoint_created: {
    checkpoint_id: Uuid,
    label: Text,
    created_at_ms: U64,
    files: Texts,
    auto: Type.Boolean(),
    tool_name: orNull(Text),
  },
  checkpoint_rewound: { checkpoint_id: Uuid, label: Text, files: Texts },
  checkpoint_failed: { action: Type.Enum(["create", "rewind"]), error: Text },
  artifact_written: { artifact_id: Text, kind: Text, bytes: U64, digest: Text, preview: maybe(Text) },
  skill_catalog_updated: { count: U64, roots: Texts, collisions: maybe(Texts) },
  skill_loaded: { name: Text, path: Text, digest: Text, frontmatter: Fields, warnings: maybe(Texts) },
  skill_invoked: {
    name: Text,
    args: maybe(Text),
    mode: Type.Enum(["manual", "auto"]),
    effective_allowed_tools: maybe(Texts),
  },
  skill_warning: { name: maybe(Text), kind: Text, detail: Text },
  tool_task_spawned: {
    task_id: Id,
    tool_name: Text,
    args: Fields,
    cwd: maybe(Text),
    title: maybe(Text),
    execution_mode: Type.Enum(["pipes", "pty"]),
    origin_session_id: maybe(Id),
    artifacts,
  },
  tool_task_status: {
    task_id: Id,
    status: Text,
    exit_code: maybe(I32),
    started_at_ms: maybe(U64),
    ended_at_ms: maybe(U64),
    artifacts,
    error: maybe(Text),
  },
  tool_task_cancel_requested: { task_id: Id, reason: Text },
  tool_task_cancelled: { task_id: Id, reason: Text, wall_time_ms: maybe(U64) },
  tool_task_output_delta: { task_id: Id, stream: Type.Enum(["stdout", "stderr", "pty"]), chunk: Text, artifacts },
  tool_task_stdin_written: { task_id: Id, chunk_b64: Text },
  tool_task_resized: { task_id: Id, rows: U64, cols: U64 },
  tool_task_signalled: { task_id: Id, signal: Text },
});

const ENVELOPES: Readonly<Record<number, Type.TProperties>> = {
  1: { id: Uuid, session_id: Uuid, seq: U64, timestamp_ms: U64 },
  2: { id: Uuid, stream_kind: Text, stream_id: Text, session_id: maybe(Text), seq: U64, timestamp_ms: U64 },
};
const FIELDS = { 1: fieldsOf(Uuid), 2: fieldsOf(Text) };
const validators = new Map<string, Validator>();

function validatorOf(type: FrameType, version: 1 | 2): Validator {
  const key = `${type} ${version}`;
  const properties = { ...ENVELOPES[version], type: Type.Literal(type), ...FIELDS[version][type] };
  const validator = validators.get(key) ?? Compile(Type.Object(properties, { additionalProperties: false }));
  validators.set(key, validator);
  return validator;
}

/** What is wrong with the frames of one stream, from its first one on or, with `filtered`, some of them. */
export function contractErrors(frames: readonly object[], version: 1 | 2, { filtered = false } = {}): string[] {
  return frames.flatMap((frame, index) => {
    const { type, seq, session_id, stream_id, task_id, stream_kind } = frame as Record<string, unknown>;
    if (typeof type !== "string" || !Object.hasOwn(FIELDS[version], type)) return [`${index}: there is no frame ${String(type)}`];
    const errors = validatorOf(type as FrameType, version)
      .Errors(frame)
      .map(({ instancePath, message, params }) => `${type}${instancePath} ${message} ${JSON.stringify(params)}`);
    if (!filtered && seq !== index) errors.push(`${type}: seq ${String(seq)} at place ${index}`);
    const stream = version === 1 ? session_id : stream_id;
    if (task_id !== undefined && task_id !== stream) errors.push(`${type}: task ${String(task_id)} in ${String(stream)}`);
    if (version === 2 && (stream_kind === "session") !== (session_id === stream)) errors.push(`${type}: session_id`);
    return errors;
  });
}
