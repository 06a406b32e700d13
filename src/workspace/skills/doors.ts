/**
 * How a skill of the catalog reaches an agent: it finds it by itself (native), we hand it over (injected), or it never sees it. The table holds what agents' own
 * documents and sources say (state of 2026-11); an agent that is not in it gets skills through our MCP server, if it takes MCP servers.
 */
import type { Skill } from "./skill.ts";

export type SkillDoor = {
  /** Kinds of project and user roots that the agent reads by itself. */
  project: readonly string[];
  user: readonly string[];
  /** Whether it also looks in directories above its own, up to the repository's root. */
  upwards: boolean;
  /** How it can be given more. */
  door: "plugin_directory" | "extra_roots" | "configuration" | "environment" | "mcp" | null;
};

export const SKILL_DOORS: Readonly<Record<string, SkillDoor>> = {
  claude: { project: [".claude"], user: [".claude"], upwards: false, door: "plugin_directory" },
  "claude-sdk": { project: [".claude"], user: [".claude"], upwards: false, door: "plugin_directory" },
  codex: { project: [".agents", ".codex"], user: [".agents", ".codex"], upwards: true, door: "extra_roots" },
  opencode: { project: [".claude", ".agents", ".opencode"], user: [".claude", ".agents"], upwards: true, door: "configuration" },
  gemini: { project: [".gemini", ".agents"], user: [".gemini", ".agents"], upwards: false, door: "mcp" },
  copilot: {
    project: [".github", ".claude", ".agents"],
    user: [".copilot", ".claude", ".agents"],
    upwards: false,
    door: "environment",
  },
  amp: { project: [".agents"], user: [], upwards: false, door: "mcp" },
  pi: { project: [".agents"], user: [], upwards: false, door: null },
};
const UNKNOWN: SkillDoor = { project: [], user: [], upwards: false, door: "mcp" };

export type Visibility = { agent: string; visible: "native" | "injected" | "not_visible"; door: SkillDoor["door"] };

/** `directory`: the session's. `takesMcp`: whether the session's agent can be given MCP servers. */
export function visibilityOf(skill: Skill, agent: string, directory: string, takesMcp = true): Visibility {
  const row = SKILL_DOORS[agent] ?? UNKNOWN;
  if (isNative(skill, row, directory)) return { agent, visible: "native", door: null };
  const door = row.door === "mcp" && !takesMcp ? null : row.door;
  // Through MCP the model decides: what only a person may use is not offered there.
  const offered = door !== null && (door !== "mcp" || skill.model_invocable);
  return { agent, visible: offered ? "injected" : "not_visible", door: offered ? door : null };
}

function isNative(skill: Skill, row: SkillDoor, directory: string): boolean {
  // Agents look one level deep: `<root>/<name>/SKILL.md`.
  if (skill.directory !== `${skill.root}/${skill.directory.slice(skill.directory.lastIndexOf("/") + 1)}`) return false;
  if (skill.scope === "user") return row.user.includes(skill.kind);
  if (skill.scope !== "project" || !row.project.includes(skill.kind)) return false;
  return row.upwards || skill.root === `${directory.replace(/\/+$/, "")}/${skill.kind}/skills`;
}
