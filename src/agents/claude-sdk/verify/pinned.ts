import { pinned } from "../../kit/verify/pinned.ts";
import { claudeSdkAgent } from "../agent.ts";
import { SDK_PACKAGE } from "../connect/sdk-module.ts";

export const pinnedClaudeSdk = [pinned(claudeSdkAgent, { program: SDK_PACKAGE })];
