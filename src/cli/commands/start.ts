/** `start`, and `dragoman` alone: the daemon in the background, and the inspector in the browser. */
import { connect } from "../../client/connect.ts";
import { defaultDataDir } from "../../discovery/discovery-file.ts";
import { startInBackground } from "../background-daemon.ts";
import { type Command, EXIT, flag, type Invocation, text, type Values } from "../command.ts";
import { givenToken } from "../given-token.ts";
import { openBrowser } from "../open-browser.ts";
import { paintFor } from "../style.ts";
import { listenOptions, serve } from "./serve.ts";

export const start: Command = {
  name: "start",
  usage: "start [options]",
  about: "run the daemon in the background, unless it runs already",
  help: `  It outlives the terminal. \`dragoman stop\` ends it, \`dragoman status\` shows it; its log is daemon.log in the data directory.
  With --foreground it is the same as \`dragoman serve\`.`,
  options: { ...listenOptions, foreground: { type: "boolean", about: "stay in this terminal until Ctrl-C" } },
  async run(call) {
    if (flag(call.values, "foreground")) return serve.run({ ...call, values: { "log-level": "warn", ...call.values } });
    const { url, pid, started } = await startInBackground(dataDirOf(call), environmentOf(call), passedOn(call.values));
    if (flag(call.values, "json")) call.json({ url, pid, started });
    else {
      const paint = paintFor(call.terminal.stdout, call.terminal.env);
      call.print(`${paint.bold("dragoman")} ${started ? "is running" : "was running already"} at ${paint.cyan(url)}`);
      call.print(paint.dim("Open it: dragoman. Stop it: dragoman stop."));
    }
    return EXIT.ok;
  },
};

/** What `dragoman` alone does. */
export const everything: Command = {
  name: "",
  usage: "",
  about: "start the daemon in the background unless it runs, and open the inspector",
  options: { ...listenOptions, "no-open": { type: "boolean", about: "only print the link" } },
  async run(call) {
    const { values, terminal, print, json } = call;
    const dataDir = dataDirOf(call);
    const { url, started } = await startInBackground(dataDir, environmentOf(call), passedOn(values));
    const token = givenToken(values, terminal);
    const daemon = await connect({ client: "cli", dataDir, ...(token ? { token } : {}) });
    const link = await daemon.makeLink();
    if (flag(values, "json")) json({ url, link: link.url, started });
    else {
      const paint = paintFor(terminal.stdout, terminal.env);
      print(`${paint.bold("dragoman")} ${started ? "is running" : "was running already"} at ${paint.cyan(url)}`);
      print(`  Inspector  ${paint.cyan(link.url)}`);
      print(paint.dim("             for one visit within a minute; later: dragoman"));
      print(paint.dim('  Try it     dragoman run mock "help"'));
      print(paint.dim("  Stop it    dragoman stop        All commands: dragoman help"));
    }
    if (!flag(values, "no-open") && !flag(values, "json") && terminal.stdout.isTTY) openBrowser(link.file);
    return EXIT.ok;
  },
};

/** Starts a daemon for a command that needs one. Says so on stderr. */
export async function startFor({ values, terminal, say }: Pick<Invocation, "values" | "terminal" | "say">): Promise<void> {
  const { url, started } = await startInBackground(dataDirOf({ values, terminal }), environmentOf({ values, terminal }));
  if (started) say(paintFor(terminal.stderr, terminal.env).dim(`Started the daemon at ${url}. Stop it with: dragoman stop`));
}

export const dataDirOf = ({ values, terminal }: Pick<Invocation, "values" | "terminal">): string =>
  text(values, "data-dir") ?? defaultDataDir(terminal.env);

/** A token that was given for this call is the daemon's own, and the address of a log may hold a password: they are passed on where nobody else can read them. */
function environmentOf({ values, terminal }: Pick<Invocation, "values" | "terminal">): NodeJS.ProcessEnv {
  const [token, log] = [givenToken(values, terminal), text(values, "log")];
  return {
    ...terminal.env,
    ...(token === undefined ? {} : { DRAGOMAN_TOKEN: token }),
    ...(log === undefined ? {} : { DRAGOMAN_LOG: log }),
  };
}

const passedOn = (values: Values): string[] =>
  Object.keys(listenOptions).flatMap((name) => {
    if (name === "log") return [];
    const value = text(values, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
