/** Agent Skills as every door shows them: one catalog of a directory, and how each agent sees each skill. */
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

export const SkillFault = Type.Object({
  kind: SkillWarningKind,
  detail: Type.String(),
  name: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
});
export type SkillFault = Static<typeof SkillFault>;

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
  warnings: Type.Array(SkillFault),
});
export type Skill = Static<typeof Skill>;

export const SkillCollision = Type.Object({
  name: Type.String(),
  used: Type.String({ description: "Path of the one that wins: the first found." }),
  shadowed: Type.String({ description: "Path of the one that is not used." }),
});
export type SkillCollision = Static<typeof SkillCollision>;

export const SkillSight = Type.Object({
  agent: Type.String(),
  visible: Type.Enum(["native", "injected", "not_visible"], {
    description:
      "native: the agent finds it by itself. injected: dragoman hands it over when the agent starts. not_visible: only a message that begins with `/name` uses it.",
  }),
  door: Type.Union([Type.String(), Type.Null()], { description: "How it is handed over." }),
});
export type SkillSight = Static<typeof SkillSight>;

export const SkillList = Type.Object({
  directory: Type.Union([Type.String(), Type.Null()]),
  trusted: Type.Boolean({ description: "false: the skills of the directory do not count." }),
  skills: Type.Array(Type.Intersect([Skill, Type.Object({ agents: Type.Array(SkillSight) })])),
  collisions: Type.Array(SkillCollision),
  warnings: Type.Array(SkillFault),
  roots: Type.Array(Type.String(), { description: "Where was looked, the first place winning." }),
});
export type SkillList = Static<typeof SkillList>;
