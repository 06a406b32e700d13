/** How a request an agent makes for itself is recognised: naming the session, summarising for compaction. Each agent has its rules in its `verify/` folder. */

export interface SideCallRule {
  readonly kind: "title" | "summary" | "suggestion" | "quota" | "label" | "page" | "memory";
  readonly where: "system" | "user";
  readonly pattern: RegExp;
  /** Also when tools are on offer; without it such a system prompt is taken for that of an agent which merely mentions the subject. */
  readonly with_tools?: boolean;
}
