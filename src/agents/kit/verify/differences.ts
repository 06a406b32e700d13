/** What an agent says differently from the others in a scenario they all play, and why that cannot be fixed here. */
export type AcceptedDifference = {
  /** Names, or beginnings that end with `*`. */
  readonly scenarios: readonly string[];
  /** The version's beginning; absent: every version. */
  readonly version?: string;
  /** Lines of the common story that it lacks, and lines it has beside them; each may end with `*`. */
  readonly lacks?: readonly string[];
  readonly adds?: readonly string[];
  /** Why the agent cannot do otherwise. */
  readonly reason: string;
};

const ANSWERED = ["item message/assistant [text]", "turn.ended end_turn"];
const GIVEN_UP = ["item message/assistant [text] failed", "error *", "turn.ended error *"];

/** Of agents that give up where the others ask the model again. */
export const givesUp = (reason: string, ...scenarios: string[]): AcceptedDifference => ({
  scenarios,
  lacks: ["item", "item.removed", ...ANSWERED],
  adds: GIVEN_UP,
  reason,
});

/** Of agents that may have read nothing of an answer when its connection is cut. */
export const SEES_NO_CUT: AcceptedDifference = {
  scenarios: ["stream-cut-then-ok", "sse-error"],
  lacks: ["item", "item.removed"],
  reason: "it may have read nothing of the answer when it was cut, and has nothing to remove then",
};

const LIST = [
  "item status/assistant [plan]",
  "item message/assistant []",
  "item tool_call/assistant [tool_call] plan*",
  "item tool_result/tool [tool_result]*",
];

const AT_THE_END = ["item message/assistant [text]*", "item system/system [text]", "error output_length", "turn.ended *"];

/** What follows an answer that reached the output limit. */
export const AT_THE_LIMIT: AcceptedDifference = {
  scenarios: ["max-tokens"],
  lacks: AT_THE_END,
  adds: AT_THE_END,
  reason:
    "an answer that reached the limit ends its turn, or the agent lets the model go on by itself, as Claude Code does; ACP does not say",
};

/** A todo list, of every agent that keeps one. */
export const KEEPS_A_LIST: AcceptedDifference = {
  scenarios: ["todo"],
  lacks: LIST,
  adds: LIST,
  reason: "it reports its list as calls of a tool, which may refuse what the script calls it with, as a plan, or as both",
};

/** Of agents whose tool for reading, or the wire it is reported over, names no file. */
export const READ_NAMES_NO_FILE: AcceptedDifference = {
  scenarios: ["read", "edit", "parallel-tools"],
  lacks: ["item tool_result/tool [tool_result+file_ref]"],
  adds: ["item tool_result/tool [tool_result]"],
  reason: "the result of a read names no file",
};

/** Of agents whose result of a read names the file, beside agents that do not. */
export const READ_NAMES_THE_FILE: AcceptedDifference = {
  scenarios: READ_NAMES_NO_FILE.scenarios,
  lacks: ["item tool_result/tool [tool_result]"],
  adds: ["item tool_result/tool [tool_result+file_ref]"],
  reason: "the result of a read names the file",
};

/** Of agents that take one kind of rejection. */
export const CANNOT_STOP_THE_TURN: AcceptedDifference = {
  scenarios: ["permission-*"],
  lacks: ["permission.requested allow_once,allow_always,reject_once,reject_once"],
  adds: ["permission.requested allow_once,allow_always,reject_once"],
  reason: "a rejection cannot stop the turn: it takes only one kind of it",
};

/** Of agents to which nothing can be said while they work. */
export const CANNOT_STEER: AcceptedDifference = {
  scenarios: ["steer"],
  lacks: ["item message/user [text]"],
  adds: ["turn.started client", "item message/user [text]", "item message/assistant [text]", "turn.ended end_turn"],
  reason: "nothing can be put into a running turn: the message waits for its own",
};

/** Of agents that can also reject a call and stop the turn, beside agents that cannot. */
export const STOPS_THE_TURN: AcceptedDifference = {
  scenarios: ["permission-*"],
  lacks: ["permission.requested allow_once,allow_always,reject_once"],
  adds: ["permission.requested allow_once,allow_always,reject_once,reject_once"],
  reason: "a rejection can also stop the turn, which the others do not offer",
};
