/** The Claude Agent SDK against the scripted model server: it runs the same CLI, so what holds for that holds here. */
import { claudeProfile } from "../../claude/verify/profile.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";

export const claudeSdkProfile: VerifyProfile = { ...claudeProfile, agent: "claude-sdk", environment: [/^DRAGOMAN_CLAUDE_SDK_/] };
