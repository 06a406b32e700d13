/** How a skill of the catalog reaches an agent: it finds it by itself (native), we hand it over (injected), or it never sees it. */
import type { SkillDoor } from "../../agents/contract.ts";
import type { SkillSight } from "../../schema/skill.ts";
import type { Skill } from "./skill.ts";

export type Visibility = SkillSight;

/** `directory`: the session's. `row`: what the agent says of itself; absent: it knows no skills. */
export function visibilityOf(skill: Skill, agent: string, row: SkillDoor | undefined, directory: string | null): Visibility {
  if (row && isNative(skill, row, directory)) return { agent, visible: "native", door: null };
  // The model decides about what is handed over: what only a person may use is not offered.
  const door = skill.model_invocable ? (row?.door ?? null) : null;
  return { agent, visible: door === null ? "not_visible" : "injected", door };
}

function isNative(skill: Skill, row: SkillDoor, directory: string | null): boolean {
  // Agents look one level deep: `<root>/<name>/SKILL.md`.
  if (skill.directory !== `${skill.root}/${skill.directory.slice(skill.directory.lastIndexOf("/") + 1)}`) return false;
  if (skill.scope === "user") return row.user.includes(skill.kind);
  if (skill.scope !== "project" || directory === null || !row.project.includes(skill.kind)) return false;
  return row.upwards || skill.root === `${directory.replace(/\/+$/, "")}/${skill.kind}/skills`;
}
