/** Messages of ACP agents that may make no event, and why. */
import type { SilenceTable } from "../../contract.ts";

export const SILENCE: SilenceTable = [
  ["session/prompt:result", "of a turn that is over"],
  ["$/cancel_request", "of a request whose tool call tells it"],
  ["mcp/message*", "between the agent and an MCP server of the client"],
  ["session/load:result", "the history is in the log already"],
  ["session/resume:result", "nothing in it is new"],
  ["initialize:result", "nothing in it is for a session"],
  ["session/update:agent_message_chunk", "empty, or held until it is clear whose text it is"],
  ["session/update:agent_thought_chunk", "empty"],
  ["session/update:agent_message", "announces chunks that follow"],
  ["session/update:user_message*", "repeats what was sent"],
  ["session/update:state_update", "follows from turns and open requests"],
  ["session/update:*", "nothing in it is new, or it belongs to a past that is in the log already"],
  ["elicitation/complete", "our answer told it"],
  ["fs/*", "the agent's tool call tells it"],
  ["terminal/*", "the agent's tool call tells it"],
  ["qwen/notify/*", "nothing in it is new"],
  ["*:result", "confirms a request of ours"],
  ["_*", "an extension for its own client"],
  ["auth/*", "nothing in it is new"],
];
