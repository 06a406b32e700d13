/** What a session needs of the skills there are: whether a message uses one, and what its agent is given. The daemon provides it. */
import type { Agent, McpServer, ReadSkill, SessionConfig } from "../agents/contract.ts";
import type { EventDataOf } from "../schema/event-data.ts";

export type SkillPlace = { session_id: string; agent: Agent; directory: string; trusted: boolean; permission_mode: string };

export type UsedSkill = {
  /** What the agent gets instead of the message; null: the agent knows the skill itself, and gets the message as it is. */
  text: string | null;
  /** The same for an agent that keeps account of its skills. */
  read?: ReadSkill;
  invoked: EventDataOf["skill.invoked"];
  loaded: EventDataOf["skill.loaded"];
  warnings: EventDataOf["skill.warning"][];
};

export interface SkillSource {
  /** Null: the message uses no skill. `command`: it was chosen as a command of the agent. */
  use(text: string, command: boolean, place: SkillPlace): Promise<UsedSkill | null>;
  /** What the agent would not find by itself; null: there is nothing, or no way. */
  handOver(place: SkillPlace): Promise<HandedSkills | null>;
}

/** A folder for `SessionConfig.skills`, or an MCP server that offers them. */
export type HandedSkills = { folder: string } | { server: McpServer };

/** Nearly every message: it names nothing. */
export const mayUseSkill = (text: string): boolean => /^\s*[/$][^\s/$]/.test(text);

/** A server of the person's with the same name stays. */
export function withSkills(config: SessionConfig, handed: HandedSkills): SessionConfig {
  if ("folder" in handed) return { ...config, skills: handed.folder };
  const taken = config.mcp_servers.some(({ name }) => name === handed.server.name);
  return taken ? config : { ...config, mcp_servers: [...config.mcp_servers, handed.server] };
}
