/** What an agent tells differently from the others in a scenario they all play, and why that cannot be mended here. */
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

/** Of agents that can also reject a call and stop the turn, beside agents that cannot. */
export const STOPS_THE_TURN: AcceptedDifference = {
  scenarios: ["permission-*"],
  lacks: ["permission.requested allow_once,allow_always,reject_once"],
  adds: ["permission.requested allow_once,allow_always,reject_once,reject_once"],
  reason: "a rejection can also stop the turn, which the others do not offer",
};
