import { pinned } from "../../kit/verify/pinned.ts";
import { codexAgent } from "../agent.ts";

export const pinnedCodex = [pinned(codexAgent)];
