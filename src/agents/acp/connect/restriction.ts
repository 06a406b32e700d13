/**
 * What the agents that speak ACP load from a directory, and how each is started without it. An agent nobody described loads nobody knows what: it is not
 * started in a directory that is not trusted. Not here: starting it (line.ts).
 */

import { join } from "node:path";
import { claudeFiles } from "../../claude/connect/directory-files.ts";
import { codexFiles } from "../../codex/connect/directory-files.ts";
import type { AgentHost, LoadedFile } from "../../contract.ts";
import { type FileRule, findFiles, head, mustHaveNone, untrusted } from "../../directory-files.ts";
import { dotenvEffects, settingsEffects } from "../../file-effects.ts";
import { isRecord, type JsonRecord, rec } from "../../json.ts";
import { mustHaveNoPlugins, opencodeFiles, restrictedEnv } from "../../opencode/connect/directory-files.ts";
import { writeWhole } from "./settings-file.ts";

/** Nothing of the directory is loaded when it is started with all of this. */
export type Restriction = {
  /** `env`: what it would have otherwise. */
  env?(env: Record<string, string>, host: AgentHost): Record<string, string> | Promise<Record<string, string>>;
  args?: readonly string[];
  /** Refuses a directory in which it does not hold. Asked before the start and before every message. */
  mustHold?(directory: string): Promise<void>;
  /** `_meta` of session/new, load, resume and fork. */
  meta?: JsonRecord;
};

export type DirectoryUse = {
  files(directory: string): Promise<LoadedFile[]>;
  /** Null: it cannot be started without them. */
  restriction: Restriction | null;
  /** For a trusted directory, where the agent has a trust of its own that would hold back. */
  trustedEnv?: Readonly<Record<string, string>>;
};

const text = "is added to the model's instructions";

/** Gemini CLI, and Qwen Code, which was made from it. */
const geminiRules = (folder: string, texts: readonly string[]): FileRule[] => [
  { path: `${folder}/settings.json`, upTo: "root", read: settingsEffects },
  { path: `${folder}/.env`, upTo: "root", read: dotenvEffects },
  { path: ".env", upTo: "root", read: dotenvEffects },
  { path: `${folder}/extensions/`, kind: "plugins", does: "loads extensions" },
  { path: `${folder}/hooks/`, kind: "hooks", does: "may run programs at certain moments" },
  { path: `${folder}/policies/`, kind: "permissions", does: "says what may be done without asking" },
  { path: `${folder}/commands/`, kind: "commands", does: "offers commands, which may run programs" },
  { path: `${folder}/agents/`, kind: "agents", does: "offers sub-agents" },
  { path: `${folder}/skills/`, kind: "skills", does: "offers skills" },
  { path: ".agents/skills/", kind: "skills", does: "offers skills" },
  ...texts.map((path): FileRule => ({ path, upTo: "root", kind: "instructions", does: text })),
];

const COPILOT: readonly FileRule[] = [
  { path: ".mcp.json", upTo: "root", read: settingsEffects },
  { path: ".github/mcp.json", upTo: "root", read: settingsEffects },
  { path: ".vscode/mcp.json", upTo: "root", read: settingsEffects },
  { path: ".github/copilot/settings.json", upTo: "root", read: settingsEffects },
  { path: ".github/copilot/settings.local.json", upTo: "root", read: settingsEffects },
  { path: ".github/hooks/", upTo: "root", kind: "hooks", does: "runs programs at certain moments" },
  { path: ".github/lsp.json", upTo: "root", kind: "helpers", does: "starts language servers" },
  { path: ".github/agents/", upTo: "root", kind: "agents", does: "offers agents" },
  { path: ".github/skills/", upTo: "root", kind: "skills", does: "offers skills" },
  { path: ".claude/skills/", upTo: "root", kind: "skills", does: "offers skills" },
  { path: ".github/copilot-instructions.md", upTo: "root", kind: "instructions", does: text, always: true },
  { path: "AGENTS.md", upTo: "root", kind: "instructions", does: text, always: true },
];

export const geminiUse: DirectoryUse = {
  files: (directory) => findFiles(directory, geminiRules(".gemini", ["GEMINI.md", ".gemini/GEMINI.md"])),
  restriction: {
    // gemini 0.51 acts on the variable only where the trust of folders is switched on.
    env: async (env, host) => ({
      ...(await noTrustedFolders(GEMINI_TRUST, env, host)),
      GEMINI_CLI_TRUST_WORKSPACE: "false",
      GEMINI_RESTRICTED_MODE: "true",
    }),
  },
  trustedEnv: { GEMINI_CLI_TRUST_WORKSPACE: "true" },
};

export const qwenUse: DirectoryUse = {
  files: (directory) =>
    findFiles(directory, [...geminiRules(".qwen", ["QWEN.md", "AGENTS.md"]), { path: ".mcp.json", read: settingsEffects }]),
  restriction: { env: (env, host) => noTrustedFolders(QWEN_TRUST, env, host) },
};

type FolderTrust = {
  /** Where the settings of the machine's administrator are, and the variable that says so. */
  settings: { variable: string; otherwise: string };
  /** The variable that names the list of trusted folders. */
  folders: string;
};

const GEMINI_TRUST: FolderTrust = {
  settings: { variable: "GEMINI_CLI_SYSTEM_SETTINGS_PATH", otherwise: "/etc/gemini-cli/settings.json" },
  folders: "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
};
const QWEN_TRUST: FolderTrust = {
  settings: { variable: "QWEN_CODE_SYSTEM_SETTINGS_PATH", otherwise: "/etc/qwen-code/settings.json" },
  folders: "QWEN_CODE_TRUSTED_FOLDERS_PATH",
};

/**
 * The trust of folders may be switched off, and qwen 0.24 has no variable for it: a system settings file of ours switches it on and a list of ours trusts nothing.
 * What the machine's administrator has set stays.
 */
async function noTrustedFolders(
  { settings, folders }: FolderTrust,
  env: Record<string, string>,
  { stateDir }: AgentHost,
): Promise<Record<string, string>> {
  const system = jsonOf((await head(env[settings.variable] ?? settings.otherwise)) ?? undefined);
  const security = { ...rec(system.security), folderTrust: { enabled: true } };
  const [ours, list] = [join(stateDir, "restricted-settings.json"), join(stateDir, "restricted-folders.json")];
  await writeWhole(ours, { ...system, security });
  await writeWhole(list, { "/": "DO_NOT_TRUST" });
  return { [settings.variable]: ours, [folders]: list };
}

const copilotFiles = (directory: string): Promise<LoadedFile[]> => findFiles(directory, COPILOT);

/** copilot 1.0.102 asks about trust in its own terminal only; over ACP it runs the directory's hooks at once. */
export const copilotUse: DirectoryUse = {
  files: copilotFiles,
  restriction: { mustHold: mustHaveNone("GitHub Copilot CLI", copilotFiles) },
};

export const claudeBridgeUse: DirectoryUse = {
  files: claudeFiles,
  restriction: { meta: { claudeCode: { options: { settingSources: ["user"], strictMcpConfig: true } } } },
};

/** codex-acp 2.6 marks every directory as trusted for Codex. */
export const codexBridgeUse: DirectoryUse = {
  files: codexFiles,
  restriction: { mustHold: mustHaveNone("Codex (ACP)", codexFiles) },
};

export const opencodeUse: DirectoryUse = {
  files: opencodeFiles,
  restriction: { env: (env) => restrictedEnv(env), mustHold: mustHaveNoPlugins },
};

function jsonOf(json: string | undefined): JsonRecord {
  try {
    return rec(JSON.parse(json ?? "{}"));
  } catch {
    return {};
  }
}

/** An agent of the configuration: `restricted` says how it is started so that it loads nothing. */
export function configuredUse(settings: Record<string, unknown>): DirectoryUse {
  const { restricted } = settings;
  if (isRecord(restricted)) {
    const env = Object.fromEntries(Object.entries(rec(restricted.env)).map(([name, value]) => [name, String(value)]));
    const args = Array.isArray(restricted.args) ? restricted.args.map(String) : [];
    return { files: async () => [], restriction: { env: () => env, args } };
  }
  const does = "may load anything from it: how to start this agent without is not known (agents.acp.<name>.restricted)";
  return { files: async () => [{ path: ".", kind: "unknown", does }], restriction: null };
}

/** How it is started in this directory. Throws `directory_untrusted` for one that can only be started trusted. */
export async function startFor(
  use: DirectoryUse,
  { name, host, directory, trusted }: { name: string; host: AgentHost; directory: string; trusted: boolean },
  env: Record<string, string>,
): Promise<{ env: Record<string, string>; args: readonly string[]; meta: JsonRecord | undefined }> {
  if (trusted) return { env: { ...use.trustedEnv }, args: [], meta: undefined };
  const { restriction } = use;
  if (restriction === null) throw untrusted(`${name} cannot be started without the settings of its directory.`, directory);
  await restriction.mustHold?.(directory);
  return { env: (await restriction.env?.(env, host)) ?? {}, args: restriction.args ?? [], meta: restriction.meta };
}
