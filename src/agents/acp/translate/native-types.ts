// Every ACP message type, what becomes of it, and whether a real agent was seen sending it or it is known from the schema only. The coverage
// page is made from this table; a test holds it against the variants the translator understands.
import type { EventType } from "../../../schema/event-data.ts";
import { live, type NativeTypeTable, row, typed } from "../../kit/native-types.ts";

const notedHere = row("noted", "live");

const MESSAGE: EventType[] = ["item.started", "item.delta", "item.completed"];
const TOOL: EventType[] = ["item.started", "item.updated", "item.delta", "item.completed"];
const OPENED: EventType[] = ["config.changed"];

/** session/update variants, v1 and v2. */
export const UPDATE_TYPES: NativeTypeTable = {
  agent_message_chunk: live(MESSAGE, "some texts are none of the model's: mode changes, warnings, faults in disguise"),
  agent_thought_chunk: live(MESSAGE),
  user_message_chunk: live(MESSAGE, "v2 echo; in v1 only on replay, which is not shown twice"),
  agent_message: live(MESSAGE, "v2"),
  agent_thought: typed(MESSAGE, "v2"),
  user_message: live(MESSAGE, "v2 echo"),
  tool_call: live(TOOL),
  tool_call_update: live(TOOL, "makes the call's start when it was never announced"),
  tool_call_content_chunk: typed(TOOL, "v2"),
  terminal_update: live(["item.delta", "item.updated", "agent.notice"], "v2; base64; a notice when its call has ended"),
  terminal_output_chunk: typed(["item.delta", "agent.notice"], "v2; base64; a notice when its call has ended"),
  plan: live(["item.started", "item.updated", "item.completed"]),
  plan_update: live(["item.started", "item.updated", "item.completed"]),
  plan_removed: typed(["item.removed"]),
  available_commands_update: live(["config.changed", "skill.catalog_updated"], "qwen names its skills in its _meta"),
  current_mode_update: live(["config.changed"]),
  config_option_update: live(["config.changed"], "replaces the older list whole"),
  session_info_update: live(["session.updated", "session.status", "item.removed"], "codex-acp's retries ride on its _meta"),
  usage_update: live(["usage.updated"]),
  notice: notedHere(["agent.notice"]),
  compaction_update: live(["session.status", "session.compacted"]),
  compaction_summary_chunk: typed(["session.compacted"]),
  state_update: live(["turn.started", "turn.ended", "error"], "v2"),
  session_message: live(["team.message"]),
  session_message_chunk: typed(["team.message"]),
  subagent_update: live(["item.started", "item.completed"]),
};

/** What an agent asks of a client or reports to it. */
export const AGENT_MESSAGE_TYPES: NativeTypeTable = {
  "session/request_permission": live(
    ["permission.requested", "item.started", "question.requested"],
    "qwen asks its questions so",
  ),
  "elicitation/create": live(["question.requested"]),
  "elicitation/complete": typed(["question.resolved"]),
  "fs/read_text_file": live(),
  "fs/write_text_file": live(),
  "terminal/create": live(),
  "terminal/output": live(["item.delta"]),
  "terminal/wait_for_exit": live(),
  "terminal/kill": typed(),
  "terminal/release": live(),
  "mcp/message": typed(),
  "$/cancel_request": live(["permission.resolved", "question.resolved"]),
  "auth/status_update": typed(["auth.status"]),
  "_auth/status_update": live(["auth.status"], "claude-agent-acp, codex-acp"),
  "vendor:_*": notedHere(["agent.notice"], "extensions; requests are answered -32601"),
  "vendor:craft/*": notedHere(["agent.notice"], "qwen"),
  "vendor:qwen/*": notedHere(["agent.notice"], "qwen; mode and model updates are config.changed"),
};

/** Answers to what we ask: `:result` or `:error` behind the method. */
export const ANSWER_TYPES: NativeTypeTable = {
  initialize: live(["session.updated"]),
  authenticate: live(["auth.status"]),
  "auth/login": typed(["auth.status"], "v2"),
  "session/new": live([...OPENED, "auth.status", "error"]),
  "session/load": live(OPENED),
  "session/resume": live(OPENED),
  "session/fork": live(OPENED),
  "session/prompt": live(["turn.ended", "error", "usage.updated", "auth.status"]),
  "session/set_mode": live(["config.changed"]),
  "session/set_model": live(["config.changed"], "left the schema, still spoken"),
  "session/set_config_option": live(["config.changed"]),
  "session/set_title": live(["session.updated"]),
  "session/close": live(),
  "_session/steering": live(["item.started", "item.delta", "item.completed"], "claude-agent-acp, codex-acp"),
  "session/list": live(),
  "session/delete": live(),
};
