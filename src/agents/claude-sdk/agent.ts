// The Claude Agent SDK, an optional peer. It yields Claude Code's own messages, so everything but the connection is Claude Code's.
import { claudeAgent } from "../claude/agent.ts";
import { carriedConversation } from "../claude/connect/config-folder.ts";
import { claudeFiles } from "../claude/connect/directory-files.ts";
import { signedIn } from "../claude/connect/probe.ts";
import { forkPlace } from "../claude/translate/fork-place.ts";
import type { Agent } from "../contract.ts";
import { inspectLoaded } from "../kit/inspect.ts";
import { connectSdk } from "./connect/connection.ts";
import { loadSdk, SDK_PACKAGE } from "./connect/sdk-module.ts";

export const claudeSdkAgent: Agent = {
  id: "claude-sdk",
  name: "Claude Agent SDK",
  // It has no program of its own; the name only keeps the PATH from being asked for another one.
  npmPackage: { name: SDK_PACKAGE, version: "0.3.325", bin: "claude-agent-sdk" },
  capabilities: claudeAgent.capabilities,
  skills: { project: [".claude"], user: [".claude"], upwards: false, door: "plugin_directory" },
  createTranslator: claudeAgent.createTranslator,
  inspect: (host) =>
    inspectLoaded(host, loadSdk, {
      signedIn,
      signInAdvice: { when: "signed_out", advice: "Set ANTHROPIC_API_KEY, or sign in with `claude`." },
    }),
  ...(claudeAgent.refusal ? { refusal: claudeAgent.refusal } : {}),
  inspectStarts: false,
  directoryFiles: claudeFiles,
  forkPlace,
  carry: carriedConversation,
  connect: connectSdk,
};
