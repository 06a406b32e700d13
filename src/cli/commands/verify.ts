// `dragoman verify` and `dragoman replay`: is the agent you have understood, and what does a recorded trace say.
import { type Command, flag, list, need, text, UsageError } from "../command.ts";

export const verify: Command = {
  name: "verify",
  usage: "verify [<agent>…]",
  about: "run installed agents against a scripted model and check that all they say is understood",
  help: `  Needs no account and no internet: the agent runs in a temporary home against a model server on loopback.
  The last report of each agent is kept in the data directory, and the inspector shows it.
  Exit code: 0 all passed, 1 something is unparsed, broken or failed.`,
  options: {
    scenario: { type: "string", multiple: true, value: "<name>", about: "only this one; `name*` for several; may be repeated" },
    record: { type: "string", value: "<dir>", about: "write the native traffic of each scenario there" },
    compare: {
      type: "boolean",
      about: "only the scenarios that all agents play, side by side; a difference that is not accepted fails",
    },
    random: {
      type: "string",
      value: "<n>",
      about:
        "so many scenarios that nobody wrote, instead of those that are known; `--scenario random-7` plays one of them again",
    },
    seed: {
      type: "string",
      value: "<n>",
      about: "of the first random scenario; each next one has the next (default: another one each time)",
    },
    parallel: { type: "string", value: "<n>", about: "scenarios at once" },
    "time-limit": { type: "string", value: "<seconds>", about: "for one scenario" },
  },
  completes: ["agents"],
  async run({ words, values, terminal }) {
    const { verifyCommand } = await import("../../verify/verify-command.ts");
    const { randomNames } = await import("../../verify/scenario/random.ts");
    const { defaultDataDir } = await import("../../daemon/config.ts");
    const record = text(values, "record");
    const random = positive(text(values, "random"), "random");
    const seed = positive(text(values, "seed"), "seed") ?? 1 + Math.floor(Math.random() * 1_000_000);
    const drawn = random === undefined ? [] : randomNames(random, seed);
    const [parallel, limit] = [
      positive(text(values, "parallel"), "parallel"),
      positive(text(values, "time-limit"), "time-limit"),
    ];
    return verifyCommand(
      {
        agents: words,
        scenario: [...list(values, "scenario"), ...drawn],
        json: flag(values, "json"),
        compare: flag(values, "compare"),
        dataDir: text(values, "data-dir") ?? defaultDataDir(terminal.env),
        ...(record ? { record } : {}),
        ...(parallel ? { parallel } : {}),
        ...(limit ? { timeLimitMs: limit * 1000 } : {}),
      },
      terminal,
    );
  },
};

export const replay: Command = {
  name: "replay",
  usage: "replay <agent> <file>… | replay --run <session>",
  about: "translate recorded traces offline: events on stdout, the ledger on stderr",
  help: `  Takes the traces of \`verify --record\` and of the flight recorder (GET /v1/sessions/{id}/native).
  <agent> is claude, claude-sdk, codex, opencode, gemini, acp (any agent that speaks it), amp or mock.
  --run plays a session of the agent \`responses\` again, or a file of \`dragoman native\`: its loop runs with the recorded answers and results, without a
  model, and every request must have the same bytes. With --until and --live it goes on from a request with a living model; tools are real then.
  Exit code: 0 all understood and the same, 1 something is unparsed, breaks a rule or differs.`,
  options: {
    raw: { type: "boolean", about: "each event with the native message it came from" },
    run: { type: "boolean", about: "play a session of our own agent again, and compare" },
    until: { type: "string", value: "<n>", about: "with --live: the first request that is asked anew" },
    live: { type: "boolean", about: "go on from there with a living model" },
    endpoint: { type: "string", value: "<url>", about: "with --live: the base URL of the model" },
    model: { type: "string", short: "m", value: "<model>", about: "with --live: another model than the recorded one" },
    directory: { type: "string", short: "C", value: "<dir>", about: "with --live: where tools work (default: here)" },
  },
  completes: ["agents", "files"],
  async run(call) {
    const { words, values, terminal } = call;
    if (flag(values, "run")) {
      const { replayRunCommand } = await import("./replay-run.ts");
      return replayRunCommand(call);
    }
    const { replayCommand } = await import("../../verify/replay-command.ts");
    const agent = need(words, 0, "the agent");
    need(words, 1, "the file");
    return replayCommand({ agent, files: words.slice(1), json: flag(values, "json"), raw: flag(values, "raw") }, terminal);
  },
};

function positive(value: string | undefined, name: string): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) throw new UsageError(`--${name} needs a positive number, not ${value}`);
  return number;
}
