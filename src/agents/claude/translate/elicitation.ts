// MCP elicitation: a server's form, one question a field, and back to typed values.
import type { QuestionPrompt } from "../../../schema/event-data.ts";
import { arr, asText, isRecord, type JsonRecord, rec, str } from "../../json.ts";

const ACCEPT = "Accept";
const YES = "Yes";
const NO = "No";

type Field = { name: string; schema: JsonRecord; required: boolean };

function fieldsOf(request: JsonRecord): Field[] {
  const schema = rec(request.requested_schema);
  const properties = rec(schema.properties);
  const order = arr(request.property_order).filter((name): name is string => typeof name === "string" && name in properties);
  const names = [...new Set([...order, ...Object.keys(properties)])];
  const required = arr(schema.required);
  return names.map((name) => ({ name, schema: rec(properties[name]), required: required.includes(name) }));
}

export function elicitationQuestions(request: JsonRecord): QuestionPrompt[] {
  const message = str(request.message) ?? "An MCP server asks for input.";
  const server = str(request.mcp_server_name);
  const fields = fieldsOf(request);
  const header = server ? { header: server } : {};
  if (fields.length === 0) {
    const url = str(request.url);
    const prompt = url ? `${message} ${url}` : message;
    return [{ prompt, ...header, options: [{ label: ACCEPT }], multi_select: false, free_text: false }];
  }
  return fields.map((field, index) => {
    const title = str(field.schema.title) ?? field.name;
    const about = str(field.schema.description);
    const options = optionsOf(field.schema);
    return {
      prompt: [index === 0 ? message : "", about ? `${title}: ${about}` : title].filter(Boolean).join("\n"),
      ...header,
      options: options.map(({ label }) => ({ label })),
      multi_select: field.schema.type === "array",
      free_text: options.length === 0,
    };
  });
}

function optionsOf(schema: JsonRecord): { label: string; value: unknown }[] {
  if (schema.type === "boolean")
    return [
      { label: YES, value: true },
      { label: NO, value: false },
    ];
  const source = schema.type === "array" ? rec(schema.items) : schema;
  const titled = [...arr(source.oneOf), ...arr(source.anyOf)].filter(isRecord);
  if (titled.length > 0) return titled.map((entry) => ({ label: str(entry.title) ?? asText(entry.const), value: entry.const }));
  const names = arr(source.enumNames);
  return arr(source.enum).map((value, index) => ({ label: str(names[index]) ?? asText(value), value }));
}

/** The answers as the form's content; a field left empty is left out. */
export function elicitationContent(request: JsonRecord, answers: string[][]): { content?: JsonRecord } {
  const fields = fieldsOf(request);
  if (fields.length === 0) return {};
  const content: JsonRecord = {};
  fields.forEach((field, index) => {
    const chosen = answers[index] ?? [];
    if (chosen.length === 0) return;
    const values = chosen.map((text) => typedValue(field.schema, text));
    content[field.name] = field.schema.type === "array" ? values : values[0];
  });
  return { content };
}

function typedValue(schema: JsonRecord, text: string): unknown {
  const option = optionsOf(schema).find(({ label }) => label === text);
  if (option) return option.value;
  const number = Number(text);
  return (schema.type === "number" || schema.type === "integer") && Number.isFinite(number) ? number : text;
}

/** The other way round: an answer on the wire as answers to our questions. Null: declined. */
export function elicitationAnswers(request: JsonRecord, answer: JsonRecord): string[][] | null {
  if (answer.action !== "accept") return null;
  const fields = fieldsOf(request);
  if (fields.length === 0) return [[ACCEPT]];
  const content = rec(answer.content);
  return fields.map((field) => {
    const value = content[field.name];
    if (value === undefined) return [];
    return (Array.isArray(value) ? value : [value]).map(
      (entry) => optionsOf(field.schema).find((o) => o.value === entry)?.label ?? asText(entry),
    );
  });
}
