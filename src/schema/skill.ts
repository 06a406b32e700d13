/** Agent Skills as every door shows them: one catalog of a directory, and how each agent sees each skill. */
import { type Static, Type } from "typebox";

export const SkillWarningKind = Type.Enum(
  [
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
  ],
  { description: "What is wrong." },
);

export const SkillFault = Type.Object({
  kind: SkillWarningKind,
  detail: Type.String({ description: "A sentence for people." }),
  name: Type.Optional(Type.String({ description: "Name of the skill." })),
  path: Type.Optional(Type.String({ description: "Where its SKILL.md is." })),
});
export type SkillFault = Static<typeof SkillFault>;

export const SkillScope = Type.Enum(["session", "project", "user", "bundled"], { description: "Whom it belongs to." });
export type SkillScope = Static<typeof SkillScope>;

export const Skill = Type.Object({
  name: Type.String({ description: "From the frontmatter; the directory's name where that has none." }),
  description: Type.String({ description: "What it teaches, and when to use it." }),
  path: Type.String({ description: "Absolute path of SKILL.md." }),
  directory: Type.String({ description: "Absolute path of its folder." }),
  scope: SkillScope,
  root: Type.String({ description: "The root it was found in." }),
  kind: Type.String({ description: "The root's kind, such as `.agents`." }),
  digest: Type.String({ description: "sha256:<hex> of SKILL.md." }),
  frontmatter: Type.Record(Type.String(), Type.Unknown(), { description: "The head of its SKILL.md, as written." }),
  allowed_tools: Type.Array(Type.String(), { description: "As written, one by one." }),
  model_invocable: Type.Boolean({ description: "false: `disable-model-invocation`, only a person can use it." }),
  user_invocable: Type.Boolean({ description: "A person can use it as a command." }),
  warnings: Type.Array(SkillFault, { description: "What is wrong with it." }),
});
export type Skill = Static<typeof Skill>;

export const SkillCollision = Type.Object({
  name: Type.String({ description: "The name that several skills have." }),
  used: Type.String({ description: "Path of the one that wins: the first found." }),
  shadowed: Type.String({ description: "Path of the one that is not used." }),
});
export type SkillCollision = Static<typeof SkillCollision>;

export const SkillSight = Type.Object({
  agent: Type.String({ description: "Id of the agent, such as `claude`." }),
  visible: Type.Enum(["native", "injected", "not_visible"], {
    description:
      "native: the agent finds it by itself. injected: dragoman hands it over when the agent starts. not_visible: only a message that begins with `/name` uses it.",
  }),
  door: Type.Union([Type.String(), Type.Null()], { description: "How it is handed over." }),
});
export type SkillSight = Static<typeof SkillSight>;

export const SkillList = Type.Object({
  directory: Type.Union([Type.String(), Type.Null()], { description: "The directory that was asked about; null: none." }),
  trusted: Type.Boolean({ description: "false: the skills of the directory do not count." }),
  skills: Type.Array(
    Type.Intersect([Skill, Type.Object({ agents: Type.Array(SkillSight, { description: "How each agent gets it." }) })]),
    { description: "All that can be used." },
  ),
  collisions: Type.Array(SkillCollision, { description: "Skills that are not used because another one has their name." }),
  warnings: Type.Array(SkillFault, { description: "What is wrong with skills that cannot be used." }),
  roots: Type.Array(Type.String(), { description: "Where was looked, the first place winning." }),
});
export type SkillList = Static<typeof SkillList>;
