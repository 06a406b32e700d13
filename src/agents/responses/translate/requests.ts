/** Permissions and questions of the agent as drafts. */
import type { Draft } from "../../../schema/draft.ts";
import type { PermissionOption } from "../../../schema/event-data.ts";
import type { Statement } from "./wire.ts";

/** What comes back with the answer. */
export type NativeRequest = { id: string };

const OPTIONS: PermissionOption[] = [
  { id: "once", label: "Allow once", kind: "allow_once" },
  { id: "always", label: "Allow for this session", kind: "allow_always" },
  { id: "reject", label: "Reject", kind: "reject_once" },
];

/** Asked by the loop itself, not for a call. */
const LOOP = "loop";

export function permissionDraft(asked: Extract<Statement, { type: "permission.asked" }>, item: string | null): Draft {
  const { id, tool, args, call_id, reason, diff, subject } = asked;
  const paths = subject.kind === "read" || subject.kind === "edit" ? [...subject.paths] : [];
  return {
    do: "permission.request",
    key: id,
    action: actionOf(asked),
    tool_name: tool,
    input: args,
    call_id: tool === LOOP ? null : call_id,
    item,
    reason,
    ...(diff === null ? {} : { diff }),
    ...(paths.length === 0 ? {} : { paths }),
    options: OPTIONS,
    native: { id } satisfies NativeRequest,
  };
}

function actionOf({ subject, tool, reason }: Extract<Statement, { type: "permission.asked" }>): string {
  switch (subject.kind) {
    case "bash":
      return `Run: ${subject.command}`;
    case "edit":
      return `Change: ${subject.paths.join(", ")}`;
    case "read":
      return `Read: ${subject.paths.join(", ")}`;
    case "fetch":
      return `Fetch: ${subject.url}`;
    case "internal":
    case "other":
      return tool === LOOP ? reason : `Call: ${tool}`;
    default:
      return subject satisfies never;
  }
}

/** `call`: the item of the call that asks. */
export const questionDraft = (
  { id, questions }: Extract<Statement, { type: "question.asked" }>,
  call: { itemKey: string; call_id: string } | undefined,
): Draft => ({
  do: "question.request",
  key: id,
  call_id: call?.call_id ?? null,
  item: call?.itemKey ?? null,
  questions: questions.map(({ question, options }) => ({
    prompt: question,
    options: options.map((label) => ({ label })),
    multi_select: false,
    free_text: true,
  })),
  native: { id } satisfies NativeRequest,
});

/** One of the two is open under this key. */
export const withdrawn = (key: string): Draft[] => [
  { do: "permission.resolve", key, status: "denied", resolved_by: "agent" },
  { do: "question.resolve", key, status: "rejected", resolved_by: "agent" },
];
