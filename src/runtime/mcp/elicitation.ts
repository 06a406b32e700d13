/** A form that a server puts to the person, as questions; and their answers as the server wants them. */
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../../openresponses/json.ts";
import type { Question, QuestionAsker } from "../ports.ts";

const DECLINE = "(decline)";
const TRIES = 3;

type Field = { readonly name: string; readonly schema: JsonObject; readonly required: boolean };

/** `{action, content?}`, as the protocol has it. */
export async function elicit(server: string, params: JsonObject, asker: QuestionAsker, signal: AbortSignal): Promise<JsonObject> {
  const message = `${server}: ${textOf(params.message) ?? "asks for something"}`;
  if (params.mode === "url") return openUrl(message, textOf(params.url) ?? "", asker, signal);
  const schema = objectOf(params.requestedSchema);
  const required = arrayOf(schema.required);
  const fields = Object.entries(objectOf(schema.properties)).map(
    ([name, value]): Field => ({ name, schema: objectOf(value), required: required.includes(name) }),
  );
  if (fields.length === 0) {
    const [answer] = (await asker.ask([{ question: message, options: ["Accept", "Decline"] }], signal, null)) ?? [];
    if (answer === undefined) return { action: "cancel" };
    return answer === "Accept" ? { action: "accept", content: {} } : { action: "decline" };
  }
  let problem = "";
  for (let time = 0; time < TRIES; time++) {
    const questions = fields.map(
      (field, at): Question => ({
        question: [at === 0 ? `${message}${problem}` : "", label(field)].filter((text) => text !== "").join("\n"),
        options: optionsOf(field),
      }),
    );
    const answers = await asker.ask(questions, signal, null);
    if (answers === null) return { action: "cancel" };
    if (answers.includes(DECLINE)) return { action: "decline" };
    const content: Record<string, unknown> = {};
    const wrong = fields.filter((field, at) => {
      const text = (answers[at] ?? "").trim();
      const value = answerValue(field, text);
      if (value !== undefined) content[field.name] = value;
      return value === undefined && (field.required || text !== "");
    });
    if (wrong.length === 0) return { action: "accept", content };
    problem = ` (${wrong.map(({ name }) => name).join(", ")}: this answer does not fit)`;
  }
  return { action: "cancel" };
}

async function openUrl(message: string, url: string, asker: QuestionAsker, signal: AbortSignal): Promise<JsonObject> {
  const question = `${message}\nOpen this address yourself, if you know it: ${url}`;
  const [answer] = (await asker.ask([{ question, options: ["Done", "Decline"] }], signal, null)) ?? [];
  if (answer === undefined) return { action: "cancel" };
  return { action: answer === "Done" ? "accept" : "decline" };
}

function label({ name, schema, required }: Field): string {
  const title = textOf(schema.title) ?? name;
  const about = textOf(schema.description);
  return `${title}${about === undefined ? "" : `: ${about}`}${required ? "" : " (may be left out)"}`;
}

/** The values of a choice with the words shown for them. */
function choices(schema: JsonObject): { value: string; shown: string }[] {
  const names = arrayOf(schema.enumNames);
  const plain = arrayOf(schema.enum).map((value, at) => ({ value: String(value), shown: textOf(names[at]) ?? String(value) }));
  const titled = [...arrayOf(schema.oneOf), ...arrayOf(schema.anyOf)].filter(isObject).flatMap((one) => {
    const value = textOf(one.const);
    return value === undefined ? [] : [{ value, shown: textOf(one.title) ?? value }];
  });
  return plain.length > 0 ? plain : titled;
}

function optionsOf({ schema }: Field): string[] {
  if (schema.type === "boolean") return ["yes", "no", DECLINE];
  return [...choices(schema).map(({ shown }) => shown), DECLINE];
}

/** Undefined when the answer does not fit. */
function answerValue({ schema }: Field, text: string): unknown {
  if (schema.type === "boolean") return /^(yes|y|true)$/i.test(text) ? true : /^(no|n|false)$/i.test(text) ? false : undefined;
  if (schema.type === "number" || schema.type === "integer") {
    const number = text === "" ? Number.NaN : Number(text);
    return Number.isNaN(number) || (schema.type === "integer" && !Number.isInteger(number)) ? undefined : number;
  }
  const offered = choices(schema);
  if (offered.length > 0) return offered.find(({ value, shown }) => text === shown || text === value)?.value;
  return text === "" ? undefined : text;
}
