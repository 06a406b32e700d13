import { pinned } from "../../kit/verify/pinned.ts";
import { claudeAgent } from "../agent.ts";

export const pinnedClaude = [pinned(claudeAgent, { older: ["2.1.301", "2.1.211"] })];
