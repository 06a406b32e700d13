import { pinned } from "../../kit/verify/pinned.ts";
import { codexAgent } from "../agent.ts";

export const pinnedCodex = [pinned(codexAgent, { older: ["0.163.0", "0.144.5"] })];
