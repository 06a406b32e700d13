// Results of tools that ran at the provider (web search, code execution, MCP connector): they come as blocks of the model's own message.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { arr, asText, int, isRecord, type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { mediaOf } from "./media.ts";
import { outlives } from "./scope.ts";
import { type ClaudeState, type MessageState, resultKey, toolKey } from "./state.ts";

export function serverResult(state: ClaudeState, message: MessageState, block: JsonRecord, drafts: Draft[]): void {
  const native = str(block.tool_use_id) ?? `${message.id}:result`;
  const id = state.callName(message.scope, native);
  const content = block.content;
  const error = isRecord(content) && (str(content.type) ?? "").endsWith("_error");
  const code = int(rec(content).return_code);
  const isError = error || block.is_error === true || (code ?? 0) !== 0;
  const parts: DraftPart[] = [{ type: "tool_result", call_id: id, output: outputOf(content), is_error: isError }];
  if (parts[0]?.type === "tool_result" && code !== undefined) parts[0].exit_code = code;
  for (const hit of records(content)) {
    const uri = str(hit.url);
    if (uri) parts.push({ type: "resource", uri, ...(str(hit.title) ? { text: str(hit.title) ?? "" } : {}) });
  }
  for (const { file_id } of records(rec(content).content)) {
    const uri = str(file_id);
    if (uri) parts.push({ type: "resource", uri });
  }
  parts.push(...fetched(rec(content)));
  const status = isError ? "failed" : "completed";
  drafts.push({ do: "item.complete", key: toolKey(state, id), status });
  drafts.push({
    do: "item.add",
    item: {
      key: resultKey(state, id),
      native_item_id: native,
      parent: message.key,
      kind: "tool_result",
      role: "tool",
      content: parts,
      ...(outlives(state, message.scope) ? { outlives_turn: true } : {}),
    },
    status,
  });
}

/** A page or a file that was read from the web. */
function fetched({ type, url, content }: JsonRecord): DraftPart[] {
  const uri = type === FETCHED ? str(url) : undefined;
  if (uri === undefined) return [];
  const title = str(rec(content).title);
  const media = mediaOf(rec(content));
  return [{ type: "resource", uri, ...(title ? { text: title } : {}) }, ...(media?.type === "media" ? [media] : [])];
}

const FETCHED = "web_fetch_result";

function outputOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (isRecord(content)) {
    if (content.type === FETCHED)
      return str(rec(rec(content.content).source).data) === undefined ? toJson(content) : pageText(content);
    const text = [str(content.stdout), str(content.stderr)].filter(Boolean).join("\n");
    return str(content.error_code) ?? (text || toJson(content));
  }
  return arr(content).map(lineOf).join("\n");
}

/** The text of a page; the bytes of anything else are a part. */
function pageText({ url, content }: JsonRecord): string {
  const { type, data } = rec(rec(content).source);
  return (type === "text" ? str(data) : undefined) ?? str(url) ?? "";
}

function lineOf(entry: unknown): string {
  if (!isRecord(entry)) return asText(entry);
  const line = [str(entry.title), str(entry.url)].filter(Boolean).join(" ");
  return str(entry.text) ?? (line || toJson(entry));
}
