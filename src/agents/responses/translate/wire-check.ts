/** Whether a native message is one of this agent's: traces and ledgers may hold anything. */
import Type from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { recordFault } from "../../../runtime/records.ts";
import { ItemDelta, ItemEvent, ItemRemoved } from "../../../schema/event-data.ts";
import { isRecord } from "../../json.ts";
import type { Command, Spoken } from "./wire.ts";

const Text = Type.String();
const OptionalText = Type.Union([Text, Type.Null()]);
const Fields = Type.Record(Text, Type.Unknown());
const Items = Type.Array(Fields);
const message = { message_id: Text, text: Text };

const COMMANDS: Readonly<Record<string, Type.TProperties>> = {
  prompt: { ...message, items: Items },
  steer: { ...message, items: Items },
  command: { ...message, name: Text },
  interrupt: {},
  "task.stop": { id: Text },
  configure: { model: Type.Optional(Text), mode: Type.Optional(Text), reasoning_effort: Type.Optional(OptionalText) },
  "permission.reply": { id: Text, reply: Type.Enum(["once", "always", "reject"]), message: OptionalText },
  "question.reply": { id: Text, answers: Type.Union([Type.Array(Type.Array(Text)), Type.Null()]) },
};

const Subject = Type.Object({ kind: Text });
const Call = Type.Object({ key: Text, call_id: Text, name: Text, input: Text });

const ChildEvent = Type.Union([
  Type.Object({ type: Type.Enum(["item.started", "item.updated", "item.completed"]), data: ItemEvent }),
  Type.Object({ type: Type.Literal("item.delta"), data: ItemDelta }),
  Type.Object({ type: Type.Literal("item.removed"), data: ItemRemoved }),
]);

const STATEMENTS: Readonly<Record<string, Type.TProperties>> = {
  "session.resumed": {
    session_id: Text,
    model: Text,
    mode: Text,
    turn_id: OptionalText,
    calls: Type.Array(Call),
    records: Type.Integer({ minimum: 0 }),
  },
  "session.facts": { endpoint: Text, models: Type.Array(Text), tools: Type.Array(Text), commands: Type.Array(Text) },
  notice: { name: Text, detail: Text },
  "permission.asked": {
    ...{ id: Text, call: Text, call_id: Text, tool: Text, subject: Subject },
    ...{ args: Fields, reason: Text, diff: OptionalText },
  },
  "question.asked": {
    ...{ id: Text, call: Type.Optional(OptionalText) },
    questions: Type.Array(Type.Object({ question: Text, options: Type.Array(Text) })),
  },
  "mcp.servers": {
    servers: Type.Array(Type.Object({ name: Text, status: Text, error: Type.Optional(Text) })),
    tools: Type.Array(Text),
  },
  "child.started": { call: Text, session_id: Text, agent: Text },
  "child.event": { call: Text, session_id: Text, event: ChildEvent },
  "child.permission": { id: Text, call: Text, permission: Fields },
  "child.question": { id: Text, call: Text, questions: Type.Array(Fields) },
  "child.resolved": {
    id: Text,
    approved: Type.Boolean(),
    answers: Type.Union([Type.Array(Type.Array(Text)), Type.Null()]),
  },
  "task.started": { id: Text, command: Text, cwd: Text, title: Text },
  "task.output": { id: Text, stream: Type.Enum(["stdout", "stderr"]), text: Text },
  "task.ended": { id: Text, exit_code: Type.Integer(), stopped: Type.Boolean() },
  "request.withdrawn": { id: Text },
  "command.ended": { name: Text, outcome: Text, error_code: OptionalText, message: OptionalText },
  "runtime.failed": { message: Text },
};

/** Compiled when one is first seen: most sessions see few of them. */
const compiled = new Map<Type.TProperties, Validator>();

function fits(table: Readonly<Record<string, Type.TProperties>>, value: unknown): boolean | undefined {
  const type = isRecord(value) && typeof value.type === "string" ? value.type : "";
  const properties = Object.hasOwn(table, type) ? table[type] : undefined;
  if (properties === undefined) return undefined;
  const validator = compiled.get(properties) ?? Compile(Type.Object(properties));
  compiled.set(properties, validator);
  return validator.Check(value);
}

export const isCommand = (value: unknown): value is Command => fits(COMMANDS, value) === true;

export const isSpoken = (value: unknown): value is Spoken => fits(STATEMENTS, value) ?? recordFault(value) === null;
