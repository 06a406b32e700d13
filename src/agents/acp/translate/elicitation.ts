// Elicitation: forms and links the agent wants the user to fill in, as questions, and the answers back as form content.
import type { Draft } from "../../../schema/draft.ts";
import type { QuestionPrompt } from "../../../schema/event-data.ts";
import { isRecord, type JsonRecord, rec, records, str } from "../../json.ts";
import type { RpcError, RpcId } from "./rpc.ts";

/** One question of a form: which property its answer goes to, and the one that takes what fits no option. */
export type FormField = {
  name: string;
  type: "string" | "number" | "boolean" | "array";
  /** Label shown → value sent. */
  choices: [label: string, value: string][];
  companion: string | null;
};

export type NativeElicitation = { kind: "elicitation"; id: RpcId; session: string | null; fields: FormField[] };

export const isElicitation = (native: unknown): native is NativeElicitation => isRecord(native) && native.kind === "elicitation";

export type OpenElicitation = {
  type: "elicitation";
  key: string;
  session: string | null;
  fields: FormField[];
  elicitationId: string | null;
};

export function onElicitation(
  id: RpcId,
  params: JsonRecord,
  key: string,
  item: string | null,
): { drafts: Draft[]; open: OpenElicitation } {
  const session = str(params.sessionId) ?? null;
  const message = str(params.message) ?? "";
  const isForm = str(params.mode) !== "url";
  const { fields, questions } = isForm
    ? readForm(rec(params.requestedSchema), message)
    : { fields: [], questions: [linkQuestion(params, message)] };
  const native: NativeElicitation = { kind: "elicitation", id, session, fields };
  const metadata = { message, mode: str(params.mode) ?? "form", ...(str(params.url) === undefined ? {} : { url: params.url }) };
  return {
    drafts: [{ do: "question.request", key, questions, call_id: str(params.toolCallId) ?? null, item, metadata, native }],
    open: { type: "elicitation", key, session, fields, elicitationId: str(params.elicitationId) ?? null },
  };
}

const linkQuestion = (params: JsonRecord, message: string): QuestionPrompt => ({
  prompt: `${message} ${str(params.url) ?? ""}`.trim(),
  options: [{ label: "Done" }],
  multi_select: false,
  free_text: false,
});

export function readForm(schema: JsonRecord, message: string): { fields: FormField[]; questions: QuestionPrompt[] } {
  const properties = Object.entries(rec(schema.properties)).filter((entry): entry is [string, JsonRecord] => isRecord(entry[1]));
  const names = new Set(properties.map(([name]) => name));
  const companionOf = (name: string, property: JsonRecord): string | null => {
    // claude-agent-acp 0.99: question_0_custom; codex-acp 2.6: q1_note with _meta.codex.questionId.
    const base = str(rec(rec(property._meta).codex).questionId) ?? /^(.+)_(?:custom|note)$/.exec(name)?.[1];
    return base !== undefined && base !== name && names.has(base) ? base : null;
  };
  const companions = new Map(
    properties.flatMap(([name, property]) => {
      const base = companionOf(name, property);
      return base === null ? [] : [[base, name] as const];
    }),
  );
  const main = properties.filter(([name, property]) => companionOf(name, property) === null);
  const fields = main.map(([name, property]) => readField(name, property, companions.get(name) ?? null));
  const questions = main.map(([name, property], index) =>
    readQuestion(name, property, fields[index], main.length === 1 ? message : ""),
  );
  if (questions.length > 0) return { fields, questions };
  return { fields, questions: [{ prompt: message, options: [{ label: "OK" }], multi_select: false, free_text: false }] };
}

function readField(name: string, property: JsonRecord, companion: string | null): FormField {
  const type = str(property.type);
  const items = rec(property.items);
  const titled = records(property.oneOf ?? property.anyOf ?? items.anyOf ?? items.oneOf);
  const plain = [property.enum, items.enum].find(Array.isArray) ?? [];
  const choices =
    titled.length > 0
      ? titled.map((each): [string, string] => [str(each.title) ?? String(each.const), String(each.const)])
      : plain.map((each): [string, string] => [String(each), String(each)]);
  if (type === "boolean")
    return {
      name,
      type,
      choices: [
        ["Yes", "true"],
        ["No", "false"],
      ],
      companion,
    };
  if (type === "array") return { name, type, choices, companion };
  return { name, type: type === "number" || type === "integer" ? "number" : "string", choices, companion };
}

function readQuestion(name: string, property: JsonRecord, field: FormField | undefined, message: string): QuestionPrompt {
  const title = str(property.title);
  const description = str(property.description);
  const asked = [title, message, description].find((text) => text?.trim().endsWith("?"));
  const prompt = asked ?? (message || title || description || name);
  const header = [title, description].find((text) => text !== undefined && text !== prompt);
  const titled = records(property.oneOf ?? property.anyOf ?? rec(property.items).anyOf);
  const choices = field?.choices ?? [];
  return {
    prompt,
    ...(header === undefined ? {} : { header }),
    options: choices.map(([label], index) => {
      const text = str(titled[index]?.description);
      return { label, ...(text === undefined ? {} : { description: text }) };
    }),
    multi_select: field?.type === "array",
    free_text: choices.length === 0 || field?.companion !== null,
  };
}

/** Form content from answers: options by their label, anything else goes to the companion, or is the value itself. */
export function formContent(fields: FormField[], answers: string[][]): JsonRecord {
  const content: JsonRecord = {};
  for (const [index, field] of fields.entries()) {
    const given = answers[index] ?? [];
    const chosen = given.flatMap(
      (answer) => field.choices.find(([label, value]) => label === answer || value === answer)?.[1] ?? [],
    );
    const typed = given.filter((answer) => !field.choices.some(([label, value]) => label === answer || value === answer));
    if (field.companion !== null && field.choices.length > 0) {
      if (typed.length > 0) content[field.companion] = typed.join("\n");
      if (chosen.length > 0) content[field.name] = field.type === "array" ? chosen : chosen[0];
      continue;
    }
    const value = fieldValue(field, [...chosen, ...typed]);
    if (value !== undefined) content[field.name] = value;
  }
  return content;
}

function fieldValue(field: FormField, values: string[]): unknown {
  if (field.type === "array") return values;
  const [first] = values;
  if (first === undefined) return undefined;
  if (field.type === "boolean") return first === "true";
  if (field.type === "number") return Number.isFinite(Number(first)) ? Number(first) : undefined;
  return first;
}

/** Our answer, on its way to the agent. */
export function onElicitationAnswer(open: OpenElicitation, answer: { result: unknown } | { error: RpcError }): Draft[] {
  const result = "result" in answer ? rec(answer.result) : {};
  if (result.action !== "accept") return [{ do: "question.resolve", key: open.key, status: "rejected", resolved_by: "client" }];
  const content = rec(result.content);
  const answers = open.fields.map((field) => [
    ...shown(field, content[field.name]),
    ...(field.companion === null ? [] : shown(null, content[field.companion])),
  ]);
  return [
    {
      do: "question.resolve",
      key: open.key,
      status: "answered",
      resolved_by: "client",
      ...(answers.length === 0 ? {} : { answers }),
    },
  ];
}

function shown(field: FormField | null, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const values = Array.isArray(value) ? value.map(String) : [String(value)];
  return values.map((each) => field?.choices.find(([, sent]) => sent === each)?.[0] ?? each);
}
