/** Messages of the app-server that may make no event, and why. */
import type { SilenceTable } from "../../contract.ts";
import { ITEM_TYPES } from "./native-types.ts";

/** Of raw items, those the translator knows beside messages. */
const RAW_ITEMS = [
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "tool_search_call",
  "function_call_output",
  "custom_tool_call_output",
  "tool_search_output",
  "image_generation_call",
  "agent_message",
  "reasoning",
  "web_search_call",
  "additional_tools",
  "compaction",
  "compaction_trigger",
  "context_compaction",
  "configuration_update",
  "other",
];

const LATE = "its item is over, and was told whole";

export const SILENCE: SilenceTable = [
  ["answer:*", "confirms a request of ours"],
  ["rawResponseItem/completed:message", "the context Codex gives the model; what people and the model say comes as items"],
  ...RAW_ITEMS.map((name) => [`rawResponseItem/completed:${name}`, "told by its item"] as const),
  ["rawResponse/completed", "repeats thread/tokenUsage/updated"],
  ["account/rateLimits/updated", "has no window, or nothing in it is new"],
  ["item/fileChange/patchUpdated", "of an item that was not reported, or nothing in it is new"],
  ["thread/settings/updated", "nothing in it is new"],
  ["item/reasoning/summaryPartAdded", "a part begins with its first text"],
  ["item/completed:subAgentActivity", "the activity is told with its start"],
  ...Object.keys(ITEM_TYPES).flatMap((name) => [
    [`item/started:${name}`, "repeats an item that was told"] as const,
    [`item/completed:${name}`, "repeats an item that was told"] as const,
  ]),
  ...["agentMessage/delta", "plan/delta", "reasoning/summaryTextDelta", "reasoning/textDelta"].map(
    (name) => [`item/${name}`, LATE] as const,
  ),
  ["item/commandExecution/outputDelta", LATE],
  ["item/fileChange/outputDelta", LATE],
  ["request:item/tool/call", "the call is told by its item"],
  ["serverRequest/resolved", "our answer told it"],
  ["item/mcpToolCall/progress", LATE],
  ["thread/compacted", "its item told it, or it is of the thread of a sub-agent"],
  ["thread/name/updated", "of the thread of a sub-agent, or the same name again"],
  ["thread/goal/cleared", "sent after every resume: there was no goal"],
  ["thread/status/changed", "follows from turns and open requests"],
  ["thread/tokenUsage/updated", "the same totals again, of a sub-agent"],
  ["turn/started", "our request opened the turn"],
  ["turn/completed", "of a turn that is over"],
  ["turn/diff/updated", "the same diff again, or none"],
  ["thread/started", "the answer to our request reported it"],
  ["exec:*", "nothing in it is new"],
];
