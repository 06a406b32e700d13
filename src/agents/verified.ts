/**
 * What agents bring for their verification, in one list: `verify` names none of them. Adding an agent is adding its lines here and in `registry.ts`. The
 * daemon never loads this.
 */

import { claudeAgentAcpProfile, codexAcpProfile, opencodeAcpProfile } from "./acp/verify/bridge-profiles.ts";
import { copilotProfile } from "./acp/verify/copilot-profile.ts";
import { geminiProfile } from "./acp/verify/gemini-profile.ts";
import { hostileAcp } from "./acp/verify/hostile-settings.ts";
import { pinnedAcp, pinnedGemini } from "./acp/verify/pinned.ts";
import { qwenProfile } from "./acp/verify/qwen-profile.ts";
import { acpSideCalls } from "./acp/verify/side-calls.ts";
import { acpTools } from "./acp/verify/tool-names.ts";
import { hostileAmp } from "./amp/verify/hostile-settings.ts";
import { pinnedAmp } from "./amp/verify/pinned.ts";
import { ampProfile } from "./amp/verify/profile.ts";
import { ampTools } from "./amp/verify/tool-names.ts";
import { hostileClaude } from "./claude/verify/hostile-settings.ts";
import { pinnedClaude } from "./claude/verify/pinned.ts";
import { claudeProfile } from "./claude/verify/profile.ts";
import { claudeSideCalls } from "./claude/verify/side-calls.ts";
import { claudeTools } from "./claude/verify/tool-names.ts";
import { pinnedClaudeSdk } from "./claude-sdk/verify/pinned.ts";
import { claudeSdkProfile } from "./claude-sdk/verify/profile.ts";
import { hostileCodex } from "./codex/verify/hostile-settings.ts";
import { pinnedCodex } from "./codex/verify/pinned.ts";
import { codexProfile } from "./codex/verify/profile.ts";
import { codexSideCalls } from "./codex/verify/side-calls.ts";
import { codexTools } from "./codex/verify/tool-names.ts";
import type { HostileSettings } from "./kit/verify/hostile-directory.ts";
import type { PinnedAgent } from "./kit/verify/pinned.ts";
import type { VerifyProfile } from "./kit/verify/profile.ts";
import type { SideCallRule } from "./kit/verify/side-calls.ts";
import type { ToolSet } from "./kit/verify/tool-names.ts";
import { mockProfile } from "./mock/verify/profile.ts";
import { hostileOpencode } from "./opencode/verify/hostile-settings.ts";
import { pinnedOpencode } from "./opencode/verify/pinned.ts";
import { opencodeProfile } from "./opencode/verify/profile.ts";
import { opencodeSideCalls } from "./opencode/verify/side-calls.ts";
import { opencodeTools } from "./opencode/verify/tool-names.ts";
import { hostileResponses } from "./responses/verify/hostile-settings.ts";
import { responsesProfile } from "./responses/verify/profile.ts";
import { responsesSideCalls } from "./responses/verify/side-calls.ts";
import { responsesTools } from "./responses/verify/tool-names.ts";

/** What a hostile directory holds for each of them. */
export const hostileSettings: readonly HostileSettings[] = [
  hostileClaude,
  hostileCodex,
  hostileOpencode,
  hostileAcp,
  hostileAmp,
  hostileResponses,
];

export const profiles: readonly VerifyProfile[] = [
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
  responsesProfile,
  mockProfile,
];

/** The first one that knows an offer is taken: Amp's tools have names of Claude's, and Copilot's those of OpenCode. */
export const toolSets: readonly ToolSet[] = [...codexTools, ampTools, claudeTools, ...acpTools, responsesTools, opencodeTools];

export const sideCallRules: readonly SideCallRule[] = [
  ...claudeSideCalls,
  ...codexSideCalls,
  ...opencodeSideCalls,
  ...acpSideCalls,
  ...responsesSideCalls,
];

export const pinnedAgents: readonly PinnedAgent[] = [
  ...pinnedClaude,
  ...pinnedClaudeSdk,
  ...pinnedCodex,
  ...pinnedOpencode,
  ...pinnedGemini,
  ...pinnedAmp,
  ...pinnedAcp,
];
