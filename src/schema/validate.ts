// Compiled validators of the schema. Off the hot path: tests, verify, import and the grammar use them, the daemon trusts its own events.
import { Compile, type Validator } from "typebox/compile";
import { eventSchemas, type UniversalEvent } from "./event.ts";
import type { EventType } from "./event-data.ts";

const compiled = new Map<string, Validator>();

const validatorOf = (type: string): Validator | undefined => {
  const known = compiled.get(type);
  if (known) return known;
  // Own names only: `constructor` is no event type.
  if (!Object.hasOwn(eventSchemas, type)) return undefined;
  const schema = eventSchemas[type as EventType];
  const validator = Compile(schema);
  compiled.set(type, validator);
  return validator;
};

/** Null when the value is a valid event, otherwise one sentence that says what is wrong and where. */
export function eventFault(value: unknown): string | null {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  if (typeof type !== "string") return "not an event: it has no type";
  const validator = validatorOf(type);
  if (!validator) return `unknown event type ${JSON.stringify(type)}`;
  if (validator.Check(value)) return null;
  const [fault] = validator.Errors(value);
  return `${type}${fault?.instancePath ?? ""} ${fault?.message ?? "is invalid"}`;
}

export const isEvent = (value: unknown): value is UniversalEvent => eventFault(value) === null;
