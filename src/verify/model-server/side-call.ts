// Requests an agent makes for itself: naming the session, summarising for compaction, guessing the next prompt, checking its quota.
// They carry the user's own text, so they must be recognised before a scenario is looked up, or they would be answered from the script.

import type { SideCallRule } from "../../agents/kit/verify/side-calls.ts";
import { sideCallRules } from "../../agents/verified.ts";
import { lastUserText, type ModelRequest } from "./model-request.ts";

export type SideCall =
  | { readonly kind: SideCallRule["kind"] }
  /** No tools and a schema for the answer: a classifier. */
  | { readonly kind: "structured" }
  /** One tool, and the client insists on it. */
  | { readonly kind: "forced_tool"; readonly tool: string };

export function sideCall(request: ModelRequest): SideCall | undefined {
  const user = lastUserText(request);
  // An agent's main system prompt is long and speaks of many things; a side call's says its one purpose at the start.
  const system = request.system.slice(0, 2000);
  for (const rule of sideCallRules) {
    if (rule.where === "system" && request.tools.length > 0 && !rule.with_tools) continue;
    if (rule.pattern.test(rule.where === "system" ? system : user)) return { kind: rule.kind };
  }
  if (request.forced_tool !== undefined && request.tools.length === 1) return { kind: "forced_tool", tool: request.forced_tool };
  if (request.tools.length === 0 && request.json_schema) return { kind: "structured" };
  return undefined;
}
