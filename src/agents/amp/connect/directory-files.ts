/**
 * What Amp loads from a directory. None of it can be switched off: in a restricted session Amp is not started where such files are.
 */
import type { LoadedFile, SessionConfig } from "../../contract.ts";
import { type FileRule, findFiles, mustHaveNone } from "../../directory-files.ts";
import { settingsEffects } from "../../file-effects.ts";

const text = "is added to the model's instructions";
const RULES: readonly FileRule[] = [
  { path: ".amp/settings.json", upTo: "root", read: settingsEffects },
  { path: ".amp/settings.jsonc", upTo: "root", read: settingsEffects },
  { path: ".amp/plugins/", upTo: "root", kind: "plugins", does: "runs plugins" },
  { path: ".agents/skills/", upTo: "root", kind: "skills", does: "offers skills, which may have MCP servers" },
  { path: ".claude/skills/", upTo: "root", kind: "skills", does: "offers skills, which may have MCP servers" },
  { path: ".agents/commands/", upTo: "root", kind: "commands", does: "offers commands, which may run programs" },
  { path: "AGENTS.md", upTo: "root", kind: "instructions", does: text, always: true },
  { path: "AGENT.md", upTo: "root", kind: "instructions", does: text, always: true },
  { path: "CLAUDE.md", upTo: "root", kind: "instructions", does: text, always: true },
];

export const ampFiles = (directory: string): Promise<LoadedFile[]> => findFiles(directory, RULES);

/** Looked at before every run, because each run is a start. */
const mustHold = mustHaveNone("Amp", ampFiles);

export async function mustBeRestricted({ directory, trusted }: Pick<SessionConfig, "directory" | "trusted">): Promise<void> {
  if (!trusted) await mustHold(directory);
}
