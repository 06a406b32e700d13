/** The skills of a session: the daemon's catalog for its directory, read anew whenever the model asks for one. */
import type { SkillReader } from "../../../runtime/ports.ts";
import type { AgentHost, OfferedSkill, SessionConfig } from "../../contract.ts";

export type SessionSkills = Omit<SkillReader, "offered"> & { readonly offered: readonly OfferedSkill[] };

export async function skillsOf({ skills }: Pick<AgentHost, "skills">, config: SessionConfig): Promise<SessionSkills> {
  if (skills === undefined) return { offered: [], load: () => Promise.resolve(null) };
  return {
    offered: await skills.catalog(config),
    load: (name, args) => skills.read(name, args, config),
  };
}
