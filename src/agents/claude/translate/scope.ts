// Which work goes on behind the turns.
import type { ClaudeState } from "./state.ts";

/** True for what happens inside a background agent: the end of the turn does not end it. */
export const outlives = (state: ClaudeState, scope: string): boolean => scope !== "" && state.background.has(scope);
