// Tool calls: announced, updated, asked about or finished in any order agents choose. A call first seen in a permission request or
// an update gets its start; a call announced twice is one call.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { closeMessage, flushHeld, settleEcho } from "./messages.ts";
import { todoPlan } from "./plans.ts";
import type { Call, SessionState, Surroundings } from "./session-state.ts";
import { linkTerminals, metaOutput, metaTerminal } from "./terminals.ts";
import { toolKind } from "./tool-kinds.ts";
import { contentText, outcomeOf, rawText } from "./tool-output.ts";

export type Sighting = "tool_call" | "tool_call_update" | "permission";

export function onToolCall(
  state: SessionState,
  around: Surroundings,
  update: JsonRecord,
  sighting: Sighting,
  child: string | null,
): Draft[] {
  const id = str(update.toolCallId);
  if (id === undefined) return [];
  const known = state.calls.get(id);
  const again = known?.state === "ended" && isAnother(state, known, update, sighting);
  if (known?.state === "ended" && !again) return [];
  if (known === undefined && sighting === "tool_call_update" && state.replayed.has(id)) return [];
  const isNew = known === undefined || again;
  const drafts = isNew ? [...settleEcho(state, "assistant"), ...flushHeld(state)] : [];
  if (isNew && subagentParent(state, update) === null) drafts.push(...closeMessage(state));
  const call = isNew ? newCall(state, around, update, id, child) : known;
  if (isNew && sighting === "tool_call") call.announced = announcement(update);
  merge(call, around, update, sighting);
  drafts.push(...tell(call, isNew), ...todoPlan(state, call, child));
  drafts.push(...linkTerminals(state, call), ...metaTerminal(state, call, rec(update._meta)));
  drafts.push(...streamContent(call, update, sighting));
  if (sighting !== "permission" && isFinal(update) && state.message?.child === call.key) drafts.push(...closeMessage(state));
  if (sighting !== "permission" && isFinal(update)) drafts.push(...finish(state, around, call, update.status !== "completed"));
  return drafts;
}

/** Some agents give the id of a call that has ended to the next one. The same words again are the same call. */
function isAnother(state: SessionState, ended: Call, update: JsonRecord, sighting: Sighting): boolean {
  if (sighting === "tool_call_update") return false;
  if (sighting === "permission" || ended.turn !== state.turns) return true;
  // What something else announced is announced late.
  return !isFinal(update) && ended.announced !== "" && announcement(update) !== ended.announced;
}

const announcement = ({ title, kind, rawInput, content }: JsonRecord): string => toJson([title, kind, rawInput, content]);

const isFinal = ({ status }: JsonRecord): boolean => status === "completed" || status === "failed" || status === "cancelled";

/** What is said of a call that has ended, and was not known of it: its items cannot change any more. Null: nothing of the kind. */
export function lateNews(state: SessionState, update: JsonRecord, sighting: Sighting): JsonRecord | null {
  const call = state.calls.get(str(update.toolCallId) ?? "");
  if (call?.state !== "ended" || isAnother(state, call, update, sighting)) return null;
  const output = contentText(records(update.content)) || rawText(update.rawOutput) || metaOutput(rec(update._meta));
  const isNew = output !== "" && !outputOf(state, call).includes(output);
  const announces = sighting === "tool_call" && call.announced === "";
  const ends = call.cut && isFinal(update);
  if (!isNew && !announces && !ends) return null;
  if (ends) call.cut = false;
  if (isNew) call.late += output;
  if (announces) call.announced = announcement(update);
  const { title, kind, rawInput: input } = update;
  return {
    call_id: call.id,
    ...(isFinal(update) ? { status: update.status } : {}),
    ...(announces ? { title, kind, input } : {}),
    ...(isNew ? { output } : {}),
  };
}

const outputOf = (state: SessionState, call: Call): string =>
  [
    contentText(call.content),
    rawText(call.raw),
    ...call.terminals.map((id) => state.terminals.get(id)?.output ?? ""),
    call.late,
  ].join("\n");

function newCall(state: SessionState, around: Surroundings, update: JsonRecord, id: string, child: string | null): Call {
  state.callCount += 1;
  state.silent = false;
  if (state.openCalls().length === 0 && state.message === null && state.origin !== null && hasEndedSince(state))
    state.origin = null;
  const parent = child ?? subagentParent(state, update) ?? state.origin;
  const call: Call = {
    id,
    key: state.key(`call:${state.callCount}:${id}`),
    resultKey: state.key(`result:${state.callCount}:${id}`),
    parent,
    name: firstName(around, update, id),
    kind: undefined,
    title: "",
    mcp: false,
    input: undefined,
    paths: [],
    content: [],
    contentIsOutput: false,
    raw: undefined,
    response: undefined,
    terminals: [],
    exitCode: undefined,
    announced: "",
    late: "",
    told: "",
    resultOpen: false,
    streamed: "",
    state: "open",
    cut: false,
    lasting: false,
    turn: state.turns,
  };
  state.calls.set(id, call);
  return call;
}

/** A call after all earlier ones of this message ended, with no new text: it comes from a message that had no text. */
const hasEndedSince = (state: SessionState): boolean =>
  [...state.calls.values()].some((call) => call.state === "ended" && call.parent === state.origin);

export function subagentParent(state: SessionState, update: JsonRecord): string | null {
  const meta = rec(update._meta);
  const parentId = str(rec(meta.claudeCode).parentToolUseId);
  if (parentId !== undefined) return state.calls.get(parentId)?.key ?? null;
  // copilot 1.0: calls of a sub-agent bear its id, but the spawning call does not: it is the one that is open.
  return str(rec(meta["github.com/copilot"]).agentId) === undefined ? null : runningSubagent(state);
}

const runningSubagent = (state: SessionState): string | null =>
  state.openCalls().find((call) => kindOf(call) === "subagent")?.key ?? null;

/** The call of the sub-agent that says this text; null when the session's own model does. */
export const speakerOf = (state: SessionState, { quirks }: Surroundings, update: JsonRecord): string | null =>
  subagentParent(state, update) ?? (quirks.subagentSpeaks && state.calls.size > 0 ? runningSubagent(state) : null);

function firstName(around: Surroundings, update: JsonRecord, id: string): string | undefined {
  const { quirks } = around;
  if (quirks.nameFromCallId !== undefined && id.includes(quirks.nameFromCallId)) return id.split(quirks.nameFromCallId)[0];
  if (quirks.nameFromTitle && str(update.status) === "pending") return str(update.title);
  return undefined;
}

function merge(call: Call, around: Surroundings, update: JsonRecord, sighting: Sighting): void {
  const meta = rec(update._meta);
  call.name = str(update.name) ?? str(rec(meta.claudeCode).toolName) ?? str(meta.toolName) ?? call.name;
  call.kind = str(update.kind) ?? call.kind;
  // codex-acp-zed 0.16 titles the request "Approve MCP tool call": the call's own title is better.
  const title = str(update.title);
  if (title && (sighting !== "permission" || call.title === "")) call.title = title;
  call.mcp =
    call.mcp ||
    meta.is_mcp_tool_call === true ||
    meta.provenance === "mcp" ||
    isMcpInput(update.rawInput) ||
    isOfServer(around, call);
  if (isFilled(update.rawInput) && (sighting !== "permission" || !isFilled(call.input))) call.input = update.rawInput;
  if (sighting === "permission" && !isFilled(call.input)) call.input = shownArguments(update);
  if (update.rawOutput !== undefined && update.rawOutput !== null) call.raw = update.rawOutput;
  call.response = rec(meta.claudeCode).toolResponse ?? call.response;
  const paths = records(update.locations).flatMap((location) => str(location.path) ?? []);
  if (paths.length > 0) call.paths = [...new Set(paths)];
  if (Array.isArray(update.content)) mergeContent(call, update, sighting);
}

function mergeContent(call: Call, update: JsonRecord, sighting: Sighting): void {
  const content = records(update.content);
  const status = str(update.status);
  const final = isFinal(update);
  const keepsDiff = final && call.content.some((each) => each.type === "diff") && !content.some((each) => each.type === "diff");
  // claude 0.99 ends an edit with its text alone; the change was said before.
  call.content =
    keepsDiff && status === "completed" ? [...content, ...call.content.filter((each) => each.type === "diff")] : content;
  if (sighting !== "permission") call.contentIsOutput = final || isRunningOutput(update, sighting);
  if (call.paths.length === 0) call.paths = [...new Set(content.flatMap(diffPaths))];
  // v2 names each file that a change touches, where the locations may name one of the two of a move.
  const touched = content.filter(({ changes }) => Array.isArray(changes)).flatMap(diffPaths);
  if (touched.length > 0) call.paths = [...new Set([...call.paths, ...touched])];
}

/** Every file that a change touches, also the one that it moves away. */
export const diffPaths = (content: JsonRecord): string[] => {
  if (content.type !== "diff") return [];
  const own = str(content.path);
  return own === undefined
    ? records(content.changes).flatMap(({ path, oldPath }) => [str(path) ?? [], str(oldPath) ?? []].flat())
    : [own];
};

/** gemini 0.61 shows an MCP call's arguments as JSON text in the permission request, and nowhere else. */
function shownArguments(update: JsonRecord): unknown {
  const text = contentText(records(update.content));
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isFilled = (input: unknown): boolean =>
  isRecord(input) ? Object.keys(input).length > 0 : input !== undefined && input !== null;
const isMcpInput = (input: unknown): boolean =>
  isRecord(input) && typeof input.server === "string" && typeof input.tool === "string";
const isSubagentInput = (input: unknown): boolean =>
  isRecord(input) &&
  typeof input.prompt === "string" &&
  (typeof input.subagent_type === "string" || typeof input.agent_type === "string");

/** opencode 1.18 calls the tools of an MCP server `<server>_<tool>`, of no kind. */
const isOfServer = ({ mcpServers }: Surroundings, call: Call): boolean =>
  isOfNoKind(call) && [...mcpServers].some((server) => ownName(call)?.startsWith(`${server}_`));

const isOfNoKind = ({ kind }: Call): boolean => kind === undefined || kind === "other";

/** What the agent calls the tool. codex-acp 2.6 titles a call that is of no kind with it. */
const ownName = (call: Call): string | undefined =>
  call.name ?? (isOfNoKind(call) && /^[A-Za-z][\w.-]*$/.test(call.title) ? call.title : undefined);

export const kindOf = (call: Call) =>
  isSubagentInput(call.input) ? "subagent" : toolKind(ownName(call), call.kind, call.title, call.mcp);

/** The name the agent has for the tool; ACP often has none, then its kind says most. */
export const nameOf = (call: Call): string => call.name ?? mcpName(call) ?? ownName(call) ?? call.kind ?? (call.title || "tool");

const mcpName = (call: Call): string | undefined => {
  const input = rec(call.input);
  return isMcpInput(input) ? `mcp__${str(input.server)}__${str(input.tool)}` : undefined;
};

export function callPart(call: Call): DraftPart {
  return {
    type: "tool_call",
    name: nameOf(call),
    arguments: toJson(isFilled(call.input) ? call.input : {}),
    call_id: call.id,
    tool_kind: kindOf(call),
    title: call.title || nameOf(call),
    ...(call.paths.length === 0 ? {} : { paths: call.paths }),
  };
}

function tell(call: Call, isNew: boolean): Draft[] {
  const part = callPart(call);
  const text = toJson(part);
  if (text === call.told) return [];
  call.told = text;
  if (!isNew) return [{ do: "item.update", key: call.key, content: [part] }];
  const item = {
    key: call.key,
    native_item_id: call.id,
    parent: call.parent,
    kind: "tool_call" as const,
    role: "assistant" as const,
    content: [part],
  };
  return [{ do: "item.start", item }];
}

/** A call that was announced without what it runs, and turned out to run this. */
export function learnInput(call: Call, input: JsonRecord): Draft[] {
  if (isFilled(call.input) || call.state === "ended") return [];
  call.input = input;
  return tell(call, false);
}

/**
 * Text said while a command runs is its output (opencode 1.18: cumulative, `in_progress`; copilot 1.0: no status). Text said together
 * with the input describes the call (claude 0.99: the description of the command).
 */
function isRunningOutput(update: JsonRecord, sighting: Sighting): boolean {
  if (sighting !== "tool_call_update") return false;
  return (
    update.status === "in_progress" ||
    (update.status === undefined && update.rawInput === undefined && update.title === undefined)
  );
}

function streamContent(call: Call, update: JsonRecord, sighting: Sighting): Draft[] {
  if (!Array.isArray(update.content) || !isRunningOutput(update, sighting) || kindOf(call) !== "shell") return [];
  const text = contentText(call.content);
  if (text === call.streamed || text === "") return [];
  const drafts = openResult(call);
  if (text.startsWith(call.streamed)) drafts.push(outputDelta(call, text.slice(call.streamed.length)));
  else
    drafts.push({ do: "item.update", key: call.resultKey, content: [{ type: "tool_result", call_id: call.id, output: text }] });
  call.streamed = text;
  return drafts;
}

export function openResult(call: Call): Draft[] {
  if (call.resultOpen) return [];
  call.resultOpen = true;
  return [{ do: "item.start", item: resultItem(call, [{ type: "tool_result", call_id: call.id, output: "" }]) }];
}

export const outputDelta = (call: Call, delta: string): Draft => ({
  do: "item.delta",
  key: call.resultKey,
  part_type: "tool_output",
  delta,
  part_index: 0,
});

const resultItem = (call: Call, content: DraftPart[]) => ({
  key: call.resultKey,
  native_item_id: call.id,
  parent: call.parent,
  kind: "tool_result" as const,
  role: "tool" as const,
  content,
});

export function finish(state: SessionState, around: Surroundings, call: Call, failed: boolean): Draft[] {
  call.state = "ended";
  const outcome = outcomeOf(state, around.quirks, call, { failed, isCommand: kindOf(call) === "shell" });
  const { content } = outcome;
  const status = outcome.failed ? "failed" : "completed";
  const done: Draft = { do: "item.complete", key: call.key, status };
  if (call.resultOpen) return [done, { do: "item.complete", key: call.resultKey, content, status }];
  return [done, { do: "item.add", item: resultItem(call, content), status }];
}

/** gemini 0.61 and codex-acp-zed 0.16 say nothing more of a call that was rejected. */
export function closeDenied(state: SessionState, around: Surroundings): Draft[] {
  if (state.calls.size === 0) return [];
  return state.openCalls().flatMap((call) => {
    if (call.state !== "denied") return [];
    if (call.raw === undefined && !call.contentIsOutput) call.raw = "Permission denied.";
    return finish(state, around, call, true);
  });
}
