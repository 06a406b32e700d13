// `dragoman agents`: what is installed, what each can do, how it was verified, and installing one.
import { type Command, EXIT, flag, need, text } from "../command.ts";
import { agentFacts } from "../facts.ts";
import { exact, exactLine } from "../output.ts";
import { paintFor } from "../style.ts";
import { tableColumns, wrap } from "../text-layout.ts";

export const agents: Command = {
  name: "agents",
  startsDaemon: true,
  usage: "agents [<agent>]",
  about: "list agents: installed, version, signed in",
  completes: ["agents"],
  async run({ words, values, daemon, json, details, table, print, terminal }) {
    const dragoman = await daemon();
    if (words[0] !== undefined) {
      const info = await dragoman.agent(words[0]);
      details(info, () => agentFacts(info));
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
        each.signed_in === null ? "" : each.signed_in ? "signed in" : "not ready",
      ]);
      table(["AGENT", "NAME", "STATE", "VERSION", "LOGIN"], rows, ["NAME", "VERSION", "LOGIN"]);
      const columns = tableColumns(terminal.stdout, terminal.env);
      for (const { agent, installed, advice } of all)
        if (installed && advice) print(wrap(exactLine(`${agent}: ${advice}`), columns, "  ").join("\n"));
      if (all.some(({ installed }) => !installed)) print(paint.dim("Install one with: dragoman agents install <agent>"));
    }
    return EXIT.ok;
  },
};

export const agentsInstall: Command = {
  name: "agents install",
  startsDaemon: true,
  usage: "agents install <agent>",
  about: "install an agent from the npm registry into the data directory",
  completes: ["agents"],
  async run({ words, values, daemon, json, say }) {
    const info = await (await daemon()).installAgent(need(words, 0, "the agent"), ({ message }) => {
      if (!flag(values, "json")) say(exactLine(message));
    });
    if (flag(values, "json")) json(info);
    else say(exactLine(`${info.name} ${info.version ?? ""} is installed at ${info.path}.`));
    return EXIT.ok;
  },
};

export const agentsReport: Command = {
  name: "agents report",
  usage: "agents report <agent>",
  about: "what `dragoman verify` last found out about an agent",
  help: "  Exit code: 0 all passed, 1 something failed or it was never verified.",
  completes: ["agents"],
  async run({ words, values, daemon, json, table, print, terminal }) {
    const report = await (await daemon()).verifyReport(need(words, 0, "the agent"));
    const { totals, scenarios, problems } = report;
    const paint = paintFor(terminal.stdout, terminal.env);
    if (flag(values, "json")) json(report);
    else {
      const rows = scenarios.map((each) => [
        each.scenario,
        each.verdict === "passed" ? paint.green("passed") : each.verdict,
        [...each.reasons, ...each.broken.map(({ rule, message }) => `${rule}: ${message}`)].join("; "),
      ]);
      table(["SCENARIO", "RESULT", "WHY"], rows);
      for (const problem of problems) print(exact(problem));
      print(
        `${report.agent} ${report.version ?? ""}, ${report.verified_at}: ${totals.passed} passed, ${totals.failed} failed, ${totals.hung} hung, ` +
          `${totals.skipped} skipped, ${totals.unparsed} unparsed, ${totals.broken} rules broken`,
      );
    }
    return totals.failed + totals.hung + problems.length > 0 ? EXIT.failed : EXIT.ok;
  },
};

export const models: Command = {
  name: "models",
  startsDaemon: true,
  usage: "models <agent>",
  about: "models an agent offers, with their variants",
  options: { directory: { type: "string", short: "C", value: "<dir>", about: "agents may offer others elsewhere" } },
  completes: ["agents"],
  async run({ words, values, daemon, json, table }) {
    const directory = text(values, "directory");
    const found = await (await daemon()).models(need(words, 0, "the agent"), directory ? { directory } : {});
    if (flag(values, "json")) for (const model of found) json(model);
    else {
      const rows = found.map((each) => [
        each.id,
        each.name ?? "",
        (each.variants ?? []).join(", "),
        each.is_default ? "default" : "",
      ]);
      table(["MODEL", "NAME", "VARIANTS", ""], rows);
    }
    return EXIT.ok;
  },
};

export const modes: Command = {
  name: "modes",
  usage: "modes <agent>",
  about: "modes an agent offers",
  options: { directory: { type: "string", short: "C", value: "<dir>", about: "agents may offer others elsewhere" } },
  completes: ["agents"],
  async run({ words, values, daemon, json, table }) {
    const directory = text(values, "directory");
    const found = await (await daemon()).modes(need(words, 0, "the agent"), directory ? { directory } : {});
    if (flag(values, "json")) for (const mode of found) json(mode);
    else {
      const rows = found.map((each) => [each.id, each.name ?? "", each.description ?? ""]);
      table(["MODE", "NAME", "WHAT IT DOES"], rows);
    }
    return EXIT.ok;
  },
};
