// Every native message type of Amp's stream JSON, what becomes of it, and whether a real build was seen sending it. The coverage page is made from this
// table; a test holds it against what the translator really says.
import type { EventType } from "../../../schema/event-data.ts";
import type { NativeTypeTable } from "../../kit/native-types.ts";

const ITEM: EventType[] = ["item.started", "item.delta", "item.completed"];
const FAILURE: EventType[] = ["error", "turn.ended"];

export const NATIVE_TYPES: NativeTypeTable = {
  "stdin/user": {
    disposition: "mapped",
    events: ["turn.started"],
    seen: "live",
    note: "the echo is the item; shown as ours when the run fails before it",
  },
  "stdin/text": { disposition: "mapped", events: ["turn.started"], seen: "live", note: "a prompt without --stream-json-input" },
  "stdin/other": { disposition: "noted", events: ["agent.notice"], seen: "live", note: "Amp answers it with an error and ends" },
  "system/init": {
    disposition: "mapped",
    events: ["config.changed", "session.updated", "turn.started"],
    seen: "live",
    note: "once a run; only changes are reported",
  },
  "system/other": { disposition: "unparsed", events: ["agent.unparsed"], seen: "types" },
  "user/text": { disposition: "mapped", events: ["turn.started", ...ITEM], seen: "live" },
  "user/tool_result": {
    disposition: "mapped",
    events: ["item.started", "item.completed", "permission.requested", "permission.resolved", "artifact.written"],
    seen: "live",
    note: "permissions only when a rule held the tool back",
  },
  assistant: {
    disposition: "mapped",
    events: [...ITEM, "usage.updated", "turn.ended", "agent.notice"],
    seen: "live",
    note: "noted when stop_reason is null: the answer is incomplete",
  },
  "result/success": {
    disposition: "mapped",
    events: ["turn.ended"],
    seen: "live",
    note: "repeats the last answer, which is not shown again",
  },
  "result/error_during_execution": {
    disposition: "mapped",
    events: [...FAILURE, "permission.requested", "permission.resolved", "auth.status"],
    seen: "live",
  },
  "result/error_max_turns": { disposition: "mapped", events: FAILURE, seen: "types" },
  "result/other": { disposition: "mapped", events: FAILURE, seen: "types" },
  "stdout/login": { disposition: "mapped", events: ["auth.status"], seen: "live" },
  "stdout/text": {
    disposition: "mapped",
    events: ITEM,
    seen: "live",
    note: "before any JSON: the answer of a run without --stream-json, or a notice; unparsed after it",
  },
  "stdout/other": { disposition: "unparsed", events: ["agent.unparsed"], seen: "types" },
  stderr: { disposition: "mapped", events: [], seen: "live", note: "reported with the error when a run ends without a result" },
  exit: { disposition: "mapped", events: FAILURE, seen: "live", note: "only a run without a result is judged by its exit" },
};
