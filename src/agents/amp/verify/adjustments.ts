/** What Amp does otherwise than the others in the scenarios of all agents. */
import { expects, NOT_RESTRICTABLE, OWN_RULES, REFUSED, type ScenarioAdjustment, skips } from "../../kit/verify/adjustments.ts";

export const ampAdjustments: readonly ScenarioAdjustment[] = [
  ...NOT_RESTRICTABLE,
  skips("it cannot ask on this wire", "own-request", "permission-*", "question-*", "mode-always-then-plan"),
  skips("it takes any name for a mode", "mode-refused-change"),
  skips("it runs one process a turn and takes changes for the next one", "mode-while-running"),
  skips("it shows whole messages only: there is no first word to interrupt at", "interrupt-thinking", "interrupt-stalled-stream"),
  expects(OWN_RULES, REFUSED, "mode-repository-rules"),
  expects(
    "it gives up at the first fault of the provider, whatever it is",
    { stop_reason: "error", final_text: [] },
    "http-429-then-ok",
    "http-500-then-ok",
    "connection-reset",
  ),
  expects(
    "it reports no reason for it and goes silent: on its wire it is the same as an answer that reached the output limit",
    { stop_reason: "output_length" },
    "pause-turn",
  ),
  skips("not tried with the stand-in of its server", "skill-by-tool"),
  expects("it does not report its usage", { events: [] }, "usage"),
];
