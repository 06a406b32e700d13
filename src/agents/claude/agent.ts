// Claude Code, driven through its stream-json interface.
import type { Agent } from "../contract.ts";
import { capabilities } from "../kit/capabilities.ts";
import { inspectProgram } from "../kit/inspect.ts";
import { carriedConversation } from "./connect/config-folder.ts";
import { connectClaude } from "./connect/connection.ts";
import { claudeFiles } from "./connect/directory-files.ts";
import { bypassRefusal } from "./connect/launch.ts";
import { initializeAnswer, signedIn } from "./connect/probe.ts";
import { agentList, modelList } from "./translate/config.ts";
import { forkPlace } from "./translate/fork-place.ts";
import { ClaudeTranslator } from "./translate/translator.ts";

const SIGN_IN = "Run `claude` once and sign in, or set ANTHROPIC_API_KEY.";

export const claudeAgent: Agent = {
  id: "claude",
  name: "Claude Code",
  skills: { project: [".claude"], user: [".claude"], upwards: false, door: "plugin_directory" },
  npmPackage: { name: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude", script: true },
  // Effort (`variant`) and agent are start arguments: the session resumes with new ones.
  capabilities: capabilities({ edit_input: true, live: { variant: false, agent_mode: false } }),
  createTranslator: () => new ClaudeTranslator(),
  inspect: (host) => inspectProgram(host, { signedIn, signInAdvice: { when: "signed_out", advice: SIGN_IN } }),
  refusal: async ({ permission_mode, env }, host) => bypassRefusal(permission_mode, host.environment(env)),
  models: async (host, place) => modelList((await initializeAnswer(host, place)).models),
  modes: async (host, place) => agentList((await initializeAnswer(host, place)).agents),
  directoryFiles: claudeFiles,
  forkPlace,
  carry: carriedConversation,
  connect: connectClaude,
};
