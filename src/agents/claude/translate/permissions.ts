// What the CLI asks its host: permission for a tool, answers to questions, approval of a plan, MCP elicitation. Asking and settling;
// the wording of our answers is in replies.ts.
import type { Draft } from "../../../schema/draft.ts";
import { arr, asText, isRecord, type JsonRecord, own, rec, records, str, toJson } from "../../json.ts";
import { type ChoiceTable, choice, choiceTable } from "../../kit/choices.ts";
import { formAnswers } from "../../kit/forms.ts";
import { PLAN_APPROVE, PLAN_APPROVE_EDITS, PLAN_KEEP, planQuestion } from "../../kit/plan-approval.ts";
import { readQuestion } from "../../kit/questions.ts";
import { unifiedDiff } from "../../unified-diff.ts";
import { elicitationForm } from "./elicitation.ts";
import { type ClaudeState, type RequestState, toolKey } from "./state.ts";
import { baseName, toolAction, toolPaths } from "./tool-kinds.ts";

/** What the CLI gets where the person gave no words: by them such an answer is known again. */
export const REJECTED = "The user rejected this tool call.";
export const PLAN_KEPT = "The user wants to keep planning.";
export const PLAN_REJECTED = "The user rejected the plan and wants to keep planning.";

/** Handed to the connection and back: all that an answer has to quote. */
export type NativeRequest = {
  kind: RequestState["kind"];
  request_id: string;
  tool_use_id: string | null;
  input: JsonRecord;
  /** What each option of a permission says; empty for questions. */
  choices: ChoiceTable<JsonRecord>;
};

const STOPPING = "reject_and_stop";
const NO_CHOICES = choiceTable<JsonRecord>([]);

/** `can_use_tool`. Two tools are questions in disguise. */
export function askTool(state: ClaudeState, requestId: string, request: JsonRecord, drafts: Draft[]): void {
  const name = str(request.tool_name) ?? "unknown";
  const callId = str(request.tool_use_id) ?? null;
  const call = callId === null ? null : state.callName(state.scopeOfAgent(request.agent_id), callId);
  const input = rec(request.input);
  const kind = name === "AskUserQuestion" ? "question" : name === "ExitPlanMode" ? "plan" : "permission";
  const key = `request:${requestId}`;
  const table = kind === "permission" ? choicesOf(request) : NO_CHOICES;
  state.requests.set(requestId, { kind, key, call, callId, input, options: table.offered });
  const native: NativeRequest = { kind, request_id: requestId, tool_use_id: callId, input, choices: table };
  const about = { key, call_id: call, item: call === null ? null : toolKey(state, call), native };
  if (kind === "question") drafts.push({ do: "question.request", ...about, questions: userQuestions(input) });
  else if (kind === "plan") drafts.push(planApproval(state, call, input, about));
  else drafts.push(permission(request, name, input, native, about));
}

type About = { key: string; call_id: string | null; item: string | null; native: NativeRequest };

function permission(request: JsonRecord, name: string, input: JsonRecord, native: NativeRequest, about: About): Draft {
  const blocked = str(request.blocked_path);
  const paths = [...new Set([...toolPaths(input), ...(blocked ? [blocked] : [])])];
  const description = str(request.description);
  // Of an edit it is only the name of the file.
  const reason = str(request.decision_reason) ?? (paths.some((path) => baseName(path) === description) ? undefined : description);
  const diff = askedDiff(name, input);
  return {
    do: "permission.request",
    ...about,
    action: str(request.title) ?? toolAction(name, input),
    tool_name: name,
    input,
    ...(reason ? { reason } : {}),
    ...(paths.length > 0 ? { paths } : {}),
    ...(diff === undefined ? {} : { diff }),
    options: native.choices.offered,
  };
}

/**
 * The change as other agents show it. Made from the pieces that are named, so its lines count from there. Undefined where that would hide something: how often a piece is
 * replaced. What a file had before it is written is not said.
 */
function askedDiff(name: string, input: JsonRecord): string | undefined {
  const path = str(input.file_path);
  if (path === undefined) return undefined;
  const content = str(input.content);
  if (name === "Write") return content === undefined ? undefined : unifiedDiff(path, "", content);
  const [before, after] = [str(input.old_string), str(input.new_string)];
  const whole = name === "Edit" && before !== undefined && after !== undefined && input.replace_all !== true;
  if (!whole) return undefined;
  // Pieces that both end within a line are not the ends of files.
  const within = ![before, after].some((piece) => piece === "" || piece.endsWith("\n"));
  return within ? unifiedDiff(path, `${before}\n`, `${after}\n`) : unifiedDiff(path, before, after);
}

const choicesOf = (request: JsonRecord): ChoiceTable<JsonRecord> =>
  permissionChoices(request.suppress_always_allow_rule === true ? [] : records(request.permission_suggestions));

/** The input that may run, or why not, is added when one is chosen. */
export function permissionChoices(suggestions: JsonRecord[]): ChoiceTable<JsonRecord> {
  const folders = suggestions.flatMap((suggestion) => arr(suggestion.directories)).map((path) => `access to ${String(path)}`);
  const rules = [...suggestions.flatMap((suggestion) => records(suggestion.rules)).map(ruleText), ...folders];
  const mode = suggestions.find((suggestion) => suggestion.type === "setMode");
  const always =
    rules.length > 0
      ? `Always allow ${rules.join(", ")} in this session`
      : mode
        ? `Allow all of this kind (${str(mode.mode)})`
        : "Always allow";
  const updatedPermissions = alwaysUpdates(suggestions);
  return choiceTable([
    choice("once", "Allow once", "allow_once", { behavior: "allow" }),
    ...(suggestions.length > 0 ? [choice("always", always, "allow_always", { behavior: "allow", updatedPermissions })] : []),
    choice("reject", "Reject", "reject_once", { behavior: "deny" }),
    choice(STOPPING, "Reject and stop the turn", "reject_once", { behavior: "deny", interrupt: true }),
  ]);
}

/**
 * The suggested rule, and only it: a suggestion to change the mode counts only when there is no rule. It stays in the session's memory: the CLI's own
 * suggestion would write it into the user's repository.
 */
function alwaysUpdates(suggestions: JsonRecord[]): JsonRecord[] {
  const narrow = suggestions.filter((update) => update.type === "addRules" || update.type === "addDirectories");
  return (narrow.length > 0 ? narrow : suggestions).map((update) => ({ ...update, destination: "session" }));
}

const ruleText = (rule: JsonRecord): string => {
  const content = str(rule.ruleContent);
  return content ? `${str(rule.toolName)}(${content})` : (str(rule.toolName) ?? "");
};

/** Claude Code itself always offers "Other" beside the options. */
const userQuestions = (input: JsonRecord) =>
  records(input.questions).map((question) =>
    readQuestion(question, { multi_select: question.multiSelect === true, free_text: true }),
  );

const PLAN_ANSWERS = [
  { label: PLAN_APPROVE, description: "Start working; edits are asked for" },
  { label: PLAN_APPROVE_EDITS, description: "Start working; edits are accepted without asking" },
  { label: PLAN_KEEP, description: "Stay in plan mode; other text is given to the agent as feedback" },
];

/** A plan the model wrote inline is in the tool call, while `can_use_tool` then has an empty input. */
function planApproval(state: ClaudeState, call: string | null, input: JsonRecord, about: About): Draft {
  const known = call === null ? undefined : state.tools.get(call)?.input;
  const plan = str(input.plan) ?? str(known?.plan) ?? "";
  const file = str(input.planFilePath) ?? str(known?.planFilePath);
  return { do: "question.request", ...about, ...planQuestion(plan, PLAN_ANSWERS, { free_text: true, file }) };
}

export function askElicitation(state: ClaudeState, requestId: string, request: JsonRecord, drafts: Draft[]): void {
  const key = `request:${requestId}`;
  state.requests.set(requestId, { kind: "elicitation", key, call: null, callId: null, input: request, options: [] });
  const native: NativeRequest = {
    kind: "elicitation",
    request_id: requestId,
    tool_use_id: null,
    input: request,
    choices: NO_CHOICES,
  };
  const url = str(request.url);
  drafts.push({
    do: "question.request",
    key,
    questions: elicitationForm(request).questions,
    metadata: {
      kind: "mcp_elicitation",
      server: str(request.mcp_server_name) ?? "",
      mode: str(request.mode) ?? "form",
      ...(url ? { url } : {}),
    },
    native,
  });
}

/** Our answer, as it went over the wire; also what another client may have sent in a trace. */
export function settleByClient(state: ClaudeState, requestId: string, answer: JsonRecord | string, drafts: Draft[]): void {
  const request = state.requests.get(requestId);
  if (!request) return;
  state.requests.delete(requestId);
  drafts.push(request.kind === "permission" ? permissionAnswer(request, answer) : questionAnswer(request, answer));
}

function permissionAnswer({ key, input, options }: RequestState, answer: JsonRecord | string): Draft {
  const base = { do: "permission.resolve" as const, key, resolved_by: "client" as const };
  if (typeof answer === "string") return { ...base, status: "denied", reply: "reject", message: answer };
  const allowed = answer.behavior === "allow";
  const reply = !allowed ? "reject" : records(answer.updatedPermissions).length > 0 ? "always" : "once";
  const id = answer.behavior === "deny" && answer.interrupt === true ? STOPPING : reply;
  const chosen = options.some((option) => option.id === id) ? { option_id: id } : {};
  const message = str(answer.message);
  if (!allowed) return { ...base, status: "denied", reply, ...chosen, ...(message && message !== REJECTED ? { message } : {}) };
  const edited = isRecord(answer.updatedInput) && toJson(answer.updatedInput) !== toJson(input);
  return { ...base, status: "approved", reply, ...chosen, ...(edited ? { updated_input: answer.updatedInput } : {}) };
}

function questionAnswer(request: RequestState, answer: JsonRecord | string): Draft {
  const answers = typeof answer === "string" ? null : answersOf(request, answer);
  const base = { do: "question.resolve" as const, key: request.key, resolved_by: "client" as const };
  return answers === null ? { ...base, status: "rejected" } : { ...base, status: "answered", answers };
}

/** Null: declined. */
function answersOf(request: RequestState, answer: JsonRecord): string[][] | null {
  if (request.kind === "elicitation") return formAnswers(elicitationForm(request.input).fields, answer);
  const allowed = answer.behavior === "allow";
  if (request.kind === "plan") {
    const message = str(answer.message);
    if (!allowed) return message && message !== PLAN_REJECTED ? [[message === PLAN_KEPT ? PLAN_KEEP : message]] : null;
    const edits = records(answer.updatedPermissions).some((update) => update.type === "setMode");
    return [[edits ? PLAN_APPROVE_EDITS : PLAN_APPROVE]];
  }
  const given = rec(rec(answer.updatedInput).answers);
  if (!allowed || Object.keys(given).length === 0) return null;
  return records(request.input.questions).map((question) => choices(question, own(given, str(question.question) ?? "")));
}

/** Several choices of one question travel as `A, B`. */
function choices(question: JsonRecord, value: unknown): string[] {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value !== "string") return [];
  const labels = records(question.options).map((option) => str(option.label));
  if (question.multiSelect !== true || labels.includes(value)) return [value];
  return value.split(/,\s*/).filter((label) => label !== "");
}

/** The CLI withdrew the request, or went on without an answer. */
export function settleByAgent(state: ClaudeState, requestId: string, approved: boolean, drafts: Draft[]): void {
  const request = state.requests.get(requestId);
  if (!request) return;
  state.requests.delete(requestId);
  if (request.kind === "permission")
    drafts.push({ do: "permission.resolve", key: request.key, status: approved ? "approved" : "denied", resolved_by: "agent" });
  else drafts.push({ do: "question.resolve", key: request.key, status: "rejected", resolved_by: "agent" });
}

/** The call has an outcome: whatever was asked about it is settled. */
export function settleCall(state: ClaudeState, call: string, isError: boolean, drafts: Draft[]): void {
  for (const [id, request] of state.requests) if (request.call === call) settleByAgent(state, id, !isError, drafts);
}
