/** Agent Skills between the daemon and an agent: which it finds by itself, how it gets others, and those of an agent that reads none by itself. */
import type { SessionConfig } from "./session-config.ts";

export type SkillDoorName = "plugin_directory" | "skill_root" | "mcp_server";

/** How an agent gets Agent Skills: which folders it reads by itself, and how it can be given more. */
export type SkillDoor = {
  /** Kinds of project and user roots that the agent reads by itself, such as `.claude`. */
  project: readonly string[];
  user: readonly string[];
  /** Whether it also looks in directories above its own, up to the repository's root. */
  upwards: boolean;
  /**
   * How it is given more: its connection hands over `SessionConfig.skills` as a plugin or as one more root of skills, or it gets an MCP server with a tool for
   * them; null: it cannot.
   */
  door: SkillDoorName | null;
  /** False: `/name` is no command of its own, so it gets the text of the skill. */
  commands?: false;
};

/** A skill as it was read. */
export type ReadSkill = {
  name: string;
  /** Of its SKILL.md. */
  path: string;
  /** Where its files are. */
  directory: string;
  digest: string;
  /** What the model gets. */
  text: string;
  /** Tools that need no question while it is in use, in the names of our own tools. */
  allowed: string[];
};

/** A skill that a model may be informed of. */
export type OfferedSkill = { name: string; description: string; allowed: string[]; directory: string; project: boolean };

/** The skills of a place, for an agent that reads none by itself. */
export interface AgentSkills {
  catalog(place: SkillAsked): Promise<OfferedSkill[]>;
  /** Null: there is none of this name, or a model may not use it. */
  read(name: string, args: string, place: SkillAsked): Promise<ReadSkill | null>;
}

export type SkillAsked = Pick<SessionConfig, "directory" | "trusted" | "permission_mode">;
