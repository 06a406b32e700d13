/** Frames of Claude Code that may make no event, and why. */
import type { SilenceTable } from "../../contract.ts";

export const SILENCE: SilenceTable = [
  ["stream_event/content_block_start", "a part begins with its first text"],
  ["stream_event/content_block_delta:signature_delta", "a signature is for the provider"],
  ["stream_event/content_block_delta:*", "belongs to a block that is told in another way"],
  ["stream_event/*", "its facts are told with the end of the message"],
  ["assistant:error", "told with the result, which knows more"],
  ["assistant:*", "repeats what was streamed"],
  ["command_lifecycle", "follows the message that was sent: the turn tells it"],
  ["control_response/*", "confirms a request of ours"],
  ["$sdk:call_return", "confirms a call of ours"],
  ["system/background_tasks_changed", "the tasks themselves are told one by one"],
  ["system/elicitation_complete", "our answer told it"],
  ["system/init", "nothing in it is new"],
  ["system/session_state_changed", "follows from turns and open requests"],
  ["system/status", "follows from turns and open requests"],
  ["system/task_*", "nothing in it is new"],
  ["result/*", "a message that was steered in goes on in the same turn"],
  ["user:interrupted", "the end of the turn tells it"],
  ["user:local_command", "answers a change of settings that is told as such"],
  ["user:replay", "repeats what was sent"],
];
