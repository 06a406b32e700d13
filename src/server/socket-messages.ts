// What travels over a session's WebSocket from client to server, checked once.
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { Stream } from "../log/contract.ts";
import type { EventRedactor } from "../redaction/event-redactor.ts";
import type { Role } from "../schema/actor.ts";
import type { Dialect } from "../schema/dialect.ts";
import { faultsOf } from "../schema/faults.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { PermissionReplyBody, QuestionReplyBody, SendMessage, UpdateQueuedMessage, UpdateSession } from "../schema/session.ts";
import { type Encoding, encodingOf } from "./event-encoding.ts";
import { parseJson } from "./json-body.ts";
import { EPOCH, mustReach } from "./routes/events.ts";

const Id = Type.Union([Type.String({ maxLength: 200 }), Type.Integer()]);
const op = <const N extends string>(name: N) => ({ id: Type.Optional(Id), op: Type.Literal(name) });
const strict = { additionalProperties: false };

const Subscribe = {
  after: Type.Optional(Type.Integer({ minimum: 0 })),
  epoch: Type.Optional(Type.String({ pattern: EPOCH })),
  types: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  include_raw: Type.Optional(Type.Boolean()),
  dialect: Type.Optional(Type.String()),
  version: Type.Optional(Type.Integer({ minimum: 1, maximum: 99 })),
};

const ops = {
  send: Type.Object({ ...op("send"), ...SendMessage.properties }, strict),
  queue: Type.Object(op("queue"), strict),
  update_queued: Type.Object({ ...op("update_queued"), message_id: Type.String(), ...UpdateQueuedMessage.properties }, strict),
  remove_queued: Type.Object({ ...op("remove_queued"), message_id: Type.String() }, strict),
  send_queued: Type.Object({ ...op("send_queued"), message_id: Type.String() }, strict),
  interrupt: Type.Object(op("interrupt"), strict),
  terminate: Type.Object(op("terminate"), strict),
  configure: Type.Object({ ...op("configure"), ...UpdateSession.properties }, strict),
  reply_permission: Type.Object(
    { ...op("reply_permission"), permission_id: Type.String(), ...PermissionReplyBody.properties },
    strict,
  ),
  reply_question: Type.Object({ ...op("reply_question"), question_id: Type.String(), ...QuestionReplyBody.properties }, strict),
  reject_question: Type.Object({ ...op("reject_question"), question_id: Type.String() }, strict),
  pending: Type.Object(op("pending"), strict),
  session: Type.Object(op("session"), strict),
  subscribe: Type.Object({ ...op("subscribe"), ...Subscribe }, strict),
  unsubscribe: Type.Object(op("unsubscribe"), strict),
};

export type OpName = keyof typeof ops;
export type ClientMessage = { [N in OpName]: Type.Static<(typeof ops)[N]> }[OpName];

/** The role each needs, and the operation it is in the audit record; null: it changes nothing. */
export const OP_ACCESS: Readonly<Record<OpName, { role: Role; operation: string | null }>> = {
  send: { role: "operate", operation: "sendMessage" },
  queue: { role: "observe", operation: null },
  update_queued: { role: "operate", operation: "updateQueued" },
  remove_queued: { role: "operate", operation: "removeQueued" },
  send_queued: { role: "operate", operation: "sendQueued" },
  interrupt: { role: "operate", operation: "interruptSession" },
  terminate: { role: "operate", operation: "terminateSession" },
  configure: { role: "operate", operation: "updateSession" },
  reply_permission: { role: "approve", operation: "replyPermission" },
  reply_question: { role: "approve", operation: "replyQuestion" },
  reject_question: { role: "approve", operation: "rejectQuestion" },
  pending: { role: "observe", operation: null },
  session: { role: "observe", operation: null },
  subscribe: { role: "observe", operation: null },
  unsubscribe: { role: "observe", operation: null },
};

/** Those that promise something the log must keep. */
export const LOGGED_OPS: ReadonlySet<string> = new Set<OpName>([
  "send",
  "update_queued",
  "remove_queued",
  "send_queued",
  "configure",
  "reply_permission",
  "reply_question",
  "reject_question",
]);

const names = Object.keys(ops) as OpName[];
const validators = new Map(names.map((name) => [name, Compile<Type.TSchema>(ops[name])]));

/** The id of a message, as far as one can be seen in it: so that the refusal finds its sender. */
export function parseClientMessage(text: string): { id: string | number | null; read(): ClientMessage } {
  const value = parseJson(text);
  const fields = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const id = typeof fields.id === "string" || typeof fields.id === "number" ? fields.id : null;
  return { id, read: () => checked(fields) };
}

function checked(fields: Record<string, unknown>): ClientMessage {
  const validator = validators.get(fields.op as OpName);
  if (!validator)
    throw new ProblemError("invalid_request", `There is no op ${JSON.stringify(fields.op)}. Known ones: ${names.join(", ")}.`, {
      errors: [{ path: "/op", message: `must be one of: ${names.join(", ")}` }],
    });
  if (validator.Check(fields)) return fields as ClientMessage;
  const errors = faultsOf(validator.Errors(fields));
  throw new ProblemError("invalid_request", `${errors[0]?.path || "The message"} ${errors[0]?.message ?? "is invalid"}.`, {
    errors,
  });
}

/** Where and how to follow; null: not at all. */
export type Following = { after: number; encoding: Encoding } | null;

/** The query of the upgrade request. Throws problems. */
export async function readSubscribeQuery(
  query: URLSearchParams,
  stream: Stream,
  dialects: ReadonlyMap<string, Dialect>,
  redact: EventRedactor | null,
): Promise<Following> {
  if (query.get("subscribe") === "false") return null;
  const after = query.get("after") ?? query.get("offset") ?? "0";
  if (!/^[0-9]{1,15}$/.test(after))
    throw new ProblemError("invalid_request", "after must be a sequence number.", {
      errors: [{ path: "querystring/after", message: "must be integer" }],
    });
  await mustReach(stream, Number(after), query.get("epoch") ?? undefined);
  const dialect = query.get("dialect");
  const version = query.get("version");
  const encoding = encodingOf(
    {
      types: query.getAll("types"),
      include_raw: query.get("include_raw") === "true",
      ...(dialect === null ? {} : { dialect }),
      ...(version === null ? {} : { version: Number(version) }),
    },
    dialects,
    redact,
  );
  return { after: Number(after), encoding };
}
