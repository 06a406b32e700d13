// Permission requests: options as they are offered, chosen by kind and never by id, since every agent has ids of its own.
import type { Draft } from "../../../schema/draft.ts";
import type { PermissionOption, QuestionPrompt } from "../../../schema/event-data.ts";
import { arr, isRecord, type JsonRecord, rec, records, str } from "../../json.ts";
import { resolutionOf } from "../../kit/choices.ts";
import { planAnswers, planQuestion } from "../../kit/plan-approval.ts";
import { readQuestion } from "../../kit/questions.ts";
import { closeMessage, flushHeld } from "./messages.ts";
import type { Answer, RpcId } from "./rpc.ts";
import type { Call, SessionState, Surroundings } from "./session-state.ts";
import { leavesPlan } from "./tool-kinds.ts";
import { contentText, fileParts } from "./tool-output.ts";
import { kindOf, nameOf, onToolCall } from "./tools.ts";

/** What an answer has to quote. Handed to the connection untouched. */
export type NativePermission = { kind: "permission"; id: RpcId; session: string; options: PermissionOption[] };
/** qwen 0.24 asks its questions as a permission; the answers ride beside the outcome, by index. */
export type NativePermissionQuestions = {
  kind: "permission_questions";
  id: RpcId;
  session: string;
  options: PermissionOption[];
  count: number;
};

/** A way out of plan mode, which the protocol has as a permission: labels of the answers and the options they choose. */
export type NativePlan = { kind: "plan_approval"; id: RpcId; session: string; answers: PlanChoice[] };
type PlanChoice = { label: string; option: PermissionOption };

export const isPlan = (native: unknown): native is NativePlan => isRecord(native) && native.kind === "plan_approval";
export const isPermission = (native: unknown): native is NativePermission => isRecord(native) && native.kind === "permission";
export const isPermissionQuestions = (native: unknown): native is NativePermissionQuestions =>
  isRecord(native) && native.kind === "permission_questions";

export type OpenPermission = {
  type: "permission";
  key: string;
  session: string;
  callId: string | null;
  options: PermissionOption[];
  questions: QuestionPrompt[] | null;
  /** The approval of a plan is a question too. */
  plan: PlanChoice[] | null;
};

export function onPermissionRequest(
  state: SessionState,
  around: Surroundings,
  id: RpcId,
  params: JsonRecord,
  key: string,
  child: string | null,
): { drafts: Draft[]; open: OpenPermission } {
  const subject = rec(params.subject);
  const told = isRecord(params.toolCall) ? params.toolCall : rec(subject.toolCall);
  const callId = str(told.toolCallId) ?? str(subject.toolCallId) ?? null;
  const drafts: Draft[] = [...flushHeld(state), ...closeMessage(state)];
  if (str(told.toolCallId) !== undefined) drafts.push(...onToolCall(state, around, told, "permission", child));
  const call = callId === null ? undefined : state.calls.get(callId);
  const options = readOptions(params.options);
  const questions = readQuestions(rec(told._meta).qwenQuestions);
  const open: OpenPermission = { type: "permission", key, session: state.id, callId, options, questions, plan: null };
  if (questions !== null) {
    const native: NativePermissionQuestions = {
      kind: "permission_questions",
      id,
      session: state.id,
      options,
      count: questions.length,
    };
    drafts.push({ do: "question.request", key, questions, call_id: callId, item: call?.key ?? null, native });
    return { drafts, open };
  }
  // Another client may still choose what is not offered here.
  const offered = options.filter((option) => !around.quirks.unofferedOptions?.test(option.id));
  if (leavesPlan(call && nameOf(call), str(told.kind) ?? call?.kind)) {
    const found = planAnswers(offered);
    open.plan = planAnswers(options).map(({ option, answer }) => ({ label: answer.label, option }));
    const native: NativePlan = {
      kind: "plan_approval",
      id,
      session: state.id,
      answers: found.map(({ option, answer }) => ({ label: answer.label, option })),
    };
    const answers = found.map(({ answer }) => answer);
    const question = planQuestion(planText(told, call), answers, { free_text: false });
    drafts.push({ do: "question.request", key, call_id: callId, item: call?.key ?? null, native, ...question });
    return { drafts, open };
  }
  const native: NativePermission = { kind: "permission", id, session: state.id, options: offered };
  drafts.push(permissionDraft(key, params, subject, told, call, offered, native));
  return { drafts, open };
}

/** What in a request is not understood; it is asked all the same, with what is. Null: nothing. */
export function strangeRequest({ subject, options }: JsonRecord): string | null {
  const { type } = rec(subject);
  if (isRecord(subject) && type !== "tool_call" && type !== "command")
    return `permission about ${str(type) ?? "something without a type"}`;
  if ((options ?? null) !== null && !Array.isArray(options)) return "permission whose options are no list";
  const odd = arr(options).find((option) => !KINDS.some((kind) => kind === rec(option).kind));
  return odd === undefined ? null : `permission option of kind ${String(rec(odd).kind ?? "none")}`;
}

const planText = (told: JsonRecord, call: Call | undefined): string =>
  str(rec(told.rawInput).plan) ?? str(rec(call?.input).plan) ?? contentText(records(told.content));

function permissionDraft(
  key: string,
  params: JsonRecord,
  subject: JsonRecord,
  told: JsonRecord,
  call: Call | undefined,
  options: PermissionOption[],
  native: NativePermission,
): Draft {
  const content = records(told.content);
  const input = told.rawInput ?? call?.input ?? askedInput(call, subject);
  const reason = str(params.description) ?? contentText(content);
  const diff = fileParts(content.length > 0 ? content : (call?.content ?? []))
    .map((part) => (part.type === "file_ref" ? (part.diff ?? "") : ""))
    .join("\n");
  return {
    do: "permission.request",
    key,
    action: actionOf(call, str(told.title) ?? str(params.title) ?? "", subject),
    tool_name: call === undefined ? (str(subject.type) ?? "command") : nameOf(call),
    input,
    call_id: call?.id ?? null,
    item: call?.key ?? null,
    ...(reason === "" ? {} : { reason }),
    ...(diff === "" ? {} : { diff }),
    ...(call === undefined || call.paths.length === 0 ? {} : { paths: call.paths }),
    options,
    native,
  };
}

/** gemini 0.61 says no input; what it shows is what is approved. */
function askedInput(call: Call | undefined, subject: JsonRecord): unknown {
  if (str(subject.command) !== undefined) return { command: subject.command, cwd: subject.cwd ?? null };
  if (call === undefined) return subject;
  if (kindOf(call) === "shell") return { command: call.title };
  return { title: call.title, ...(call.paths.length === 0 ? {} : { paths: call.paths }) };
}

/** What it wants to do, for a person. */
function actionOf(call: Call | undefined, title: string, subject: JsonRecord): string {
  const command = str(rec(call?.input).command) ?? str(subject.command);
  if (call === undefined) return command === undefined ? title : `Run: ${command}`;
  const path = call.paths[0];
  switch (kindOf(call)) {
    case "shell":
      return `Run: ${command ?? (call.title || title)}`;
    case "edit":
      return `Edit: ${path ?? (call.title || title)}`;
    case "write":
      return `Write: ${path ?? (call.title || title)}`;
    case "delete":
      return `Delete: ${path ?? (call.title || title)}`;
    case "read":
      return `Read: ${path ?? (call.title || title)}`;
    case "fetch":
      return `Fetch: ${call.title || title}`;
    default:
      return call.title || title || nameOf(call);
  }
}

const KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const;

export function readOptions(value: unknown): PermissionOption[] {
  return records(value).map((option) => {
    const id = str(option.optionId) ?? "";
    const kind = KINDS.find((each) => each === option.kind);
    // v2 allows kinds nobody has named yet: what does not clearly allow must not be taken for a yes.
    return {
      id,
      label: str(option.name) ?? id,
      kind: kind ?? (str(option.kind)?.startsWith("allow") ? "allow_once" : "reject_once"),
    };
  });
}

function readQuestions(value: unknown): QuestionPrompt[] | null {
  const questions = records(value);
  if (questions.length === 0) return null;
  return questions.map((question) => readQuestion(question, { multi_select: question.multiSelect === true, free_text: true }));
}

/** Whatever is allowed without asking: a way out of plan mode is a decision of its own, and a question has no other answer than a person's. */
export const needsPerson = ({ questions, plan }: OpenPermission): boolean => questions !== null || plan !== null;

/** Our answer, on its way to the agent. */
export function onPermissionAnswer(state: SessionState, open: OpenPermission, answer: Answer): Draft[] {
  const result = "result" in answer ? rec(answer.result) : {};
  const outcome = rec(result.outcome);
  const chosen = outcome.outcome === "selected" ? open.options.find((option) => option.id === outcome.optionId) : undefined;
  const approved = chosen?.kind.startsWith("allow") === true;
  const call = open.callId === null ? undefined : state.calls.get(open.callId);
  if (!approved && call?.state === "open") call.state = "denied";
  if (open.questions !== null) return [questionAnswer(open, approved, rec(result.answers))];
  if (open.plan !== null) return [planAnswer(open, chosen)];
  return [
    {
      do: "permission.resolve",
      key: open.key,
      resolved_by: "client",
      ...resolutionOf(chosen),
      ...("error" in answer ? { message: answer.error.message } : {}),
    },
  ];
}

function questionAnswer(open: OpenPermission, answered: boolean, answers: JsonRecord): Draft {
  if (!answered) return { do: "question.resolve", key: open.key, status: "rejected", resolved_by: "client" };
  const given = (open.questions ?? []).map((_, index) => {
    const answer = str(answers[String(index)]);
    return answer === undefined ? [] : [answer];
  });
  return { do: "question.resolve", key: open.key, status: "answered", resolved_by: "client", answers: given };
}

function planAnswer({ key, plan }: OpenPermission, chosen: PermissionOption | undefined): Draft {
  const label = plan?.find(({ option }) => option === chosen)?.label;
  const base = { do: "question.resolve" as const, key, resolved_by: "client" as const };
  return label === undefined ? { ...base, status: "rejected" } : { ...base, status: "answered", answers: [[label]] };
}

/** The agent took its question back ($/cancel_request), or the turn is over. */
export function withdraw(state: SessionState | undefined, open: OpenPermission): Draft {
  const call = open.callId === null ? undefined : state?.calls.get(open.callId);
  if (call?.state === "open") call.state = "denied";
  if (open.questions !== null || open.plan !== null)
    return { do: "question.resolve", key: open.key, status: "rejected", resolved_by: "agent" };
  return { do: "permission.resolve", key: open.key, status: "denied", resolved_by: "agent" };
}
