/** An agent that keeps something between sessions: each daemon gets an instance of its own. */
import type { Agent } from "../contract.ts";

export const perDaemon = (create: () => Agent): Agent => ({ ...create(), open: create });
