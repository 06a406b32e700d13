/** Messages of the app-server that may make no event, and why. */
import type { SilenceTable } from "../../contract.ts";

export const SILENCE: SilenceTable = [
  ["answer:*", "confirms a request of ours"],
  ["rawResponseItem/completed:message", "the context Codex gives the model; what people and the model say comes as items"],
  ["rawResponseItem/completed:*", "told by its item"],
  ["rawResponse/completed", "repeats thread/tokenUsage/updated"],
  ["account/rateLimits/updated", "has no window, or nothing in it is new"],
  ["item/fileChange/patchUpdated", "of an item that was not told, or nothing in it is new"],
  ["thread/settings/updated", "nothing in it is new"],
  ["item/reasoning/summaryPartAdded", "a part begins with its first text"],
  ["item/completed:subAgentActivity", "the activity is told with its start"],
  ["item/started:*", "repeats an item that was told"],
  ["item/completed:*", "repeats an item that was told"],
  ["request:item/tool/call", "the call is told by its item"],
  ["serverRequest/resolved", "our answer told it"],
  ["thread/compacted", "of the thread of a sub-agent"],
  ["thread/name/updated", "of the thread of a sub-agent, or the same name again"],
  ["thread/goal/cleared", "sent after every resume: there was no goal"],
  ["thread/status/changed", "follows from turns and open requests"],
  ["turn/started", "our request opened the turn"],
  ["turn/completed", "of a turn that is over"],
  ["turn/diff/updated", "the same diff again, or none"],
  ["thread/started", "the answer to our request told it"],
  ["exec:*", "nothing in it is new"],
];
