/** The words for skills are part of the schema: routes, events and clients use the same. */
export {
  Skill,
  SkillCollision,
  SkillFault as SkillWarning,
  SkillScope,
} from "../../schema/skill.ts";
