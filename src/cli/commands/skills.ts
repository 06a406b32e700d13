// `skills`: what Agent Skills there are here, and which agents see them.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, EXIT, flag, need, text, UsageError } from "../command.ts";
import { exact, exactLine } from "../output.ts";

const where = { directory: { type: "string", value: "<dir>", about: "the directory to look in (default: here)" } } as const;

export const skillsList: Command = {
  name: "skills ls",
  usage: "skills ls",
  about: "the skills there are for a directory, and which agents see them",
  help: "  native: the agent finds it by itself. injected: it is handed over at the agent's start. /name in a message uses it with any agent.",
  options: { ...where, agent: { type: "string", value: "<agent>", about: "only how this agent sees them" } },
  async run({ values, daemon, json, table, print, say, terminal }) {
    const directory = resolve(terminal.cwd, text(values, "directory") ?? ".");
    const only = text(values, "agent");
    const found = await (await daemon()).skills({ directory });
    if (flag(values, "json")) {
      for (const each of found.skills) json(each);
      return EXIT.ok;
    }
    if (!found.trusted) say(`${exactLine(directory)} is not trusted, so its own skills do not count: dragoman trust`);
    for (const { detail, name } of found.warnings) say(`${exactLine(name ?? "?")}: ${exactLine(detail)}`);
    if (found.skills.length === 0) print("There are no skills.");
    else
      table(
        ["SKILL", "SCOPE", "AGENTS", "WHAT"],
        found.skills.map(({ name, scope, agents, description }) => [
          exactLine(name),
          scope,
          agents
            .filter(({ agent, visible }) => (only === undefined ? visible !== "not_visible" : agent === only))
            .map(({ agent, visible }) =>
              only === undefined && visible === "native" ? agent : `${agent} (${visible.replace("_", " ")})`,
            )
            .join(", "),
          exactLine(description),
        ]),
      );
    return EXIT.ok;
  },
};

export const skillsShow: Command = {
  name: "skills show",
  usage: "skills show <skill>",
  about: "one skill: where it is, who sees it, and its text",
  options: where,
  async run({ words, values, daemon, json, print, terminal }) {
    const name = need(words, 0, "the skill");
    const directory = resolve(terminal.cwd, text(values, "directory") ?? ".");
    const { skills, collisions } = await (await daemon()).skills({ directory });
    const skill = skills.find((each) => each.name === name);
    if (!skill) throw new UsageError(`there is no skill ${name} for ${directory}: see dragoman skills ls`);
    if (flag(values, "json")) {
      json(skill);
      return EXIT.ok;
    }
    print(`${exactLine(skill.path)}\n${skill.digest}`);
    for (const { agent, visible } of skill.agents) print(`${agent}: ${visible.replace("_", " ")}`);
    for (const { shadowed } of collisions.filter((each) => each.name === name)) print(`not used: ${exactLine(shadowed)}`);
    // The daemon may run on another machine: then only what it says is shown.
    print(`\n${exact(await readFile(skill.path, "utf8").catch(() => skill.description))}`);
    return EXIT.ok;
  },
};
