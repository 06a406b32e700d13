// Elicitation: forms and links the agent wants the user to fill in, as questions, and the answers back as form content.
import type { Draft } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, rec, str } from "../../json.ts";
import { type FormField, formAnswers, readForm } from "../../kit/forms.ts";
import type { Answer, RpcId } from "./rpc.ts";

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
  const { fields, questions } = readForm({
    message,
    schema: isForm ? params.requestedSchema : null,
    url: isForm ? undefined : str(params.url),
    // claude-agent-acp 0.99: question_0_custom; codex-acp 2.6: q1_note with _meta.codex.questionId.
    companionOf: (name, property) => str(rec(rec(property._meta).codex).questionId) ?? /^(.+)_(?:custom|note)$/.exec(name)?.[1],
  });
  const native: NativeElicitation = { kind: "elicitation", id, session, fields };
  const metadata = { message, mode: str(params.mode) ?? "form", ...(str(params.url) === undefined ? {} : { url: params.url }) };
  return {
    drafts: [{ do: "question.request", key, questions, call_id: str(params.toolCallId) ?? null, item, metadata, native }],
    open: { type: "elicitation", key, session, fields, elicitationId: str(params.elicitationId) ?? null },
  };
}

/** It is asked all the same: a person can at least decline. Null: a mode that is known. */
export const strangeMode = (mode: unknown): string | null =>
  mode === undefined || mode === null || mode === "form" || mode === "url" ? null : `elicitation of mode ${String(mode)}`;

/** Our answer, on its way to the agent. */
export function onElicitationAnswer(open: OpenElicitation, answer: Answer): Draft[] {
  const answers = "result" in answer ? formAnswers(open.fields, answer.result) : null;
  const resolved = { do: "question.resolve", key: open.key, resolved_by: "client" } as const;
  return [answers === null ? { ...resolved, status: "rejected" } : { ...resolved, status: "answered", answers }];
}
