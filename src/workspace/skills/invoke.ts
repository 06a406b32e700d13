/** A prompt that begins with `/name` or `$name` uses a skill, whichever agent gets it; and the text with which an agent gets one. */
import type { Skill } from "./skill.ts";

export type Invocation = { skill: Skill; args: string };

/** null: the prompt is an ordinary one. */
export function invocationOf(prompt: string, skills: readonly Skill[]): Invocation | null {
  const match = /^\s*[/$]([^\s/$]+)(?:\s+([\s\S]*))?$/.exec(prompt);
  const skill = match ? skills.find(({ name, user_invocable }) => user_invocable && name === match[1]) : undefined;
  return skill ? { skill, args: match?.[2]?.trim() ?? "" } : null;
}

/** What a model is informed of the catalog: one line a skill. */
export function catalogText(skills: readonly Skill[]): string {
  const offered = skills.filter(({ model_invocable }) => model_invocable);
  return offered.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ").trim()}`).join("\n");
}

/** The whole skill for the model, with the folder in which its files lie. */
export function skillText(skill: Skill, body: string, args = ""): string {
  const head = `<skill_content name="${escaped(skill.name)}" directory="${escaped(skill.directory)}">`;
  return `${head}\n${body.trim()}\n${args === "" ? "" : `\nArguments: ${args}\n`}</skill_content>`;
}

const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
