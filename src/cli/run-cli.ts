// Runs one call of the command line and gives its exit code. Everything it touches is injected.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { connect } from "../client/connect.ts";
import type { Dragoman } from "../client/dragoman.ts";
import { DragomanError } from "../client/error.ts";
import { printableJson } from "../schema/visible-text.ts";
import { type Command, EXIT, flag, globalOptions, parseConfig, type Terminal, text, UsageError, type Values } from "./command.ts";
import { everything, startFor } from "./commands/start.ts";
import { commands, findCommand, secondWords } from "./commands.ts";
import { factLines } from "./facts.ts";
import { givenToken, tokenFromPerson } from "./given-token.ts";
import { commandHelp, overview, pageFor } from "./help.ts";
import { exact } from "./output.ts";
import { problemWords } from "./problem-words.ts";
import { NotPicked, resolveSessions, sessionId } from "./session-reference.ts";
import { similar } from "./similar.ts";
import { paintFor, table } from "./style.ts";
import { tableColumns, wrap } from "./text-layout.ts";
import { withMeantAgent } from "./unknown-agent.ts";

/** Errors of the daemon whose message says it all. By name: their classes live in rooms that only `serve` needs, and loading them costs every command. */
const SELF_EXPLAINING = new Set(["DaemonError", "LogError", "ConfigError", "ProblemError", "ServiceError"]);

export async function runCli(args: string[], terminal: Terminal): Promise<number> {
  const paint = paintFor(terminal.stderr, terminal.env);
  const complain = (message: string): void => {
    const columns = tableColumns(terminal.stderr, terminal.env);
    terminal.stderr.write(`${wrap(`${paint.red("dragoman:")} ${exact(message)}`, columns).join("\n")}\n`);
  };
  args = behindTheCommand(args);
  if (["help", "--help", "-h"].includes(args[0] ?? "")) return help(args.slice(1), terminal, complain);
  if (args[0] === "--version" || args[0] === "-v" || args[0] === "version") {
    terminal.stdout.write(`${(await import("../daemon/version.ts")).version}\n`);
    return EXIT.ok;
  }
  const alone = args.length === 0 || args[0]?.startsWith("-") === true;
  const found = alone ? { command: everything, rest: args } : findCommand(args);
  // `dragoman nodes --help`: of the commands that begin so.
  if (!found && secondWords(args[0] ?? "").length > 0 && args.some((word) => word === "--help" || word === "-h"))
    return help(args.slice(0, 1), terminal, complain);
  if (!found) {
    complain(unknownCommand(args));
    return EXIT.usage;
  }
  try {
    return await invoke(found.command, found.rest, terminal);
  } catch (error) {
    if (error instanceof NotPicked) return EXIT.interrupted;
    const { message, exit, code } = explain(error, found.command);
    if (args.includes("--json")) terminal.stderr.write(`${printableJson({ error: { code, message } })}\n`);
    else complain(code === "usage" || code === "internal" ? message : `${message} [${code}]`);
    return terminal.signal.aborted ? EXIT.interrupted : exit;
  }
}

function unknownCommand([first = "", second]: string[]): string {
  const seconds = secondWords(first);
  if (seconds.length > 0)
    return `${first} needs ${second === undefined ? "a further word" : `another word than ${JSON.stringify(second)}`}: ${seconds.join(", ")}.`;
  const known = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? name))];
  // `sessions` is no command by itself: what is near to it means what it means.
  const meant = similar(similar(first, ["sessions", ...known]) ?? first, known);
  return `there is no command ${JSON.stringify(first)}. ${meant === undefined ? "" : `Did you mean \`dragoman ${meant}\`? `}See \`dragoman help\`.`;
}

/** Options of every command may stand before it: they are moved behind it. */
function behindTheCommand(args: string[]): string[] {
  let at = 0;
  while (at < args.length) {
    const [name = "", value] = (args[at] ?? "").replace(/^--/, "").split("=", 2);
    const option = args[at]?.startsWith("--") && Object.hasOwn(globalOptions, name) ? globalOptions[name] : undefined;
    if (!option || name === "help") break;
    at += option.type === "string" && value === undefined ? 2 : 1;
  }
  return at === 0 || at >= args.length ? args : [...args.slice(at), ...args.slice(0, at)];
}

function help(words: string[], terminal: Terminal, complain: (message: string) => void): number {
  if (words.includes("--json")) {
    for (const { name, usage, about, options } of commands)
      terminal.stdout.write(`${printableJson({ name, usage, about, options: { ...globalOptions, ...options } })}\n`);
    return EXIT.ok;
  }
  const page = pageFor(terminal);
  const found = words.length > 0 ? findCommand(words) : undefined;
  const asked = words.filter((word) => !word.startsWith("-"));
  const group = found || asked.length === 0 ? [] : commands.filter(({ name }) => name.startsWith(`${asked[0]} `));
  if (!found && asked.length > 0 && group.length === 0) {
    complain(unknownCommand(asked));
    return EXIT.usage;
  }
  const texts = found ? [found.command] : group;
  terminal.stdout.write(texts.length > 0 ? texts.map((each) => commandHelp(each, page)).join("\n") : overview(page));
  return EXIT.ok;
}

async function invoke(command: Command, args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(command, args);
  if (values.help === true) {
    terminal.stdout.write(commandHelp(command, pageFor(terminal)));
    return EXIT.ok;
  }
  const say = (line: string): void => void terminal.stderr.write(`${line}\n`);
  const daemon = async (): Promise<Dragoman> => {
    if (command.startsDaemon && isLocal(values, terminal)) await startFor({ values, terminal, say });
    return findDaemon(values, terminal);
  };
  mustTake(command, positionals);
  values["data-dir"] = absolute("data-dir", values, terminal, terminal.env.DRAGOMAN_DATA_DIR);
  values.config = absolute("config", values, terminal);
  const words = await resolveSessions(command, positionals, daemon, terminal);
  const session = text(values, "session");
  if (session !== undefined && command.options?.session) values.session = await sessionId(session, daemon);
  const call = command.run({
    ...{ values, words, terminal, daemon, say },
    print: (line) => void terminal.stdout.write(`${line}\n`),
    json: (value) => void terminal.stdout.write(`${printableJson(value)}\n`),
    details: (value, facts) => {
      const person = terminal.stdout.isTTY && !flag(values, "json");
      const columns = tableColumns(terminal.stdout, terminal.env);
      const lines = person && facts ? factLines(facts(), columns, paintFor(terminal.stdout, terminal.env)) : null;
      terminal.stdout.write(`${lines?.join("\n") ?? printableJson(value, person ? 2 : undefined)}\n`);
    },
    table: (head, rows, drop = []) => {
      const columns = tableColumns(terminal.stdout, terminal.env);
      terminal.stdout.write(`${table(head, rows, paintFor(terminal.stdout, terminal.env), { columns, drop })}\n`);
    },
  });
  return call.catch(async (error: unknown) => {
    throw await withMeantAgent(error, daemon);
  });
}

function parse(command: Command, args: string[]): { values: Values; positionals: string[] } {
  try {
    const options = parseConfig({ ...globalOptions, ...command.options });
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { values, positionals };
  } catch (error) {
    throw new UsageError(argumentFault(error, Object.keys({ ...globalOptions, ...command.options })));
  }
}

/** A word that nobody reads was meant somehow: `ls done` is not all sessions. How many there may be, the usage says. */
function mustTake({ name, usage }: Command, words: string[]): void {
  const most = usage.slice(name.length).replace(/--[\w-]+(?: <[^>]*>)?|\[options\]/g, "");
  const surplus = most.includes("…") ? undefined : words[most.match(/<[^>]*>|[\w|]+/g)?.length ?? 0];
  if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)} is one word too many`);
}

/** A daemon in the background works in another directory than whoever starts it. `otherwise`: what the environment says. */
function absolute(name: string, values: Values, { cwd }: Terminal, otherwise?: string): string | undefined {
  const given = text(values, name);
  if (given === "") throw new UsageError(`--${name} needs a path`);
  const path = given ?? otherwise;
  return path ? resolve(cwd, path) : undefined;
}

/** What Node says of an unknown option is about itself. */
function argumentFault(error: unknown, known: string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const option = /^Unknown option '(-+)([^']*)'/.exec(message);
  if (!option) return message;
  const meant = similar(option[2] ?? "", known);
  return `there is no option ${option[1]}${option[2]}${meant === undefined ? "" : `. Did you mean --${meant}?`}`;
}

/** Only the daemon of this machine is started unasked. */
const isLocal = (values: Values, { env }: Terminal): boolean =>
  text(values, "url") === undefined && !env.DRAGOMAN_URL && !flag(values, "no-start");

/** A token that was given counts, also when another one could be found: a wrong one is refused. */
async function findDaemon(values: Values, terminal: Terminal): Promise<Dragoman> {
  const url = text(values, "url") ?? terminal.env.DRAGOMAN_URL;
  const token = givenToken(values, terminal);
  const dataDir = text(values, "data-dir");
  const options = {
    client: "cli",
    ...(url ? { url } : {}),
    ...(token ? { token } : {}),
    ...(dataDir ? { dataDir } : {}),
  } as const;
  try {
    return await connect(options);
  } catch (error) {
    if (!(error instanceof DragomanError && error.code === "no_token")) throw error;
    const { defaultDataDir } = await import("../discovery/discovery-file.ts");
    const asked = await tokenFromPerson(dataDir ?? defaultDataDir(terminal.env), terminal);
    if (asked === undefined) throw error;
    return connect({ ...options, token: asked });
  }
}

function explain(error: unknown, command: Command): { message: string; code: string; exit: number } {
  if (error instanceof UsageError)
    return {
      message: `${error.message.replace(/[^.?]$/, "$&.")}\nUsage: dragoman ${command.usage}\nSee \`dragoman help ${command.name}\`.`,
      code: "usage",
      exit: EXIT.usage,
    };
  if (error instanceof DragomanError) {
    const unreachable = error.code === "no_daemon" || error.code === "unreachable";
    return { message: problemWords(error), code: error.code, exit: unreachable ? EXIT.unreachable : EXIT.failed };
  }
  if (error instanceof Error && SELF_EXPLAINING.has(error.name) && "code" in error)
    return {
      message: error.message,
      code: String(error.code),
      exit: error.code === "database_corrupt" ? EXIT.damaged : EXIT.failed,
    };
  if (error instanceof Error && error.name === "PostgresError") {
    const reason = "reason" in error && error.reason === "lost" ? "database_unreachable" : "database_refused";
    return { message: error.message, code: reason, exit: EXIT.failed };
  }
  const message = error instanceof Error ? (systemFault(error) ?? error.stack ?? error.message) : String(error);
  return { message, code: "internal", exit: EXIT.failed };
}

const SYSTEM_WORDS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `There is no ${path}.`,
  EACCES: (path) => `You may not use ${path}.`,
  EISDIR: (path) => `${path} is a directory.`,
  ENOTDIR: (path) => `${path} is not a directory.`,
};

/** A file that is not there, a place that cannot be written: said in words, without a stack. */
function systemFault(error: NodeJS.ErrnoException): string | undefined {
  if (!("syscall" in error)) return undefined;
  const words = error.path === undefined ? undefined : SYSTEM_WORDS[error.code ?? ""]?.(error.path);
  return words ?? error.message;
}
