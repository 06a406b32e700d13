/** The Claude Agent SDK against the scripted model server: it runs the same CLI, so what holds for that holds here. */
import { claudeProfile } from "../../claude/verify/profile.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";

const { shown: _, ...shared } = claudeProfile;

export const claudeSdkProfile: VerifyProfile = { ...shared, agent: "claude-sdk", environment: [/^DRAGOMAN_CLAUDE_SDK_/] };
