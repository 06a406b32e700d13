// Server requests that ask a person: the model's own questions and MCP elicitations, and the exact answers they take.
import type { Draft } from "../../../schema/draft.ts";
import { type JsonRecord, rec, records, str } from "../../json.ts";
import { type FormField, formAnswers, formResult, readForm } from "../../kit/forms.ts";
import { readQuestion } from "../../kit/questions.ts";
import type { Thread } from "./thread.ts";
import { type RpcId, strings } from "./wire.ts";

/** Travels with the question and comes back with the answers. */
export type NativeQuestion = { request_id: RpcId; thread_id: string } & (
  | { kind: "user_input"; ids: string[] }
  | { kind: "form"; fields: FormField[] }
);

type QuestionDraft = Omit<Extract<Draft, { do: "question.request" }>, "native"> & { native: NativeQuestion };

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
      const free_text = question.isOther === true || records(question.options).length === 0;
      const secret = question.isSecret === true ? { secret: true } : {};
      return readQuestion(question, { multi_select: false, free_text, ...secret });
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
  const metadata = {
    kind: "mcp_elicitation",
    server,
    mode: params.mode ?? null,
    schema: params.requestedSchema ?? null,
    url: params.url ?? null,
  };
  const { fields, questions } = readForm({
    message,
    schema: params.requestedSchema,
    header: server,
    url: str(params.url),
  });
  return { do: "question.request", key, questions, metadata, native: { ...who, kind: "form", fields } };
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
    case "form": {
      const result = formResult(native.fields, answers);
      const accepted = result.action === "accept";
      return { action: result.action, content: accepted ? (result.content ?? {}) : null, _meta: null };
    }
    default:
      return native satisfies never;
  }
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
  const answers = formAnswers(native.fields, given);
  return answers === null ? { status: "rejected" } : { status: "answered", answers };
}
