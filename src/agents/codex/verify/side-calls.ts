/** Requests Codex makes for itself. */
import type { SideCallRule } from "../../kit/verify/side-calls.ts";

export const codexSideCalls: readonly SideCallRule[] = [
  // codex 0.166
  { kind: "summary", where: "user", pattern: /You are performing a CONTEXT CHECKPOINT COMPACTION/ },
];
