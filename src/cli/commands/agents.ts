// `dragoman agents`: what is installed, what each can do, and installing one.
import { type Command, EXIT, flag, need } from "../command.ts";
import { paintFor, table } from "../style.ts";

export const agents: Command = {
  name: "agents",
  usage: "agents [<agent>]",
  about: "list agents: installed, version, signed in",
  completes: ["agents", { word: "install" }],
  async run({ words, values, daemon, json, print, terminal }) {
    const dragoman = await daemon();
    if (words[0] !== undefined) {
      json(await dragoman.agent(words[0]));
      return EXIT.ok;
    }
    const all = await dragoman.agents();
    if (flag(values, "json")) for (const agent of all) json(agent);
    else {
      const paint = paintFor(terminal.stdout, terminal.env);
      const rows = all.map((each) => [
        each.agent,
        each.name,
        each.installed ? paint.green("installed") : paint.dim("not installed"),
        each.version ?? "",
        each.signed_in === null ? "" : each.signed_in ? "signed in" : "signed out",
        each.advice ?? "",
      ]);
      print(table(["AGENT", "NAME", "STATE", "VERSION", "LOGIN", "WHAT TO DO"], rows, paint));
    }
    return EXIT.ok;
  },
};

export const agentsInstall: Command = {
  name: "agents install",
  usage: "agents install <agent>",
  about: "install an agent from the npm registry into the data directory",
  completes: ["agents"],
  async run({ words, values, daemon, json, say }) {
    const info = await (await daemon()).installAgent(need(words, 0, "the agent"), ({ message }) => {
      if (!flag(values, "json")) say(message);
    });
    if (flag(values, "json")) json(info);
    else say(`${info.name} ${info.version ?? ""} is installed at ${info.path}.`);
    return EXIT.ok;
  },
};
