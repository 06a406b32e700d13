/** What a session needs of the skills there are: whether a message uses one, and what its agent is given. The daemon provides it. */
import type { Agent, ReadSkill } from "../agents/contract.ts";
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
  /** A folder with what the agent would not find by itself, for `SessionConfig.skills`; null: there is nothing, or no way. */
  handOver(place: SkillPlace): Promise<string | null>;
}

/** Nearly every message: it names nothing. */
export const mayUseSkill = (text: string): boolean => /^\s*[/$][^\s/$]/.test(text);
