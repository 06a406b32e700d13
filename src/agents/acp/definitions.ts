// The ACP agents that need no configuration: how each is started, signed in and installed. A further one needs only configuration.
import { join } from "node:path";
import type { PermissionMode } from "../../schema/event-data.ts";
import { carriedConversation } from "../claude/connect/config-folder.ts";
import { bypassRefusal, permissionSettings } from "../claude/connect/launch.ts";
import { carriedThread } from "../codex/connect/rollout.ts";
import type { AgentCapabilities, Carry, SessionConfig, SkillDoor } from "../contract.ts";
import type { JsonRecord } from "../json.ts";
import { skillsEnv } from "../opencode/connect/directory-files.ts";
import { OPENCODE_PACKAGE } from "../opencode/package.ts";
import { copilotState, qwenChats } from "./connect/carried-stores.ts";
import {
  claudeBridgeUse,
  codexBridgeUse,
  configuredUse,
  copilotUse,
  type DirectoryUse,
  geminiUse,
  opencodeUse,
  qwenUse,
} from "./connect/restriction.ts";
import { GEMINI_RULES, OPENCODE_RULES, QWEN_RULES, rulesRefusal } from "./connect/rule-files.ts";
import type { SettingsFile } from "./connect/settings-file.ts";

export type AcpDefinition = {
  id: string;
  name: string;
  /** Which quirks hold until the agent says its name. */
  quirks: string;
  /** Arguments that make the program speak ACP; the configuration's arguments replace them. */
  args: string[];
  /** Variables it gets unless the user has set them. */
  env?: Record<string, string>;
  settingsFile?: SettingsFile;
  /** Which skills it finds by itself. */
  skills?: Omit<SkillDoor, "door">;
  /** Variables that give it one more root of skills. Absent: it gets an MCP server with a tool for them. */
  skillRoot?(env: Record<string, string>, folder: string): Record<string, string>;
  /** What it loads from a session's directory, and how it is started without. */
  directory: DirectoryUse;
  /** The first variable that is set decides how to sign in. */
  auth: { variable: string; method: string }[];
  npmPackage: { name: string; version: string; bin: string; script?: boolean } | null;
  /** What the agent can do beyond the rest, known before it runs. */
  able: Partial<
    Pick<AgentCapabilities, "fork" | "resume" | "questions" | "system_prompt" | "plans" | "subagents" | "images" | "steer">
  >;
  settings?: Partial<AgentCapabilities["settings"]>;
  /** The permission modes it honours; without it, all. */
  modes?: PermissionMode[];
  /** Why a configuration cannot be honoured on this machine. */
  refusal?(config: SessionConfig, env: Record<string, string>): string | null;
  /** What the permission mode adds to the parameters of a session. A change of mode that changes this needs a new process. */
  sessionMeta?(mode: PermissionMode, directory: string, env: Record<string, string>): JsonRecord;
  live?: Partial<AgentCapabilities["live"]>;
  carry?: Carry;
};

export const geminiDefinition: AcpDefinition = {
  id: "gemini",
  name: "Gemini CLI",
  quirks: "gemini",
  args: ["--acp"],
  // gemini 0.61 shows no output of a command that ran on a pty; with this setting it uses pipes.
  env: { GEMINI_PTY_INFO: "child_process" },
  // gemini 0.61 cleans up when it starts: a session of the same project in which nothing was said yet loses its file, and with it all that follows.
  settingsFile: {
    variable: "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    insteadOf: ["/etc/gemini-cli/system-defaults.json", "/Library/Application Support/GeminiCli/system-defaults.json"],
    content: { general: { sessionRetention: { enabled: false } } },
  },
  directory: geminiUse,
  skills: { project: [".gemini", ".agents"], user: [".gemini", ".agents"], upwards: false },
  auth: [
    { variable: "GEMINI_API_KEY", method: "gemini-api-key" },
    { variable: "GOOGLE_API_KEY", method: "vertex-ai" },
  ],
  npmPackage: { name: "@google/gemini-cli", version: "0.61.0", bin: "gemini" },
  able: { questions: false },
  settings: { variant: false },
  refusal: (config, env) => rulesRefusal(GEMINI_RULES, config, env),
};

/**
 * opencode 1.18 allows nearly everything and has no mode that asks: so what changes something is asked for, and the permission mode decides here
 * who answers. As patterns, because they are merged into the person's own rules for single commands and files, which stay.
 */
const OPENCODE_ASKS = {
  edit: { "*": "ask" },
  bash: { "*": "ask" },
  task: { "*": "ask" },
  webfetch: "ask",
  websearch: "ask",
};

export const acpDefinitions: readonly AcpDefinition[] = [
  geminiDefinition,
  {
    id: "claude-agent-acp",
    name: "Claude Agent (ACP)",
    quirks: "claude-agent-acp",
    args: [],
    directory: claudeBridgeUse,
    skills: { project: [".claude"], user: [".claude"], upwards: false },
    auth: [],
    carry: carriedConversation,
    npmPackage: { name: "@agentclientprotocol/claude-agent-acp", version: "0.99.1", bin: "claude-agent-acp" },
    able: { fork: true, system_prompt: true, plans: true, steer: true },
    refusal: ({ permission_mode }, env) => bypassRefusal(permission_mode, env),
    sessionMeta: (mode, directory, env) => {
      const settings = permissionSettings(mode, directory, env);
      const options = { allowDangerouslySkipPermissions: mode === "bypass", ...(settings ? { settings } : {}) };
      return { claudeCode: { options } };
    },
  },
  {
    id: "codex-acp",
    name: "Codex (ACP)",
    quirks: "codex-acp",
    args: [],
    directory: codexBridgeUse,
    skills: { project: [".agents", ".codex"], user: [".agents", ".codex"], upwards: true },
    auth: [],
    carry: carriedThread,
    npmPackage: { name: "@agentclientprotocol/codex-acp", version: "2.6.0", bin: "codex-acp" },
    able: { fork: true, system_prompt: true, plans: true, steer: true },
    // 2.6 runs commands in its sandbox without asking, and a mode that was just set does not always hold in the next turn.
    modes: ["bypass"],
  },
  {
    id: "opencode-acp",
    name: "OpenCode (ACP)",
    quirks: "opencode",
    args: ["acp"],
    env: { OPENCODE_PERMISSION: JSON.stringify(OPENCODE_ASKS) },
    directory: opencodeUse,
    skills: { project: [".claude", ".agents", ".opencode"], user: [".claude", ".agents"], upwards: true },
    skillRoot: skillsEnv,
    auth: [],
    npmPackage: OPENCODE_PACKAGE,
    able: { fork: true, questions: false },
    refusal: (config, env) => rulesRefusal(OPENCODE_RULES, config, env),
  },
  {
    id: "qwen",
    name: "Qwen Code",
    quirks: "qwen",
    args: ["--acp"],
    directory: qwenUse,
    auth: [{ variable: "OPENAI_API_KEY", method: "openai" }],
    carry: qwenChats,
    npmPackage: { name: "@qwen-code/qwen-code", version: "0.24.4", bin: "qwen" },
    able: {},
    settings: { variant: false },
    refusal: (config, env) => rulesRefusal(QWEN_RULES, config, env),
  },
  {
    id: "copilot",
    name: "GitHub Copilot CLI",
    quirks: "copilot",
    args: ["--acp", "--stdio"],
    directory: copilotUse,
    skills: { project: [".github", ".claude", ".agents"], user: [".copilot", ".claude", ".agents"], upwards: false },
    skillRoot: ({ COPILOT_SKILLS_DIRS: own }, folder) => ({
      COPILOT_SKILLS_DIRS: [...(own ? [own] : []), join(folder, "skills")].join(","),
    }),
    auth: [],
    carry: copilotState,
    npmPackage: { name: "@github/copilot", version: "1.0.102", bin: "copilot" },
    able: { questions: false },
  },
  {
    id: "goose",
    name: "Goose",
    quirks: "goose",
    args: ["acp"],
    directory: configuredUse({}),
    auth: [],
    npmPackage: null,
    able: {},
  },
];
