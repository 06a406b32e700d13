// The outcome of one scenario with one agent: what the table shows and what the exit code is made of.
import type { Violation } from "../schema/grammar.ts";
import type { Coverage } from "../schema/session.ts";

export type ScenarioVerdict = "passed" | "failed" | "hung" | "skipped";

export type ScenarioResult = {
  agent: string;
  scenario: string;
  title: string;
  verdict: ScenarioVerdict;
  /** Native messages of all sessions, and what became of them. */
  native: number;
  mapped: number;
  noted: number;
  heartbeat: number;
  unparsed: number;
  events: number;
  broken: Violation[];
  /** Sentences: what was not as expected, or why it was skipped. */
  failures: string[];
  /** The last events, for a scenario that failed or hung. */
  tail: string[];
  types: Coverage["types"];
  /** What its sessions reported, as it can be compared with another agent's. */
  shape: string[];
  duration_ms: number;
  /** NDJSON of each session's native messages; only when asked for. */
  traces: string[];
};

export const emptyResult = (agent: string, scenario: { name: string; title: string }): ScenarioResult => ({
  agent,
  scenario: scenario.name,
  title: scenario.title,
  verdict: "passed",
  native: 0,
  mapped: 0,
  noted: 0,
  heartbeat: 0,
  unparsed: 0,
  events: 0,
  broken: [],
  failures: [],
  tail: [],
  types: [],
  shape: [],
  duration_ms: 0,
  traces: [],
});
