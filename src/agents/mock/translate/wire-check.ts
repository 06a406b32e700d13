// Whether a line of the mock agent is what its protocol says. The translator trusts nothing it has not checked, also of a program of our own.
import Type from "typebox";
import { Compile } from "typebox/compile";
import { ContentPart, PlanEntry, ToolKind } from "../../../schema/content.ts";
import {
  ErrorCode,
  eventData,
  PermissionOption,
  QuestionPrompt,
  SessionStatusData,
  StopReason,
  Usage,
} from "../../../schema/event-data.ts";

const Text = Type.String();
const maybe = Type.Optional;
const media = Type.Object({
  type: Type.Literal("media"),
  media: Type.Enum(["image", "audio", "file"]),
  mime: Text,
  base64: Text,
  name: maybe(Text),
});

const events: Record<string, Type.TSchema> = {
  hello: Type.Object({ session: Text, resumed: Type.Boolean(), remembered: Type.Number() }),
  turn: Type.Object({ id: Text, by: Type.Enum(["client", "self"]) }),
  done: Type.Object({ reason: StopReason, code: maybe(ErrorCode), usage: maybe(Usage) }),
  text: Type.Object({ m: Text, d: Text, p: maybe(Text) }),
  thought: Type.Object({ m: Text, d: Text, p: maybe(Text) }),
  refusal: Type.Object({ m: Text, d: Text, p: maybe(Text) }),
  part: Type.Object({ m: Text, part: Type.Union([ContentPart, media]), p: maybe(Text) }),
  message_end: Type.Object({ m: Text, failed: maybe(Type.Boolean()) }),
  message_gone: Type.Object({ m: Text, why: Text }),
  call: Type.Object({
    c: Text,
    m: maybe(Text),
    name: Text,
    kind: ToolKind,
    title: Text,
    input: Type.Optional(Type.Unknown()),
    paths: maybe(Type.Array(Text)),
    p: maybe(Text),
    background: maybe(Type.Boolean()),
  }),
  call_args: Type.Object({ c: Text, d: Text }),
  output: Type.Object({ c: Text, d: Text }),
  result: Type.Object({
    c: Text,
    output: Text,
    error: maybe(Type.Boolean()),
    exit_code: maybe(Type.Integer()),
    ms: maybe(Type.Number()),
    parts: maybe(Type.Array(ContentPart)),
  }),
  plan: Type.Object({ id: Text, entries: Type.Array(PlanEntry) }),
  step: Type.Object({ id: Text, end: maybe(Type.Object({ finish_reason: Text, usage: Usage, cost_usd: Type.Number() })) }),
  ask: Type.Object({
    id: Text,
    c: Text,
    action: Text,
    name: Text,
    input: Type.Unknown(),
    options: Type.Array(PermissionOption),
    reason: maybe(Text),
  }),
  question: Type.Object({
    id: Text,
    questions: Type.Array(QuestionPrompt),
    c: maybe(Text),
    metadata: maybe(Type.Record(Text, Type.Unknown())),
  }),
  withdrawn: Type.Object({ id: Text }),
  status: Type.Object({ status: SessionStatusData }),
  fault: Type.Object({ message: Text, code: ErrorCode, retryable: Type.Boolean() }),
  note: Type.Object({ name: Text, detail: maybe(Type.Unknown()) }),
  ping: Type.Object({}),
};

const Attachments = Type.Array(Type.Object({ name: Text, mime: Text, data: Text }));
const commands: Record<string, Type.TSchema> = {
  prompt: Type.Object({ id: Text, text: Text, attachments: Attachments }),
  steer: Type.Object({ id: Text, text: Text, attachments: Attachments }),
  interrupt: Type.Object({}),
  configure: Type.Object({}),
  permission_reply: Type.Object({ id: Text, reply: Type.Enum(["once", "always", "reject"]) }),
  question_reply: Type.Object({ id: Text, answers: Type.Union([Type.Array(Type.Array(Text)), Type.Null()]) }),
};

/** Plain events the mock may say: those that pass the session unchanged. */
const PLAIN =
  /^(session\.(updated|compacted)|config\.changed|usage\.updated|limits\.updated|auth\.status|team\.\w+|skill\.\w+|checkpoint\.\w+|task\.\w+|agent\.notice)$/;

const compiled = new Map<string, (value: unknown) => boolean>();

function checkerOf(name: string, schema: Type.TSchema): (value: unknown) => boolean {
  const known = compiled.get(name);
  if (known) return known;
  const validator = Compile(schema);
  const check = (value: unknown): boolean => validator.Check(value);
  compiled.set(name, check);
  return check;
}

export function isMockCommand(value: { type: string }): boolean {
  const schema = Object.hasOwn(commands, value.type) ? commands[value.type] : undefined;
  return schema !== undefined && checkerOf(`in ${value.type}`, schema)(value);
}

export function isMockEvent(value: { type: string; event?: unknown }): boolean {
  if (value.type !== "event") {
    const schema = Object.hasOwn(events, value.type) ? events[value.type] : undefined;
    return schema !== undefined && checkerOf(`out ${value.type}`, schema)(value);
  }
  const { event } = value;
  if (typeof event !== "object" || event === null || !("type" in event) || !("data" in event) || typeof event.type !== "string")
    return false;
  const schema =
    PLAIN.test(event.type) && Object.hasOwn(eventData, event.type) ? eventData[event.type as keyof typeof eventData] : undefined;
  return schema !== undefined && checkerOf(`event ${event.type}`, schema)(event.data);
}
