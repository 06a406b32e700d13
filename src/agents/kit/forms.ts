/**
 * Forms that an MCP server (or an agent in its place) wants filled in, as questions, and answers back as content. One behaviour for every agent: one
 * question a field; booleans are Yes and No; a form without fields, or a link, is accepted or declined. Pure.
 */
import type { QuestionPrompt } from "../../schema/event-data.ts";
import { arr, asText, isRecord, type JsonRecord, rec, str } from "../json.ts";

export const ACCEPT = "Accept";
export const DECLINE = "Decline";

/** One question of a form: which property its answer goes to. Plain data: it travels with the question and comes back with the answers. */
export type FormField = {
  name: string;
  type: "string" | "number" | "boolean" | "array";
  choices: { label: string; value: unknown; description?: string }[];
  /** The property that takes what fits no choice; null: there is none. */
  companion: string | null;
};

export type FormRequest = {
  message: string;
  /** JSON Schema of the content; anything without properties is a form without fields. */
  schema: unknown;
  /** Who asks. */
  header?: string | undefined;
  /** A link to open instead of a form. */
  url?: string | undefined;
  /** The order of the fields, when the schema does not say it. */
  order?: unknown;
  /** The property whose free text this one holds, if it is such a companion. */
  companionOf?(name: string, property: JsonRecord): string | undefined;
};

export function readForm(request: FormRequest): { fields: FormField[]; questions: QuestionPrompt[] } {
  const properties = propertiesOf(request);
  const names = new Set(properties.map(([name]) => name));
  const companions = new Map<string, string>();
  const main = properties.filter(([name, property]) => {
    const base = request.companionOf?.(name, property);
    if (base === undefined || base === name || !names.has(base)) return true;
    companions.set(base, name);
    return false;
  });
  if (main.length === 0 || request.url !== undefined) return { fields: [], questions: [confirmation(request)] };
  const fields = main.map(([name, property]) => fieldOf(name, property, companions.get(name) ?? null));
  const questions = fields.map((field, index) => questionOf(field, main[index]?.[1] ?? {}, request, index, main.length));
  return { fields, questions };
}

function propertiesOf({ schema, order }: FormRequest): [string, JsonRecord][] {
  const all = rec(rec(schema).properties);
  const first = arr(order).filter((name): name is string => typeof name === "string" && name in all);
  const names = [...new Set([...first, ...Object.keys(all)])];
  return names.flatMap((name) => (isRecord(all[name]) ? [[name, all[name]] satisfies [string, JsonRecord]] : []));
}

const confirmation = ({ message, url, header }: FormRequest): QuestionPrompt => ({
  prompt: [message, url].filter(Boolean).join("\n"),
  ...(header ? { header } : {}),
  options: [{ label: ACCEPT }, { label: DECLINE }],
  multi_select: false,
  free_text: false,
});

function fieldOf(name: string, property: JsonRecord, companion: string | null): FormField {
  const type = property.type === "integer" ? "number" : property.type;
  if (type === "boolean") {
    const choices = [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
    return { name, type, choices, companion };
  }
  const source = [property, rec(property.items)];
  const titled = source.flatMap((schema) => [...arr(schema.oneOf), ...arr(schema.anyOf)].filter(isRecord));
  const plain = source.flatMap((schema) =>
    arr(schema.enum).map((value, index) => ({ label: str(arr(schema.enumNames)[index]) ?? asText(value), value })),
  );
  const choices = titled.map(({ title, const: value, description }) => ({
    label: str(title) ?? asText(value),
    value,
    ...(str(description) ? { description: str(description) ?? "" } : {}),
  }));
  return {
    name,
    type: type === "array" || type === "number" ? type : "string",
    choices: choices.length > 0 ? choices : plain,
    companion,
  };
}

const isQuestion = (text: string | undefined): text is string => text?.trim().endsWith("?") === true;

/** A text that is a question is the prompt; the field's title is then its header. The message stands before the first question. */
function questionOf(field: FormField, property: JsonRecord, request: FormRequest, index: number, count: number): QuestionPrompt {
  const { message } = request;
  const title = str(property.title);
  const description = str(property.description);
  const asked = [title, description].find(isQuestion) ?? (count === 1 && isQuestion(message) ? message : undefined);
  const name = title ?? field.name;
  const own = asked ?? (description ? `${name}: ${description}` : name);
  const prompt = index === 0 && message && message !== own && !asked ? `${message}\n${own}` : own;
  const header =
    asked === undefined ? request.header : ([title, description].find((text) => text && text !== asked) ?? request.header);
  return {
    prompt,
    ...(header ? { header } : {}),
    options: field.choices.map(({ label, description: about }) => ({ label, ...(about ? { description: about } : {}) })),
    multi_select: field.type === "array",
    free_text: field.choices.length === 0 || field.companion !== null,
    ...(property.format === "password" || property.writeOnly === true ? { secret: true } : {}),
  };
}

/** What MCP calls an elicitation result. */
export type FormResult = { action: "accept"; content?: JsonRecord } | { action: "decline" };

/** What goes back for the answers of a person; null answers mean that the person declined. Fields left empty are left out. */
export function formResult(fields: FormField[], answers: string[][] | null): FormResult {
  if (answers === null || (fields.length === 0 && answers[0]?.[0] === DECLINE)) return { action: "decline" };
  if (fields.length === 0) return { action: "accept" };
  return {
    action: "accept",
    content: Object.assign({}, ...fields.map((field, index) => contentOf(field, answers[index] ?? []))),
  };
}

function contentOf(field: FormField, given: string[]): JsonRecord {
  const choiceOf = (answer: string) => field.choices.find(({ label, value }) => label === answer || asText(value) === answer);
  const chosen = given.flatMap((answer) => choiceOf(answer)?.value ?? []);
  const typed = given.filter((answer) => choiceOf(answer) === undefined);
  if (field.companion !== null && field.choices.length > 0)
    return {
      ...(typed.length > 0 ? { [field.companion]: typed.join("\n") } : {}),
      ...(chosen.length > 0 ? { [field.name]: field.type === "array" ? chosen : chosen[0] } : {}),
    };
  const values = [...chosen, ...typed.filter((text) => text !== "").map((text) => typedValue(field, text))];
  if (values.length === 0) return {};
  return { [field.name]: field.type === "array" ? values : values[0] };
}

/** What cannot be a number stays text: the server says what is wrong with it. */
function typedValue({ type }: FormField, text: string): unknown {
  return type === "number" && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The other way round: a result that went over the wire as answers to our questions. Null: declined or cancelled. */
export function formAnswers(fields: FormField[], result: unknown): string[][] | null {
  const { action, content } = rec(result);
  if (action !== "accept") return null;
  if (fields.length === 0) return [[ACCEPT]];
  const given = rec(content);
  return fields.map((field) => [
    ...shown(field, given[field.name]),
    ...(field.companion ? shown(null, given[field.companion]) : []),
  ]);
}

function shown(field: FormField | null, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const values = Array.isArray(value) ? value : [value];
  return values.map((each) => field?.choices.find((choice) => choice.value === each)?.label ?? asText(each));
}
