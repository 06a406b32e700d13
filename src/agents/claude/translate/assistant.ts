// `assistant` frames: blocks of the model, and what the CLI says in the model's place (errors, output of local commands).
import type { Draft, DraftPart, ItemKey } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { arr, type JsonRecord, rec, str } from "../../json.ts";
import { mapped } from "../../translation.ts";
import { apiError } from "./errors.ts";
import { assistantBlocks, closeMessage, closeMessages } from "./messages.ts";
import { retract } from "./retraction.ts";
import { ADDRESS, type ClaudeState, toolKey } from "./state.ts";
import { outputText } from "./tool-result.ts";
import { takeMessages } from "./turns.ts";

const SYNTHETIC = "<synthetic>";

export function assistant(state: ClaudeState, frame: JsonRecord): Translation {
  const drafts: Draft[] = [];
  if (frame.user_message_uuids !== undefined) takeMessages(state, frame);
  retract(state, frame.supersedes, drafts);
  const api = rec(frame.message);
  const text = outputText(api.content);
  if (api.model === SYNTHETIC && (api.stop_reason === "refusal" || state.refused)) {
    closeMessages(state, drafts);
    refusalItem(state, text, str(api.id) ?? str(frame.uuid), drafts);
    return mapped(ADDRESS, "assistant:refusal", drafts);
  }
  if (frame.error !== undefined || frame.is_api_error_message === true) {
    if (state.scopeOf(frame) !== "") return subagentError(state, frame, text, drafts);
    // Said with the result, which knows more (prompt_too_long); and once.
    state.apiError = apiError(frame, text);
    closeMessages(state, drafts);
    return mapped(ADDRESS, "assistant:error", drafts);
  }
  if (api.model === SYNTHETIC) {
    systemItem(state, text, str(api.id) ?? str(frame.uuid), state.scopeOf(frame), drafts);
    return mapped(ADDRESS, "assistant:synthetic", drafts);
  }
  assistantBlocks(state, frame, drafts);
  return mapped(ADDRESS, `assistant:${blockName(api.content)}`, drafts);
}

/** A sub-agent's model call failed: its own affair, decided by the result of the call that started it. The turn goes on. */
function subagentError(state: ClaudeState, frame: JsonRecord, text: string, drafts: Draft[]): Translation {
  const scope = state.scopeOf(frame);
  const open = state.messages.get(scope);
  if (open) closeMessage(state, open, drafts);
  systemItem(state, text, str(frame.uuid), scope, drafts);
  return mapped(ADDRESS, "assistant:error", drafts);
}

const KNOWN = new Set([
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
  "image",
  "document",
]);

/** For the coverage table: bounded, so a block type of the future is `other`. */
function blockName(content: unknown): string {
  const type = str(rec(arr(content)[0]).type) ?? "empty";
  if (type.endsWith("_tool_result")) return "server_tool_result";
  return KNOWN.has(type) || type === "empty" ? type : "other";
}

/** Text of the CLI itself, for a person, and what it shows with it. */
export function systemItem(
  state: ClaudeState,
  text: string,
  id: string | undefined,
  scope: string,
  drafts: Draft[],
  media: DraftPart[] = [],
): void {
  const content: DraftPart[] = [...(text.trim() === "" ? [] : [{ type: "text" as const, text }]), ...media];
  if (content.length === 0) return;
  state.shown = true;
  const parent: ItemKey | null = scope === "" ? null : toolKey(state, scope);
  drafts.push({
    do: "item.add",
    item: {
      key: state.newKey("system", id),
      native_item_id: id ?? null,
      parent,
      kind: "system",
      role: "system",
      content,
    },
  });
}

/** Every model refused: the words the CLI has for it, once. */
export function refusalItem(state: ClaudeState, text: string, id: string | undefined, drafts: Draft[]): void {
  state.refused = true;
  if (text.trim() === "" || state.refusalShown) return;
  state.refusalShown = true;
  drafts.push({
    do: "item.add",
    item: {
      key: state.newKey("refusal", id),
      native_item_id: id ?? null,
      kind: "message",
      role: "assistant",
      content: [{ type: "refusal", text }],
    },
  });
}
