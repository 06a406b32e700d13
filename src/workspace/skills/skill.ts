/** What a skill is to callers, as schemas. */
import { type Static, Type } from "typebox";

export const SkillWarningKind = Type.Enum([
  "invalid_name",
  "name_mismatch",
  "description_too_long",
  "invalid_field",
  "unknown_field",
  "missing_description",
  "broken_frontmatter",
  "repaired_frontmatter",
  "too_large",
  "unreadable",
  "too_many_directories",
  "collision",
  "unknown_tool",
]);

export const SkillWarning = Type.Object({
  kind: SkillWarningKind,
  detail: Type.String(),
  name: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
});
export type SkillWarning = Static<typeof SkillWarning>;

export const SkillScope = Type.Enum(["session", "project", "user", "bundled"]);
export type SkillScope = Static<typeof SkillScope>;

export const Skill = Type.Object({
  name: Type.String({ description: "From the frontmatter; the directory's name where that has none." }),
  description: Type.String(),
  path: Type.String({ description: "Absolute path of SKILL.md." }),
  directory: Type.String(),
  scope: SkillScope,
  root: Type.String({ description: "The root it was found in." }),
  kind: Type.String({ description: "The root's kind, such as `.agents`." }),
  digest: Type.String({ description: "sha256:<hex> of SKILL.md." }),
  frontmatter: Type.Record(Type.String(), Type.Unknown()),
  allowed_tools: Type.Array(Type.String(), { description: "As written, one by one." }),
  model_invocable: Type.Boolean({ description: "false: `disable-model-invocation`, only a person can use it." }),
  user_invocable: Type.Boolean(),
  warnings: Type.Array(SkillWarning),
});
export type Skill = Static<typeof Skill>;

export const SkillCollision = Type.Object({
  name: Type.String(),
  used: Type.String({ description: "Path of the one that wins: the first found." }),
  shadowed: Type.String({ description: "Path of the one that is not used." }),
});
export type SkillCollision = Static<typeof SkillCollision>;
