// Tool calls and their outcomes as items. A call is in progress until its result is known; background work goes on after it.
import type { Draft } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, rec, str, toJson } from "../../json.ts";
import { settleCall } from "./permissions.ts";
import { planDrafts } from "./plan.ts";
import { outlives } from "./scope.ts";
import { type ClaudeState, type MessageState, progressKey, resultKey, type ToolState, toolKey } from "./state.ts";
import { teamDrafts } from "./team.ts";
import { toolCallPart } from "./tool-kinds.ts";
import { type Outcome, resultParts } from "./tool-result.ts";

/** A `tool_use` block begins. `id`: what the call is called here. `streaming`: its arguments follow as deltas. */
export function startTool(
  state: ClaudeState,
  message: MessageState,
  id: string,
  block: JsonRecord,
  streaming: boolean,
  drafts: Draft[],
): void {
  const name = str(block.name) ?? "unknown";
  const input = streaming ? {} : rec(block.input);
  state.countCall(id, message.key);
  state.tools.set(id, { id, name, input, raw: "", message: message.key, scope: message.scope, answered: false });
  message.tools.add(id);
  const args = streaming ? "" : argumentsOf(block.input, "");
  drafts.push({
    do: "item.start",
    item: {
      key: toolKey(state, id),
      native_item_id: str(block.id) ?? id,
      parent: message.key,
      kind: "tool_call",
      role: "assistant",
      content: [callPart(block, id, name, args, input)],
      ...(outlives(state, message.scope) ? { outlives_turn: true } : {}),
    },
  });
}

/** A call that the provider makes for the model of an MCP server (`mcp_tool_use`) names the server beside the tool. */
function callPart(block: JsonRecord, id: string, name: string, args: string, input: JsonRecord) {
  const part = toolCallPart(id, name, args, input, str(block.type));
  const server = str(block.server_name);
  return server ? { ...part, title: `${server}: ${name}` } : part;
}

export function streamArguments(state: ClaudeState, id: string, delta: string, drafts: Draft[]): void {
  const tool = state.tools.get(id);
  if (!tool || delta === "") return;
  tool.raw += delta;
  drafts.push({ do: "item.delta", key: toolKey(state, id), part_type: "tool_arguments", delta, part_index: 0 });
}

/** The whole call. Its input is the CLI's own reading and may differ from what was streamed. */
export function confirmTool(state: ClaudeState, message: MessageState, id: string, block: JsonRecord, drafts: Draft[]): void {
  const tool = state.tools.get(id);
  if (!tool) return;
  tool.input = rec(block.input);
  tool.name = str(block.name) ?? tool.name;
  message.tools.add(id);
  const part = callPart(block, id, tool.name, argumentsOf(block.input, tool.raw), tool.input);
  drafts.push({ do: "item.update", key: toolKey(state, id), content: [part] });
}

/** A call whose block was abandoned in mid-stream: natively it never happened. */
export function dropTool(state: ClaudeState, id: string, drafts: Draft[]): void {
  state.tools.delete(id);
  drafts.push({ do: "item.remove", key: toolKey(state, id), reason: "abandoned by the agent" });
}

/** The streamed text stays as it is when it says the same, so that the deltas are the arguments. */
function argumentsOf(input: unknown, raw: string): string {
  const broken = rec(rec(input).__unparsedToolInput).raw;
  if (typeof broken === "string") return broken;
  if (raw !== "" && sameJson(raw, input)) return raw;
  return toJson(input ?? {});
}

function sameJson(text: string, value: unknown): boolean {
  try {
    return toJson(JSON.parse(text)) === toJson(value);
  } catch {
    return false;
  }
}

/** One `tool_result` block of a `user` frame. `detail`: the frame's `tool_use_result`, when it belongs to this block. */
export function toolResult(state: ClaudeState, block: JsonRecord, detail: unknown, scope: string, drafts: Draft[]): void {
  const native = str(block.tool_use_id) ?? "";
  const id = state.callName(scope, native);
  const tool: ToolState = state.tools.get(id) ?? { id, name: "", input: {}, raw: "", message: null, scope, answered: false };
  const isError = block.is_error === true;
  const outcome: Outcome = { tool, content: block.content, isError, detail };
  settleCall(state, id, isError, drafts);
  planDrafts(state, outcome, drafts);
  teamDrafts(state, outcome, drafts);
  const status = isError ? "failed" : "completed";
  const goesOn = !isError && isBackground(state, id, detail);
  if (goesOn) drafts.push({ do: "item.update", key: toolKey(state, id), outlives_turn: true });
  else drafts.push({ do: "item.complete", key: toolKey(state, id), status });
  drafts.push({
    do: "item.add",
    item: {
      key: resultKey(state, id),
      native_item_id: native,
      parent: tool.message ?? (scope === "" ? null : toolKey(state, scope)),
      kind: "tool_result",
      role: "tool",
      content: resultParts(outcome),
    },
    status,
  });
  drafts.push({ do: "item.complete", key: progressKey(state, id), status });
  tool.answered = true;
  if (!goesOn) state.tools.delete(id);
}

/** Work started by this call still runs: `task_started` said so, or the result does. */
function isBackground(state: ClaudeState, id: string, detail: unknown): boolean {
  if (state.background.has(id)) return true;
  if (!isRecord(detail)) return false;
  const task = str(detail.backgroundTaskId) ?? (detail.isAsync === true ? str(detail.agentId) : undefined);
  return task !== undefined && state.tasks.has(task);
}
