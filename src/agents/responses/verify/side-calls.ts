/** Requests our own agent makes for itself. */
import type { SideCallRule } from "../../kit/verify/side-calls.ts";

export const responsesSideCalls: readonly SideCallRule[] = [
  // The question that ends the request for a summary, see runtime/compaction.ts.
  {
    kind: "summary",
    where: "user",
    pattern: /^\s*Summarise the conversation above, so that another engineer can go on without it/,
  },
];
