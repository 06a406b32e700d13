// Results of tools that ran at the provider (web search, code execution, MCP connector): they come as blocks of the model's own message.
import type { ContentPart } from "../../../schema/content.ts";
import type { Draft } from "../../../schema/draft.ts";
import { arr, asText, int, isRecord, type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { outlives } from "./scope.ts";
import { type ClaudeState, type MessageState, resultKey, toolKey } from "./state.ts";

export function serverResult(state: ClaudeState, message: MessageState, block: JsonRecord, drafts: Draft[]): void {
  const id = str(block.tool_use_id) ?? `${message.id}:result`;
  const content = block.content;
  const error = isRecord(content) && (str(content.type) ?? "").endsWith("_error");
  const isError = error || block.is_error === true;
  const parts: ContentPart[] = [{ type: "tool_result", call_id: id, output: outputOf(content), is_error: isError }];
  const code = int(rec(content).return_code);
  if (parts[0]?.type === "tool_result" && code !== undefined) parts[0].exit_code = code;
  for (const hit of records(content)) {
    const uri = str(hit.url);
    if (uri) parts.push({ type: "resource", uri, ...(str(hit.title) ? { text: str(hit.title) ?? "" } : {}) });
  }
  const status = isError ? "failed" : "completed";
  drafts.push({ do: "item.complete", key: toolKey(state, id), status });
  drafts.push({
    do: "item.add",
    item: {
      key: resultKey(state, id),
      native_item_id: id,
      parent: message.key,
      kind: "tool_result",
      role: "tool",
      content: parts,
      ...(outlives(state, message.scope) ? { outlives_turn: true } : {}),
    },
    status,
  });
}

function outputOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (isRecord(content)) {
    const text = [str(content.stdout), str(content.stderr)].filter(Boolean).join("\n");
    return str(content.error_code) ?? (text || toJson(content));
  }
  return arr(content).map(lineOf).join("\n");
}

function lineOf(entry: unknown): string {
  if (!isRecord(entry)) return asText(entry);
  const line = [str(entry.title), str(entry.url)].filter(Boolean).join(" ");
  return str(entry.text) ?? (line || toJson(entry));
}
