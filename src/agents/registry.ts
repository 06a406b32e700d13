// Every agent the daemon knows. Adding one is adding its folder and one line here.
import type { Agent } from "./contract.ts";
import { mockAgent } from "./mock/agent.ts";

export const builtInAgents: readonly Agent[] = [mockAgent];
