/** Loads a skill: its whole text, once its description fits the task. It stays in use for the session; what it allows without a question ends with the turn. */
import Type from "typebox";
import type { SkillReader } from "../ports.ts";
import { type AnyTool, defineTool, ToolError } from "./tool.ts";

/** Tools that change nothing: to allow them is no news. */
const HARMLESS = /^(read|ls|glob|grep|plan|ask|skill|task)(\(|$)/;

export function skillTool(skills: SkillReader): AnyTool {
  const offered = skills.offered.map(({ name }) => name);
  const widens = (name: string): boolean =>
    skills.offered.some((skill) => skill.name === name && skill.allowed.some((tool) => !HARMLESS.test(tool)));
  return defineTool({
    name: "skill",
    description: "Loads the instructions of a skill. Use it before you begin, when a skill of the list fits the task.",
    parameters: Type.Object({
      name: Type.Enum(offered, { description: "One of the list." }),
      args: Type.Optional(Type.String({ description: "What the skill is used for." })),
    }),
    effect: "none",
    // A skill that lets tools pass is a permission: a person decides about it.
    subject: ({ name }) => (widens(name) ? { kind: "other", name: "skill" } : { kind: "internal" }),
    async run({ name, args = "" }, { takeSkill }) {
      const skill = await skills.load(name, args);
      if (skill === null) throw new ToolError(`There is no skill ${JSON.stringify(name)} any more. Go on without it.`);
      takeSkill({ ...skill, by: "model" });
      return { output: skill.text };
    },
  });
}
