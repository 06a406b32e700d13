/** Messages of Amp that may make no event, and why. */
import type { SilenceTable } from "../../contract.ts";

export const SILENCE: SilenceTable = [
  ["result/success", "repeats the last answer; the exit of the run ends the turn"],
  ["result/error_during_execution", "of a turn that is over"],
  ["result/error_max_turns", "of a turn that is over"],
  ["stdout/text", "an empty line"],
  ["stdout/login", "belongs to a login that was reported"],
];
