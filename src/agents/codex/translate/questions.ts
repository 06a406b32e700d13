// Server requests that ask a person: the model's own questions and MCP elicitations, and the exact answers they take.
import type { Draft } from "../../../schema/draft.ts";
import type { QuestionPrompt } from "../../../schema/event-data.ts";
import { arr, asText, isRecord, type JsonRecord, rec, records, str } from "../../json.ts";
import type { Thread } from "./thread.ts";
import { type RpcId, strings } from "./wire.ts";

type FieldType = "string" | "number" | "integer" | "boolean" | "array";
type Field = {
  name: string;
  type: FieldType /** Label shown → value sent, where they differ. */;
  values: Record<string, string>;
};

/** Travels with the question and comes back with the answers. */
export type NativeQuestion = { request_id: RpcId; thread_id: string } & (
  | { kind: "user_input"; ids: string[] }
  | { kind: "form"; fields: Field[] }
  | { kind: "confirm" }
);

type QuestionDraft = Omit<Extract<Draft, { do: "question.request" }>, "native"> & { native: NativeQuestion };

const DONE = "Done";
const DECLINE = "Decline";

/** The draft for a server request, or undefined when it is no question. */
export function questionRequest(
  thread: Thread,
  id: RpcId,
  method: string,
  params: JsonRecord,
  key: string,
): QuestionDraft | undefined {
  const who = { request_id: id, thread_id: thread.id };
  if (method === "item/tool/requestUserInput") return userInput(who, params, key);
  if (method === "mcpServer/elicitation/request") return elicitation(who, params, key);
  return undefined;
}

function userInput(who: { request_id: RpcId; thread_id: string }, params: JsonRecord, key: string): QuestionDraft {
  const asked = records(params.questions);
  return {
    do: "question.request",
    key,
    questions: asked.map((question) => {
      const options = records(question.options).map((option) => ({
        label: str(option.label) ?? "",
        ...(str(option.description) ? { description: str(option.description) ?? "" } : {}),
      }));
      return {
        prompt: str(question.question) ?? "",
        ...(str(question.header) ? { header: str(question.header) ?? "" } : {}),
        options,
        multi_select: false,
        free_text: question.isOther === true || options.length === 0,
      };
    }),
    call_id: str(params.itemId) ?? null,
    metadata: {
      ids: asked.map((question) => question.id),
      secret: asked.map((question) => question.isSecret === true),
      blocking: params.isBlocking !== false,
      auto_resolution_ms: params.autoResolutionMs ?? null,
    },
    native: { ...who, kind: "user_input", ids: asked.map((question) => str(question.id) ?? "") },
  };
}

function elicitation(who: { request_id: RpcId; thread_id: string }, params: JsonRecord, key: string): QuestionDraft {
  const message = str(params.message) ?? str(params.description) ?? str(params.title) ?? "";
  const server = str(params.serverName) ?? "MCP server";
  const metadata = { server, mode: params.mode ?? null, schema: params.requestedSchema ?? null, url: params.url ?? null };
  const properties = Object.entries(rec(rec(params.requestedSchema).properties)).filter((entry): entry is [string, JsonRecord] =>
    isRecord(entry[1]),
  );
  if (params.mode === "url" || properties.length === 0) {
    const prompt = str(params.url) ? `${message}\n${str(params.url)}` : message;
    const options = [{ label: DONE }, { label: DECLINE }];
    const native: NativeQuestion = { ...who, kind: "confirm" };
    return {
      do: "question.request",
      key,
      questions: [{ prompt, header: server, options, multi_select: false, free_text: false }],
      metadata,
      native,
    };
  }
  const fields = properties.map(([name, schema]) => fieldOf(name, schema));
  const native: NativeQuestion = { ...who, kind: "form", fields: fields.map(({ field }) => field) };
  return {
    do: "question.request",
    key,
    questions: fields.map(({ prompt }, index) => ({
      ...prompt,
      prompt: index === 0 && message ? `${message}\n${prompt.prompt}` : prompt.prompt,
    })),
    metadata,
    native,
  };
}

/** One property of the requested schema as a question. */
function fieldOf(name: string, schema: JsonRecord): { field: Field; prompt: QuestionPrompt } {
  const items = rec(schema.items);
  const type = fieldType(schema.type);
  const choices = [...enumChoices(schema), ...enumChoices(items)];
  const options = type === "boolean" ? [{ label: "true" }, { label: "false" }] : choices.map(({ label }) => ({ label }));
  const title = str(schema.title) ?? name;
  const description = str(schema.description);
  return {
    field: { name, type, values: Object.fromEntries(choices.map(({ label, value }) => [label, value])) },
    prompt: {
      prompt: description ? `${title}: ${description}` : title,
      header: name,
      options,
      multi_select: type === "array",
      free_text: options.length === 0,
    },
  };
}

const fieldType = (type: unknown): FieldType =>
  type === "number" || type === "integer" || type === "boolean" || type === "array" ? type : "string";

function enumChoices(schema: JsonRecord): { label: string; value: string }[] {
  const names = arr(schema.enumNames);
  const plain = strings(schema.enum).map((value, index) => ({ value, label: str(names[index]) ?? value }));
  const titled = [...records(schema.oneOf), ...records(schema.anyOf)].flatMap((entry) => {
    const value = str(entry.const);
    return value === undefined ? [] : [{ value, label: str(entry.title) ?? value }];
  });
  return [...plain, ...titled];
}

/** The result to send; null answers mean that the person declined. */
export function questionResult(native: NativeQuestion, answers: string[][] | null): JsonRecord {
  switch (native.kind) {
    case "user_input":
      // codex 0.166 has no way to decline; no answers at all is taken.
      return {
        answers: Object.fromEntries(
          (answers ?? []).flatMap((given, index) => (native.ids[index] ? [[native.ids[index], { answers: given }]] : [])),
        ),
      };
    case "confirm": {
      const accepted = answers !== null && answers[0]?.[0] !== DECLINE;
      return { action: accepted ? "accept" : "decline", content: accepted ? {} : null, _meta: null };
    }
    case "form": {
      if (answers === null) return { action: "decline", content: null, _meta: null };
      const content = Object.fromEntries(
        native.fields.flatMap((field, index) => {
          const value = fieldValue(field, answers[index] ?? []);
          return value === undefined ? [] : [[field.name, value]];
        }),
      );
      return { action: "accept", content, _meta: null };
    }
    default:
      return native satisfies never;
  }
}

function fieldValue(field: Field, given: string[]): unknown {
  const values = given.map((label) => field.values[label] ?? label);
  if (field.type === "array") return values;
  const [value] = values;
  if (value === undefined || value === "") return undefined;
  if (field.type === "boolean") return /^(true|yes|y|1|on)$/i.test(value);
  if (field.type === "number" || field.type === "integer") return Number.isFinite(Number(value)) ? Number(value) : value;
  return value;
}

/** What an answer that went over the wire meant. */
export function questionOutcome(
  native: NativeQuestion,
  result: unknown,
): { status: "answered" | "rejected"; answers?: string[][] } {
  const given = rec(result);
  if (native.kind === "user_input") {
    const answers = native.ids.map((id) => strings(rec(rec(given.answers)[id]).answers));
    return answers.some((answer) => answer.length > 0) ? { status: "answered", answers } : { status: "rejected" };
  }
  if (given.action !== "accept") return { status: "rejected" };
  if (native.kind === "confirm") return { status: "answered", answers: [[DONE]] };
  const content = rec(given.content);
  return {
    status: "answered",
    answers: native.fields.map(({ name, values }) => {
      const value = content[name];
      const labels = Object.entries(values);
      const all = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
      return all.map((entry) => labels.find(([, known]) => known === entry)?.[0] ?? asText(entry));
    }),
  };
}
