/** The request to start a task: the checks that need the file system. What passes can be started; a refused one leaves no trace. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Compile } from "typebox/compile";
import type { Actor } from "../../schema/actor.ts";
import { faultsOf } from "../../schema/faults.ts";
import { onUse } from "../../schema/on-use.ts";
import { TaskRequest, type TerminalSize } from "../../schema/task.ts";
import { type AgentCommand, AgentProcess } from "./agent-process.ts";
import { TaskError } from "./task-error.ts";

const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };
/** Variables by which the daemon recognises its own processes: no request sets them. */
const OWN_PREFIX = "DRAGOMAN_";
export const SHELL = "/bin/sh";
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** A checked request. */
export type TaskPlan = {
  argv: readonly [string, ...string[]];
  /** As asked for, for the log. */
  args: { command: string } | { argv: string[] };
  cwd: string;
  env: Record<string, string>;
  title: string | null;
  tool_name: string;
  origin_session_id: string | null;
  actor: Actor | null;
  timeout_ms: number | null;
  mode: { kind: "pipes"; stdin: boolean } | ({ kind: "pty" } & TerminalSize) | { kind: "agent"; process: AgentProcess };
};

/** The plan of a command that an agent runs already. */
export function agentPlan({
  session_id,
  tool_name,
  command,
  cwd,
  title,
  stop,
}: AgentCommand): TaskPlan & { process: AgentProcess } {
  const process = new AgentProcess(stop);
  return {
    argv: [SHELL, "-c", command],
    args: { command },
    cwd,
    env: {},
    title,
    tool_name,
    origin_session_id: session_id,
    actor: null,
    timeout_ms: null,
    mode: { kind: "agent", process },
    process,
  };
}

export type TaskPlace = {
  /** Real path of the workspace: tasks run in it and below. Null: anywhere. */
  root: string | null;
  /** The environment before what the request adds. */
  environment: Readonly<Record<string, string | undefined>>;
};

const validator = onUse(() => Compile(TaskRequest));

/** Throws `invalid_request`, `cwd_outside`, `cwd_not_found` or `program_not_found`. */
export function checkStart(request: TaskRequest, place: TaskPlace): TaskPlan {
  if (!validator().Check(request)) {
    const [fault] = faultsOf(validator().Errors(request));
    throw invalid(`${fault?.path || "the request"} ${fault?.message ?? "is invalid"}`);
  }
  const mode = modeOf(request);
  const cwd = workingDirectory(request.cwd, place.root);
  const env = environmentOf(request, place, mode.kind);
  const { argv, args } = commandOf(request);
  return {
    argv: [findProgram(argv[0], cwd, env.PATH ?? DEFAULT_PATH), ...argv.slice(1)],
    args,
    cwd,
    env,
    title: request.title ?? null,
    tool_name: request.tool_name ?? "shell",
    origin_session_id: request.origin_session_id ?? null,
    actor: request.actor ?? null,
    timeout_ms: request.timeout_ms ?? null,
    mode,
  };
}

function modeOf({ execution_mode, rows, cols, stdin }: TaskRequest): Exclude<TaskPlan["mode"], { kind: "agent" }> {
  if (execution_mode === "pty") {
    if (stdin === false) throw invalid("a terminal always has an input: leave stdin out");
    return { kind: "pty", rows: rows ?? DEFAULT_SIZE.rows, cols: cols ?? DEFAULT_SIZE.cols };
  }
  if (rows !== undefined || cols !== undefined) throw invalid('rows and cols are for execution_mode "pty"');
  return { kind: "pipes", stdin: stdin ?? false };
}

function commandOf({ command, argv }: TaskRequest): { argv: [string, ...string[]]; args: TaskPlan["args"] } {
  if ((command === undefined) === (argv === undefined)) throw invalid("give either command or argv");
  if (command !== undefined) return { argv: [SHELL, "-c", command], args: { command } };
  const [program = "", ...rest] = argv ?? [];
  if (program === "") throw invalid("argv must begin with a program");
  return { argv: [program, ...rest], args: { argv: [program, ...rest] } };
}

function environmentOf(request: TaskRequest, place: TaskPlace, kind: "pipes" | "pty"): Record<string, string> {
  const terminal = kind === "pty" ? { TERM: "xterm-256color", COLORTERM: "truecolor" } : {};
  const asked = Object.entries(request.env ?? {}).filter(([name]) => !name.startsWith(OWN_PREFIX));
  const all = { ...place.environment, ...terminal, ...Object.fromEntries(asked) };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function workingDirectory(asked: string | undefined, root: string | null): string {
  const path = resolve(root ?? process.cwd(), asked ?? ".");
  let real: string;
  try {
    real = realpathSync(path);
    if (!statSync(real).isDirectory()) throw new Error("not a directory");
  } catch (error) {
    throw new TaskError(
      "cwd_not_found",
      `The working directory ${path} is not a directory: create it or choose another one.`,
      error,
    );
  }
  if (root === null || isInside(root, real)) return real;
  throw new TaskError("cwd_outside", `The working directory ${path} lies outside of ${root}: choose one inside.`);
}

function isInside(root: string, path: string): boolean {
  const way = relative(realpathSync(root), path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Found before the start, so that a wrong name is an answer to the request, with pipes and with a terminal alike. */
function findProgram(name: string, cwd: string, path: string): string {
  // An empty entry of PATH is the working directory to some shells: a name must not start what lies there.
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  const candidates = name.includes("/") ? [resolve(cwd, name)] : folders.map((folder) => resolve(cwd, join(folder, name)));
  const found = candidates.find(isProgram);
  if (found !== undefined) return found;
  throw new TaskError(
    "program_not_found",
    `${JSON.stringify(name)} is not a program here: install it, put it on PATH, or give its full path.`,
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

const invalid = (what: string): TaskError => new TaskError("invalid_request", `The task cannot be started: ${what}.`);
