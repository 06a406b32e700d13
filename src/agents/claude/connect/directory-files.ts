/**
 * What Claude Code loads from a directory, and the arguments that switch it off. Its print mode has no trust dialog of its own: whatever lies in the
 * directory is loaded unless it is asked not to.
 */
import type { LoadedFile } from "../../contract.ts";
import { type FileRule, findFiles } from "../../directory-files.ts";
import { settingsEffects } from "../../file-effects.ts";

/** Only the person's own settings; MCP servers only from the session. Both hold for the directory's `CLAUDE.md`, skills, commands and agents too. */
export const RESTRICTED_ARGS = ["--setting-sources=user", "--strict-mcp-config"];

const text = "is added to the model's instructions";
const RULES: readonly FileRule[] = [
  { path: ".claude/settings.json", upTo: "root", read: settingsEffects },
  { path: ".claude/settings.local.json", upTo: "root", read: settingsEffects },
  { path: ".mcp.json", upTo: "root", read: settingsEffects },
  { path: ".claude/agents/", upTo: "root", kind: "agents", does: "offers sub-agents, which may have hooks and MCP servers" },
  { path: ".claude/commands/", upTo: "root", kind: "commands", does: "offers commands, which may run programs" },
  { path: ".claude/skills/", upTo: "root", kind: "skills", does: "offers skills, which may have hooks" },
  { path: ".claude/workflows/", upTo: "root", kind: "plugins", does: "offers workflows" },
  { path: ".claude/rules/", upTo: "root", kind: "instructions", does: text },
  { path: ".claude/output-styles/", upTo: "root", kind: "instructions", does: "offers output styles" },
  { path: "CLAUDE.md", upTo: "root", kind: "instructions", does: text },
  { path: ".claude/CLAUDE.md", upTo: "root", kind: "instructions", does: text },
  { path: "CLAUDE.local.md", upTo: "root", kind: "instructions", does: text },
];

export const claudeFiles = (directory: string): Promise<LoadedFile[]> => findFiles(directory, RULES);
