// Which work goes on behind the turns.
import type { ClaudeState } from "./state.ts";

/** True for what happens inside a background agent, also in agents that this one started: the end of the turn does not end it. */
export function outlives({ background, tools }: ClaudeState, scope: string): boolean {
  const seen = new Set<string>();
  for (let at = scope; at !== "" && !seen.has(at); at = tools.get(at)?.scope ?? "") {
    if (background.has(at)) return true;
    seen.add(at);
  }
  return false;
}
