/** One catalog of Agent Skills for every agent. */
export { type EffectiveTools, effectiveAllowedTools, splitTools } from "./allowed-tools.ts";
export { loadSkill, type SkillCatalog, skillCatalog } from "./catalog.ts";
export { type Visibility, visibilityOf } from "./doors.ts";
export { bodyOf, readFrontmatter, validate } from "./frontmatter.ts";
export { catalogText, type Invocation, invocationOf, skillText } from "./invoke.ts";
export { type RootOptions, type SkillRoot, skillRoots } from "./roots.ts";
export { Skill, SkillCollision, SkillScope, SkillWarning } from "./skill.ts";
