/**
 * A plan that waits for the approval of a person: a question with the same words from every agent, whatever the agent itself makes of it (U19). Pure. Not here:
 * plans and todo lists that ask for nothing.
 */
import type { DraftOf } from "../../schema/draft.ts";
import type { PermissionOption } from "../../schema/event-data.ts";

export const PLAN_APPROVE = "Approve";
export const PLAN_APPROVE_EDITS = "Approve and accept edits";
export const PLAN_KEEP = "Keep planning";

export type PlanAnswer = { label: string; description: string };

/** `free_text`: words of the person reach the agent. */
export function planQuestion(
  plan: string,
  options: PlanAnswer[],
  { free_text, file }: { free_text: boolean; file?: string | undefined },
): Pick<DraftOf<"question.request">, "synthetic" | "questions" | "metadata"> {
  return {
    // The agent asks for a tool; that it is a question with these answers is ours.
    synthetic: true,
    questions: [
      {
        prompt: plan === "" ? "Leave plan mode and start working?" : plan,
        header: "Plan",
        options,
        multi_select: false,
        free_text,
      },
    ],
    metadata: { kind: "plan_approval", plan, ...(file ? { plan_file: file } : {}) },
  };
}

/** What an agent offers as options of a permission, in these words: each word once, what has none keeps its own label. */
export function planAnswers(options: readonly PermissionOption[]): { option: PermissionOption; answer: PlanAnswer }[] {
  const edits = options.find(({ id, label, kind }) => kind.startsWith("allow") && ACCEPTS_EDITS.test(`${id} ${label}`));
  const allowed = options.filter((option) => option.kind === "allow_once" && option !== edits);
  const approve = allowed.find(({ id, label }) => BY_HAND.test(`${id} ${label}`)) ?? allowed[0];
  const keep = options.find(({ kind }) => kind.startsWith("reject"));
  const named = new Map<PermissionOption | undefined, string>([
    [keep, PLAN_KEEP],
    [edits, PLAN_APPROVE_EDITS],
    [approve, PLAN_APPROVE],
  ]);
  const rank = (option: PermissionOption): number =>
    [approve, edits, undefined, keep].indexOf(named.has(option) ? option : undefined);
  return options
    .map((option) => ({ option, answer: { label: named.get(option) ?? option.label, description: option.label } }))
    .sort((one, other) => rank(one.option) - rank(other.option));
}

const ACCEPTS_EDITS = /accept[-_ ]?edits?/i;
const BY_HAND = /manual/i;
