// Claude Code, driven through its stream-json interface.
import type { Agent } from "../contract.ts";
import { connectClaude } from "./connect/connection.ts";
import { claudeFiles } from "./connect/directory-files.ts";
import { bypassRefusal } from "./connect/launch.ts";
import { initializeAnswer, inspectClaude } from "./connect/probe.ts";
import { agentList, modelList } from "./translate/config.ts";
import { forkPlace } from "./translate/fork-place.ts";
import { ClaudeTranslator } from "./translate/translator.ts";

export const claudeAgent: Agent = {
  id: "claude",
  name: "Claude Code",
  skills: { project: [".claude"], user: [".claude"], upwards: false, door: "plugin_directory" },
  npmPackage: { name: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude", script: true },
  capabilities: {
    permissions: true,
    edit_input: true,
    questions: true,
    steer: true,
    interrupt: true,
    resume: true,
    fork: true,
    images: true,
    mcp_servers: true,
    system_prompt: true,
    deltas: true,
    reasoning: true,
    plans: true,
    subagents: true,
    settings: { model: true, variant: true, agent_mode: true },
    // Effort (`variant`) and agent are start arguments: the session resumes with new ones.
    live: { model: true, variant: false, agent_mode: false, permission_mode: true },
    permission_modes: ["default", "plan", "accept_edits", "bypass"],
  },
  createTranslator: () => new ClaudeTranslator(),
  inspect: inspectClaude,
  refusal: async ({ permission_mode, env }, host) => bypassRefusal(permission_mode, host.environment(env)),
  models: async (host, place) => modelList((await initializeAnswer(host, place)).models),
  modes: async (host, place) => agentList((await initializeAnswer(host, place)).agents),
  directoryFiles: claudeFiles,
  forkPlace,
  connect: connectClaude,
};
