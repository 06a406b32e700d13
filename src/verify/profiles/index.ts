// Every agent `verify` can run, by id.
import type { VerifyProfile } from "../verify-profile.ts";
import { claudeAgentAcpProfile, codexAcpProfile, opencodeAcpProfile } from "./acp-bridges.ts";
import { ampProfile } from "./amp.ts";
import { claudeProfile, claudeSdkProfile } from "./claude.ts";
import { codexProfile } from "./codex.ts";
import { copilotProfile } from "./copilot.ts";
import { geminiProfile } from "./gemini.ts";
import { mockProfile } from "./mock.ts";
import { opencodeProfile } from "./opencode.ts";
import { qwenProfile } from "./qwen.ts";

export const verifyProfiles: ReadonlyMap<string, VerifyProfile> = new Map(
  [
    claudeProfile,
    claudeSdkProfile,
    codexProfile,
    opencodeProfile,
    geminiProfile,
    ampProfile,
    qwenProfile,
    copilotProfile,
    claudeAgentAcpProfile,
    codexAcpProfile,
    opencodeAcpProfile,
    mockProfile,
  ].map((profile) => [profile.agent, profile]),
);
