// Our answers to the CLI's requests, in its words. Pure: given what was asked and what the person said.
import type { PermissionReply } from "../../contract.ts";
import { type JsonRecord, records, str } from "../../json.ts";
import { answerFor } from "../../kit/choices.ts";
import { formResult } from "../../kit/forms.ts";
import { PLAN_APPROVE, PLAN_APPROVE_EDITS, PLAN_KEEP } from "../../kit/plan-approval.ts";
import { elicitationForm } from "../translate/elicitation.ts";
import { type NativeRequest, PLAN_KEPT, PLAN_REJECTED, REJECTED } from "../translate/permissions.ts";

export function permissionResponse({ choices, input, tool_use_id }: NativeRequest, reply: PermissionReply): JsonRecord {
  const id = tool_use_id === null ? {} : { toolUseID: tool_use_id };
  const answer = answerFor(choices, reply) ?? { behavior: "deny" };
  if (answer.behavior === "allow") return { ...answer, updatedInput: reply.updated_input ?? input, ...id };
  // 2.1.325 takes a denial without a message for a malformed answer.
  return { ...answer, message: reply.message || REJECTED, ...id };
}

/** `answers` null: rejected. */
export function questionResponse(native: NativeRequest, answers: string[][] | null): JsonRecord {
  if (native.kind === "elicitation") return formResult(elicitationForm(native.input).fields, answers);
  const id = native.tool_use_id === null ? {} : { toolUseID: native.tool_use_id };
  if (native.kind === "plan") return planResponse(native, answers, id);
  if (answers === null) return { behavior: "deny", message: "The user declined to answer the questions.", ...id };
  const given: Record<string, string> = {};
  records(native.input.questions).forEach((question, index) => {
    const chosen = answers[index] ?? [];
    if (chosen.length > 0) given[str(question.question) ?? ""] = chosen.join(", ");
  });
  return { behavior: "allow", updatedInput: { ...native.input, answers: given }, ...id };
}

function planResponse(native: NativeRequest, answers: string[][] | null, id: JsonRecord): JsonRecord {
  const answer = answers?.[0]?.join(", ") ?? "";
  if (answer === "") return { behavior: "deny", message: PLAN_REJECTED, ...id };
  if (answer === PLAN_APPROVE) return { behavior: "allow", updatedInput: native.input, ...id };
  if (answer === PLAN_APPROVE_EDITS)
    return {
      behavior: "allow",
      updatedInput: native.input,
      updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
      ...id,
    };
  return { behavior: "deny", message: answer === PLAN_KEEP ? PLAN_KEPT : answer, ...id };
}
