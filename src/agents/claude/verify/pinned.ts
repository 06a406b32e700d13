import { pinned } from "../../kit/verify/pinned.ts";
import { claudeAgent } from "../agent.ts";

export const pinnedClaude = [pinned(claudeAgent)];
