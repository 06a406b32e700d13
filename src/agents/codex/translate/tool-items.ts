// Native items that are tool calls: each says what was called and, when it is over, what came of it. `items.ts` makes drafts of that.
import type { ContentPart } from "../../../schema/content.ts";
import type { DraftPart } from "../../../schema/draft.ts";
import { int, type JsonRecord, num, own, rec, records, str, toJson } from "../../json.ts";
import { changePaths, fileRef, mcpOutput, toolOutput } from "./parts.ts";
import type { NativeItem } from "./thread.ts";
import { commandKind, innerCommand, patchKind, toolKind } from "./tool-kinds.ts";
import { strings } from "./wire.ts";

export type ToolCall = Extract<ContentPart, { type: "tool_call" }>;
export type Outcome = { parts: DraftPart[]; failed: boolean };

type ToolItem = {
  call(item: JsonRecord): Omit<ToolCall, "type" | "call_id">;
  outcome(item: JsonRecord, native: NativeItem): Outcome;
};

const compact = (value: JsonRecord): string =>
  toJson(Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null && entry !== undefined)));

function result(native: NativeItem, output: string, failed: boolean, more: JsonRecord = {}, parts: DraftPart[] = []): Outcome {
  const duration = num(more.durationMs);
  const exit = int(more.exitCode);
  return {
    failed,
    parts: [
      {
        type: "tool_result",
        call_id: native.callId,
        output,
        ...(failed ? { is_error: true } : {}),
        ...(exit === undefined ? {} : { exit_code: Math.trunc(exit) }),
        ...(duration === undefined ? {} : { duration_ms: duration }),
      },
      ...parts,
    ],
  };
}

/** A word of a newer version is not taken for success. */
const failedStatus = (status: unknown): boolean =>
  typeof status === "string" && status !== "completed" && status !== "inProgress";

const commandExecution: ToolItem = {
  call(item) {
    const command = str(item.command) ?? "";
    const paths = records(item.commandActions).flatMap((action) => str(action.path) ?? []);
    return {
      name: "commandExecution",
      arguments: compact({ command, cwd: item.cwd, source: item.source === "userShell" ? item.source : undefined }),
      tool_kind: commandKind(item.commandActions),
      title: innerCommand(command),
      ...(paths.length > 0 ? { paths } : {}),
    };
  },
  outcome(item, native) {
    // codex 0.166: output written before its watcher attached has no delta; aggregatedOutput is the whole of it.
    const output = str(item.aggregatedOutput) ?? native.streamed;
    const declined = item.status === "declined";
    return result(native, declined && output === "" ? "declined" : output, failedStatus(item.status), item);
  },
};

const fileChange: ToolItem = {
  call(item) {
    const changes = records(item.changes);
    const paths = changePaths(changes);
    const [first] = paths;
    return {
      name: "fileChange",
      arguments: compact({ changes: changes.map(({ path, kind, diff }) => ({ path, kind, diff })) }),
      tool_kind: patchKind(changes),
      title: first === undefined ? "Change files" : paths.length === 1 ? first : `${first} and ${paths.length - 1} more`,
      paths,
    };
  },
  outcome(item, native) {
    const failed = failedStatus(item.status);
    const changes = records(item.changes);
    const said =
      item.status === "declined" ? "declined" : failed ? "the change was not applied" : changePaths(changes).join("\n");
    return result(native, native.streamed || said, failed, item, failed ? [] : changes.map(fileRef));
  },
};

const mcpToolCall: ToolItem = {
  call: (item) => ({
    name: `mcp__${str(item.server) ?? ""}__${str(item.tool) ?? ""}`,
    arguments: toJson(item.arguments ?? {}),
    tool_kind: "mcp",
    title: `${str(item.server) ?? ""}: ${str(item.tool) ?? ""}`,
  }),
  outcome(item, native) {
    const { output, parts } = mcpOutput(rec(item.result));
    const error = str(rec(item.error).message);
    return result(native, error ?? output, failedStatus(item.status), item, parts);
  },
};

const dynamicToolCall: ToolItem = {
  call: (item) => ({
    name: str(item.namespace) ? `${str(item.namespace)}.${str(item.tool) ?? ""}` : (str(item.tool) ?? ""),
    arguments: toJson(item.arguments ?? {}),
    tool_kind: "other",
    title: str(item.tool) ?? "",
  }),
  outcome(item, native) {
    const { output, parts } = toolOutput(item.contentItems);
    return result(native, output, failedStatus(item.status) || item.success === false, item, parts);
  },
};

const collabAgentToolCall: ToolItem = {
  call: (item) => ({
    name: str(item.tool) ?? "collabAgentToolCall",
    arguments: compact({
      prompt: item.prompt,
      model: item.model,
      reasoning_effort: item.reasoningEffort,
      receivers: strings(item.receiverThreadIds),
    }),
    tool_kind: "subagent",
    title: str(item.prompt) ?? str(item.tool) ?? "sub-agent",
  }),
  outcome(item, native) {
    const states = Object.entries(rec(item.agentsStates)).map(([thread, state]) => {
      const { status, message } = rec(state);
      return `${thread}: ${str(status) ?? "unknown"}${str(message) ? `\n${str(message)}` : ""}`;
    });
    const output = states.length > 0 ? states.join("\n") : strings(item.receiverThreadIds).join("\n");
    return result(native, output, failedStatus(item.status), item);
  },
};

const webSearch: ToolItem = {
  call(item) {
    const action = rec(item.action);
    const query = str(item.query) || str(action.query) || str(action.url) || "";
    return {
      name: "webSearch",
      arguments: compact({ query, action: item.action }),
      tool_kind: action.type === "openPage" || action.type === "findInPage" ? "fetch" : "web_search",
      title: query || "Search the web",
    };
  },
  outcome(item, native) {
    const found = records(item.results);
    const lines = found.map((entry) => [str(entry.title), str(entry.url)].filter(Boolean).join(" ") || toJson(entry));
    return result(native, lines.join("\n"), false, item);
  },
};

const imageView: ToolItem = {
  call(item) {
    const path = str(item.path) ?? "";
    return { name: "imageView", arguments: toJson({ path }), tool_kind: "read", title: path, paths: [path] };
  },
  outcome: (item, native) => result(native, "", false, item, [{ type: "image", path: str(item.path) ?? "" }]),
};

const imageGeneration: ToolItem = {
  call: (item) => ({
    name: "imageGeneration",
    arguments: compact({ prompt: item.revisedPrompt }),
    tool_kind: "other",
    title: str(item.revisedPrompt) ?? "Generate an image",
  }),
  outcome(item, native) {
    const path = str(item.savedPath) ?? (str(item.fileId) ? `file-id:${str(item.fileId)}` : undefined);
    const bytes = str(item.result);
    const failure = item.failure === null || item.failure === undefined ? undefined : toJson(item.failure);
    const parts: DraftPart[] =
      path !== undefined
        ? [{ type: "image", path }]
        : bytes
          ? [{ type: "media", media: "image", mime: "image/png", base64: bytes }]
          : [];
    return result(
      native,
      failure ?? str(item.revisedPrompt) ?? "",
      failure !== undefined || item.status === "failed",
      item,
      parts,
    );
  },
};

const sleep: ToolItem = {
  call: (item) => ({
    name: "sleep",
    arguments: compact({ duration_ms: item.durationMs }),
    tool_kind: "other",
    title: `Sleep ${num(item.durationMs) ?? 0} ms`,
  }),
  outcome: (item, native) => result(native, "", false, item),
};

/** The client's own answer to a call of an earlier turn. */
const functionCallOutput: ToolItem = {
  call: (item) => ({
    name: str(item.namespace) ? `${str(item.namespace)}.${str(item.name) ?? ""}` : (str(item.name) ?? "functionCallOutput"),
    arguments: "{}",
    tool_kind: "other",
    title: str(item.name) ?? "",
  }),
  outcome(item, native) {
    const { output, parts } = toolOutput(item.output);
    return result(native, output, false, item, parts);
  },
};

const TOOLS: Record<string, ToolItem> = {
  commandExecution,
  fileChange,
  mcpToolCall,
  dynamicToolCall,
  collabAgentToolCall,
  webSearch,
  imageView,
  imageGeneration,
  sleep,
  functionCallOutput,
};

export const isTool = (type: string): boolean => Object.hasOwn(TOOLS, type);

export function toolCall(item: JsonRecord, native: NativeItem): ToolCall {
  const tool = own(TOOLS, native.type);
  const call = tool?.call(item) ?? { name: native.type, arguments: "{}", tool_kind: toolKind(native.type) };
  return { type: "tool_call", call_id: native.callId, ...call };
}

export const toolOutcome = (item: JsonRecord, native: NativeItem): Outcome =>
  own(TOOLS, native.type)?.outcome(item, native) ?? result(native, "", false);
