// `user` frames: tool results, prompts of sub-agents, echoes, and words the CLI puts into the user's mouth.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { type JsonRecord, rec, records, str } from "../../json.ts";
import { mapped } from "../../translation.ts";
import { systemItem } from "./assistant.ts";
import { closeMessage } from "./messages.ts";
import { ADDRESS, type ClaudeState, toolKey } from "./state.ts";
import { LEAD } from "./team.ts";
import { mediaParts, outputText } from "./tool-result.ts";
import { toolResult } from "./tools.ts";
import { userParts } from "./user-parts.ts";

export function user(state: ClaudeState, frame: JsonRecord): Translation {
  const drafts: Draft[] = [];
  const content = rec(frame.message).content;
  const results = records(content).filter((block) => block.type === "tool_result");
  if (results.length > 0) {
    const detail = results.length === 1 ? frame.tool_use_result : undefined;
    const told = results.filter(
      (block) => !state.retractedCalls.has(state.callName(state.scopeOf(frame), str(block.tool_use_id) ?? "")),
    );
    for (const block of told) toolResult(state, block, detail, state.scopeOf(frame), drafts);
    besideResults(state, frame, records(content), drafts);
    return mapped(ADDRESS, "user:tool_result", drafts);
  }
  const text = outputText(content);
  const scope = state.scopeOf(frame);
  const uuid = str(frame.uuid);
  if (frame.isReplay === true) return replayed(state, frame, text, drafts);
  if (frame.isSynthetic === true) {
    const before = state.messages.get(scope);
    if (before) closeMessage(state, before, drafts);
    systemItem(state, text, uuid, scope, drafts, mediaParts(content));
    return mapped(ADDRESS, "user:synthetic", drafts);
  }
  if (INTERRUPTED.test(text)) {
    state.interrupted = true;
    return mapped(ADDRESS, "user:interrupted", drafts);
  }
  const origin = rec(frame.origin);
  if (isAgents(frame)) {
    systemItem(state, text, uuid, scope, drafts, mediaParts(content));
    return mapped(ADDRESS, "user:synthetic", drafts);
  }
  if (origin.kind === "peer" || origin.kind === "observer") {
    const from = str(origin.name) ?? str(origin.from) ?? "unknown";
    drafts.push({ do: "event", type: "team.message", data: { from, to: LEAD, text: str(origin.body) ?? text } });
    return mapped(ADDRESS, "user:peer", drafts);
  }
  drafts.push({
    do: "item.add",
    item: {
      key: state.newKey("user", uuid),
      native_item_id: uuid ?? null,
      parent: scope === "" ? null : toolKey(state, scope),
      kind: "message",
      role: "user",
      content: userParts(content),
    },
  });
  return mapped(ADDRESS, scope === "" ? "user:text" : "user:subagent_prompt", drafts);
}

/** Words that come in the user's guise and of which the CLI says that no person, and no other agent, wrote them. */
function isAgents({ origin }: JsonRecord): boolean {
  const kind = str(rec(origin).kind);
  return kind !== undefined && !["human", "channel", "unclassified", "peer", "observer"].includes(kind);
}

const INTERRUPTED = /^\[Request interrupted by user/;

/** What stands in one frame with results of tools: words that the CLI adds, or the sign of an interrupt. */
function besideResults(state: ClaudeState, frame: JsonRecord, blocks: JsonRecord[], drafts: Draft[]): void {
  const others = blocks.filter((block) => block.type !== "tool_result");
  const text = outputText(others);
  if (INTERRUPTED.test(text)) state.interrupted = true;
  else systemItem(state, text, str(frame.uuid), state.scopeOf(frame), drafts, mediaParts(others));
}

/** An echo of what we sent (`--replay-user-messages`), or the output of a local command in the same guise. */
function replayed(state: ClaudeState, frame: JsonRecord, text: string, drafts: Draft[]): Translation {
  const output = /^<local-command-(stdout|stderr)>([\s\S]*)<\/local-command-\1>$/.exec(text.trim());
  const uuid = str(frame.uuid);
  if (output) {
    // set_model is answered so besides its control_response, which becomes config.changed.
    const setting = [...state.asked.values()].some((request) => request.subtype === "set_model");
    if (!setting) systemItem(state, (output[2] ?? "").trim(), uuid, "", drafts);
    return mapped(ADDRESS, "user:local_command", drafts);
  }
  const current = state.messages.get("");
  if (current) closeMessage(state, current, drafts);
  if (isAgents(frame)) systemItem(state, text, uuid, "", drafts, mediaParts(rec(frame.message).content));
  else if (!state.sentTexts.includes(text)) {
    drafts.push({
      do: "item.add",
      item: {
        key: state.newKey("user", uuid),
        native_item_id: uuid ?? null,
        kind: "message",
        role: "user",
        content: userParts(rec(frame.message).content),
      },
    });
  }
  return mapped(ADDRESS, "user:replay", drafts);
}
