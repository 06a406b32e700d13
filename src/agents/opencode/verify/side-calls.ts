/** Requests OpenCode makes for itself. */
import type { SideCallRule } from "../../kit/verify/side-calls.ts";

export const opencodeSideCalls: readonly SideCallRule[] = [
  // opencode 1.18
  { kind: "title", where: "system", pattern: /You are a title generator/i },
  { kind: "title", where: "user", pattern: /^\s*Generate a (short |concise )?title for this (conversation|session|thread)/i },
  {
    kind: "summary",
    where: "system",
    pattern: /tasked with summarizing conversations|context summarization assistant/i,
    with_tools: true,
  },
  {
    kind: "summary",
    where: "user",
    pattern: /Create a new anchored summary|Provide a detailed prompt for continuing our conversation/i,
  },
];
