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

/** Of agents that can also reject a call and stop the turn, beside agents that cannot. */
export const STOPS_THE_TURN: AcceptedDifference = {
  scenarios: ["permission-*"],
  lacks: ["permission.requested allow_once,allow_always,reject_once"],
  adds: ["permission.requested allow_once,allow_always,reject_once,reject_once"],
  reason: "a rejection can also stop the turn, which the others do not offer",
};
