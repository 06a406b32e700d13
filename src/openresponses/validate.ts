/**
 * What is wrong with an event, as sentences. Nothing is dropped and nothing is changed here: an invalid event is still an event. Schemas are compiled at
 * their first use.
 */
import type { TObject, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { ExtensionEvent, isExtension, isKnownEventType, RESPONSE_EVENTS, schemaOfEvent } from "./event-types.ts";
import { arrayOf, isObject, type JsonObject } from "./json.ts";
import { HOSTED_ITEM_TYPES, outputItemSchemas } from "./schema/items.ts";
import { ResponseResource } from "./schema/response.ts";
import { FunctionTool } from "./schema/tools.ts";
import { WebSocketError } from "./schema/websocket.ts";

/** An endpoint that leaves out keys leaves out many: more than this is noise. */
const MAX_ERRORS = 40;

const NONE: readonly string[] = [];
const compiled = new Map<string, Validator>();
/** By type: most events are of one type, and most are right. */
const ofEvents = new Map<string, Validator>();

function errorsOf(name: string, schema: () => TSchema, value: unknown, at = ""): readonly string[] {
  return checked(validatorFor(name, schema), value, at);
}

function validatorFor(name: string, schema: () => TSchema): Validator {
  let validator = compiled.get(name);
  if (validator === undefined) {
    validator = Compile(schema());
    compiled.set(name, validator);
  }
  return validator;
}

function checked(validator: Validator, value: unknown, at = ""): readonly string[] {
  if (validator.Check(value)) return NONE;
  return validator
    .Errors(value)
    .slice(0, MAX_ERRORS)
    .map((error) => `${at}${error.instancePath === "" ? "" : error.instancePath} ${error.message}`.trim());
}

/**
 * The errors of an object key by key. Endpoints that are made from chat completions leave out most keys of every response, and to ask a schema what is wrong costs a
 * hundred times as much as to ask whether something is: so only the keys that are there and wrong are asked.
 */
function errorsByKey(name: string, schema: TObject, value: JsonObject): readonly string[] {
  if (validatorFor(name, () => schema).Check(value)) return NONE;
  const missing = schema.required.filter((key) => value[key] === undefined);
  const errors = missing.length === 0 ? [] : [`must have required properties ${missing.join(", ")}`];
  for (const [key, property] of Object.entries(schema.properties))
    if (value[key] !== undefined) errors.push(...errorsOf(`${name} ${key}`, () => property, value[key], `/${key}`));
  return errors;
}

/** Undefined for a type that is not in the table. */
function validatorOf(type: string): Validator | undefined {
  const known = ofEvents.get(type);
  if (known !== undefined || !isKnownEventType(type)) return known;
  const validator = Compile(schemaOfEvent(type));
  ofEvents.set(type, validator);
  return validator;
}

/** What is wrong with one event of a stream by its schema; its response is not looked at. */
export function eventErrors(event: JsonObject): readonly string[] {
  const { type } = event;
  if (typeof type !== "string") return ["the event has no type"];
  if (type === "error") return errorEventErrors(event);
  const validator = validatorOf(type);
  if (validator !== undefined) {
    const errors = checked(validator, event);
    return isObject(event.item) ? [...errors, ...itemErrors(event.item, "/item")] : errors;
  }
  if (isExtension(type)) return errorsOf("extension", () => ExtensionEvent, event);
  return [`unknown event type ${JSON.stringify(type)}`];
}

/** What is wrong with the response an event carries. */
export function responseErrors(event: JsonObject): readonly string[] {
  if (typeof event.type !== "string" || !RESPONSE_EVENTS.has(event.type)) return NONE;
  return resourceErrors(event.response);
}

/** What is wrong with a response resource. */
export function resourceErrors(resource: unknown): readonly string[] {
  if (!isObject(resource)) return ["there is no response"];
  const errors = [...errorsByKey("ResponseResource", ResponseResource, resource)];
  arrayOf(resource.output).forEach((item, index) => {
    if (isObject(item)) errors.push(...itemErrors(item, `/output/${index}`));
  });
  arrayOf(resource.tools).forEach((tool, index) => {
    if (isObject(tool) && tool.type === "function")
      errors.push(...errorsOf("FunctionTool", () => FunctionTool, tool, `/tools/${index}`));
  });
  return errors.slice(0, MAX_ERRORS);
}

/** What is wrong with an output item. Items of hosted tools and extensions need a type, no more. */
export function itemErrors(item: JsonObject, at = ""): readonly string[] {
  const { type } = item;
  if (typeof type !== "string") return [`${at} has no type`.trim()];
  if (Object.hasOwn(outputItemSchemas, type)) {
    const known = type as keyof typeof outputItemSchemas;
    return errorsOf(`item ${type}`, () => outputItemSchemas[known], item, at);
  }
  if (HOSTED_ITEM_TYPES.has(type) || isExtension(type)) return [];
  return [`${at} unknown item type ${JSON.stringify(type)}`.trim()];
}

/** Two shapes are in use: `{error: {…}}` of the specification, also on sockets, and OpenAI's flat `{code, message, param}`. */
function errorEventErrors(event: JsonObject): string[] {
  const errors: string[] = [];
  if (isObject(event.error)) {
    if (typeof event.error.message !== "string") errors.push("/error/message must be string");
    if (typeof event.status === "number") return errors.concat(errorsOf("WebSocketError", () => WebSocketError, event));
  } else if (typeof event.message !== "string") errors.push("must have required properties error");
  if (!Number.isInteger(event.sequence_number)) errors.push("must have required properties sequence_number");
  return errors;
}
