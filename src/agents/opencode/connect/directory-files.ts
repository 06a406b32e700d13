/**
 * What OpenCode loads from a directory, and the variables that switch it off. They hold for a whole server: restricted sessions have one of their own.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { LoadedFile } from "../../contract.ts";
import { ancestors, type FileRule, findFiles, head, READ_BYTES, untrusted } from "../../directory-files.ts";
import { settingsEffects } from "../../file-effects.ts";

const text = "is added to the model's instructions";
const folder = (name: string, kind: FileRule["kind"], does: string): FileRule => ({
  path: `.opencode/${name}/`,
  upTo: "root",
  ...(kind ? { kind } : {}),
  does,
});

const RULES: readonly FileRule[] = [
  { path: "opencode.json", upTo: "root", read: settingsEffects },
  { path: "opencode.jsonc", upTo: "root", read: settingsEffects },
  { path: ".opencode/opencode.json", upTo: "root", read: settingsEffects },
  { path: ".opencode/opencode.jsonc", upTo: "root", read: settingsEffects },
  ...["plugin", "plugins"].map((name) => folder(name, "plugins", "runs plugins")),
  ...["tool", "tools"].map((name) => folder(name, "plugins", "runs tools of its own")),
  ...["agent", "agents", "mode", "modes"].map((name) => folder(name, "agents", "offers agents with permissions of their own")),
  ...["command", "commands"].map((name) => folder(name, "commands", "offers commands, which may run programs")),
  ...["skill", "skills"].map((name) => folder(name, "skills", "offers skills")),
  { path: ".claude/skills/", upTo: "root", kind: "skills", does: "offers skills" },
  { path: ".agents/skills/", upTo: "root", kind: "skills", does: "offers skills" },
  { path: "AGENTS.md", upTo: "root", kind: "instructions", does: text },
  { path: "CLAUDE.md", upTo: "root", kind: "instructions", does: text },
  { path: "CONTEXT.md", upTo: "root", kind: "instructions", does: text },
];

export const opencodeFiles = (directory: string): Promise<LoadedFile[]> => findFiles(directory, RULES);

/** In these words a settings file names plugins, and repositories to clone; an escape could hide them. */
const SUSPECT = /plugin|reference|\\u/i;

/**
 * opencode 1.18.33 imports plugins of the directory when it makes its system prompt, whatever the variables say. Where there are some it is not started
 * restricted. Looked at before every message, because a server lives long.
 */
export async function mustHaveNoPlugins(directory: string): Promise<void> {
  for (const folder of [directory, ...ancestors(directory)]) {
    const found = await pluginFile(folder);
    if (found) throw untrusted(`OpenCode cannot be started without the plugins of its directory (${found}).`, directory);
  }
}

async function pluginFile(folder: string): Promise<string | null> {
  for (const name of [".opencode/plugin", ".opencode/plugins"]) {
    const path = join(folder, name);
    if ((await readdir(path).catch(() => [])).length > 0) return path;
  }
  for (const name of ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]) {
    const path = join(folder, name);
    const text = (await head(path)) ?? "";
    if (SUSPECT.test(text) || Buffer.byteLength(text) >= READ_BYTES) return path;
  }
  return null;
}

/** Language servers and formatters of OpenCode run programs that a project brings along in its node_modules. */
const NO_HELPERS = { lsp: false, formatter: false };

/** `env`: what the server would have otherwise. The person's own inline configuration stays. */
export function restrictedEnv(env: Record<string, string>): Record<string, string> {
  return {
    OPENCODE_DISABLE_PROJECT_CONFIG: "1",
    OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...parsed(env.OPENCODE_CONFIG_CONTENT), ...NO_HELPERS }),
  };
}

/** One more root of skills, in the inline configuration: it holds for a whole server, so sessions with other skills get another one. */
export function skillsEnv(env: Record<string, string>, folder: string): Record<string, string> {
  const inline: { skills?: { paths?: unknown } } = parsed(env.OPENCODE_CONFIG_CONTENT);
  const paths = [...(Array.isArray(inline.skills?.paths) ? inline.skills.paths : []), join(folder, "skills")];
  return { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...inline, skills: { ...inline.skills, paths } }) };
}

function parsed(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
