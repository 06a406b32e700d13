// `task …`: commands that run beside the turns of a session, on pipes or in a terminal, and outlive the call that started them.
import { constants } from "node:os";
import { resolve } from "node:path";
import type { TaskHandle } from "../../client/task-handle.ts";
import type { StartTask, TaskInfo } from "../../schema/task.ts";
import { isOpen } from "../../schema/task-status.ts";
import { canAsk } from "../ask.ts";
import { type Command, done, EXIT, flag, type Invocation, list, need, text, UsageError, wholeNumber } from "../command.ts";
import { exactLine } from "../output.ts";
import { ago } from "../style.ts";
import { attachTerminal } from "../task-terminal.ts";

const TASK_HELP = "  The exit code is that of the command; 128 and the number of the signal when one ended it.";

export const taskRun: Command = {
  name: "task run",
  startsDaemon: true,
  usage: "task run [--session <session>] [--pty] -- <command…>",
  about: "run a command as a task: in a session's directory, or here",
  help: `  One word is a shell command line; several are a program and its arguments.
  Its output is shown until it ends, and Ctrl-C ends it. With --pty it gets a terminal, and this one becomes it: Ctrl-] leaves, and it goes on.
${TASK_HELP}`,
  options: {
    session: { type: "string", short: "s", value: "<session>", about: "run it for this session, in its directory" },
    pty: { type: "boolean", short: "t", about: "in a terminal" },
    detach: { type: "boolean", short: "d", about: "do not wait: print the task's id" },
    cwd: { type: "string", value: "<dir>", about: "working directory (default: the session's, or this one)" },
    env: { type: "string", multiple: true, value: "<name=value>", about: "a variable; may be repeated" },
    title: { type: "string", value: "<title>", about: "a name for people" },
    timeout: { type: "string", value: "<seconds>", about: "end it after this time" },
  },
  completes: ["files"],
  async run(call) {
    const { words, values, daemon, terminal, json, print } = call;
    const session = text(values, "session");
    const request = requestOf(call, session === undefined);
    const client = await daemon();
    const task = session === undefined ? await client.startTask(request) : await client.session(session).startTask(request);
    if (flag(values, "detach")) {
      if (flag(values, "json")) json(await task.get());
      else print(task.id);
      return EXIT.ok;
    }
    if (flag(values, "json")) return follow(call, task);
    if (flag(values, "pty") && isTerminal(call)) return attachTo(call, task);
    const stop = (): void => void task.cancel("interrupted").catch(() => {});
    terminal.signal.addEventListener("abort", stop, { once: true });
    need(words, 0, "the command");
    return follow(call, task, { untilEnd: true });
  },
};

function requestOf({ words, values, terminal }: Invocation, here: boolean): StartTask {
  need(words, 0, "the command");
  const [line = "", ...more] = words;
  const cwd = text(values, "cwd");
  const title = text(values, "title");
  const timeout = text(values, "timeout");
  const env = Object.fromEntries(
    list(values, "env").map((each) => {
      const at = each.indexOf("=");
      if (at < 1) throw new UsageError(`--env needs name=value, not ${each}`);
      return [each.slice(0, at), each.slice(at + 1)];
    }),
  );
  const { rows, columns } = terminal.stdout.device as { rows?: number; columns?: number };
  const size = rows && columns ? { rows, cols: columns } : {};
  return {
    ...(more.length === 0 ? { command: line } : { argv: words }),
    ...(here ? { cwd: resolve(terminal.cwd, cwd ?? ".") } : cwd === undefined ? {} : { cwd }),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(title === undefined ? {} : { title }),
    ...(timeout === undefined ? {} : { timeout_ms: wholeNumber(timeout, "timeout", 0) * 1000 }),
    ...(flag(values, "pty") ? { execution_mode: "pty", ...size } : {}),
  };
}

/** Prints what it writes, each stream to its own. */
async function follow(call: Invocation, task: TaskHandle, { untilEnd = false } = {}): Promise<number> {
  const { values, terminal, json } = call;
  const signal = untilEnd ? undefined : terminal.signal;
  for await (const event of task.events({ signal })) {
    if (flag(values, "json")) json(event);
    else if (event.type === "task.output") {
      const { stdout, stderr } = terminal;
      const output = event.data.stream === "stderr" ? stderr : stdout;
      output.write(event.data.chunk);
      await output.drained();
    }
  }
  if (terminal.signal.aborted && !untilEnd) return EXIT.interrupted;
  return exitOf(call, await task.get());
}

function exitOf({ say, values }: Invocation, { status, exit_code, signal, error }: TaskInfo): number {
  if (status === "failed" && !flag(values, "json")) say(error ?? "The task failed.");
  if (exit_code !== null) return exit_code;
  const number = signal === null ? undefined : constants.signals[signal as NodeJS.Signals];
  return number === undefined ? EXIT.failed : 128 + number;
}

const isTerminal = ({ terminal }: Invocation): boolean => canAsk(terminal) && terminal.stdout.isTTY;

async function attachTo(call: Invocation, task: TaskHandle): Promise<number> {
  const ended = await attachTerminal(task, call.terminal);
  if (ended !== null) return exitOf(call, ended);
  call.say(`${task.id} goes on. Come back with \`dragoman task attach ${task.id}\`.`);
  return EXIT.ok;
}

export const taskList: Command = {
  name: "task ls",
  usage: "task ls [--session <session>]",
  about: "list tasks, the newest first",
  options: {
    session: { type: "string", short: "s", value: "<session>", about: "only of this session" },
    status: { type: "string", value: "<status>", about: "only queued, running, exited, cancelled or failed ones" },
    limit: { type: "string", value: "<n>", about: "at most so many (default 100)" },
  },
  async run({ values, daemon, json, table, print }) {
    const client = await daemon();
    const session = text(values, "session");
    const status = text(values, "status") as TaskInfo["status"] | undefined;
    const options = { limit: wholeNumber(text(values, "limit"), "limit", 100), ...(status === undefined ? {} : { status }) };
    const { tasks } = session === undefined ? await client.tasks(options) : await client.session(session).tasks(options);
    if (flag(values, "json")) for (const task of tasks) json(task);
    else if (tasks.length === 0) print("No tasks.");
    else {
      const rows = tasks.map((task) => [
        task.task_id,
        task.status + (task.exit_code ? ` ${task.exit_code}` : ""),
        task.execution_mode,
        ago(task.created_at),
        exactLine(task.title ?? commandLine(task)),
      ]);
      table(["TASK", "STATUS", "MODE", "AGE", "COMMAND"], rows);
    }
    return EXIT.ok;
  },
};

function commandLine({ args }: TaskInfo): string {
  const { command, argv } = args as { command?: string; argv?: string[] };
  return command ?? argv?.join(" ") ?? "";
}

export const taskShow: Command = {
  name: "task show",
  usage: "task show <task>",
  about: "one task: its command, its state, the screen of its terminal",
  options: { screen: { type: "boolean", about: "print the screen of its terminal instead" } },
  async run({ words, values, daemon, json, print, terminal }) {
    const task = (await daemon()).task(need(words, 0, "the task"));
    if (flag(values, "screen")) {
      const screen = await task.screen();
      if (flag(values, "json")) json(screen);
      else if (terminal.stdout.isTTY) terminal.stdout.device.write(`${screen.serialized}\u001b[m\r\n`);
      else print(screen.serialized);
      return EXIT.ok;
    }
    const info = await task.get();
    if (flag(values, "json")) json(info);
    else
      for (const [name, value] of Object.entries(info))
        if (value !== null && !(Array.isArray(value) && value.length === 0))
          print(`${name.padEnd(18)} ${exactLine(typeof value === "string" ? value : JSON.stringify(value))}`);
    return EXIT.ok;
  },
};

export const taskLogs: Command = {
  name: "task logs",
  usage: "task logs <task>",
  about: "print what a task wrote",
  options: {
    follow: { type: "boolean", short: "f", about: "go on with what it writes, until it ends" },
    offset: { type: "string", value: "<bytes>", about: "begin at this place of the output" },
    stream: { type: "string", value: "<name>", about: "stdout (default), stderr or pty; with --offset" },
  },
  async run(call) {
    const { words, values, daemon, terminal, json } = call;
    const task = (await daemon()).task(need(words, 0, "the task"));
    const info = await task.get();
    if (text(values, "offset") !== undefined || text(values, "stream") !== undefined) return range(call, task, info);
    if (flag(values, "follow") || !isOpen(info)) {
      await follow(call, task);
      return EXIT.ok;
    }
    for (let after = 0; ; ) {
      const page = await task.page({ after });
      for (const event of page.events) {
        if (flag(values, "json")) json(event);
        else if (event.type === "task.output")
          (event.data.stream === "stderr" ? terminal.stderr : terminal.stdout).write(event.data.chunk);
      }
      if (!page.has_more) return EXIT.ok;
      after = page.next;
    }
  },
};

async function range({ values, terminal, json }: Invocation, task: TaskHandle, info: TaskInfo): Promise<number> {
  const stream = (text(values, "stream") ?? (info.execution_mode === "pty" ? "pty" : "stdout")) as "stdout" | "stderr" | "pty";
  for (let offset = wholeNumber(text(values, "offset"), "offset", 0); ; ) {
    const part = await task.output({ stream, offset, signal: terminal.signal });
    if (flag(values, "json")) json(part);
    else terminal.stdout.write(part.text);
    await terminal.stdout.drained();
    offset = part.offset + part.bytes;
    if (part.bytes === 0 || offset >= part.total) return EXIT.ok;
  }
}

export const taskAttach: Command = {
  name: "task attach",
  usage: "task attach <task>",
  about: "this terminal becomes the terminal of a task",
  help: `  The screen comes first, then everything as it is drawn. Every key goes to the task, also Ctrl-C; Ctrl-] leaves, and the task goes on.
  The task's terminal takes the size of this one. For a task on pipes, or without a terminal here, stdin is written to it and its output is printed.
${TASK_HELP}`,
  async run(call) {
    const task = (await call.daemon()).task(need(call.words, 0, "the task"));
    const info = await task.get();
    if (info.execution_mode === "pty" && isTerminal(call) && !flag(call.values, "json")) return attachTo(call, task);
    const piped = call.terminal.stdin.isTTY && info.execution_mode === "pipes" ? undefined : writeInput(call, task);
    const code = await follow(call, task);
    piped?.catch(() => {});
    return code;
  },
};

/** Until the input or the task ends, whichever is first. */
async function writeInput({ terminal, say }: Invocation, task: TaskHandle): Promise<void> {
  try {
    for await (const chunk of terminal.stdin) await task.write({ base64: Buffer.from(chunk).toString("base64") });
    await task.write({ text: "", end: true });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code !== "task_ended") say(error instanceof Error ? error.message : String(error));
  }
}

export const taskStop: Command = {
  name: "task stop",
  usage: "task stop <task…>",
  about: "end tasks and everything they started, or send them a signal",
  options: {
    signal: { type: "string", value: "<name>", about: "only send this signal, such as SIGINT" },
    reason: { type: "string", value: "<text>", about: "why, for the log" },
  },
  async run(call) {
    const { words, values, daemon } = call;
    need(words, 0, "the task");
    const client = await daemon();
    const signal = text(values, "signal");
    for (const id of words) {
      const task = client.task(id);
      if (signal === undefined) done(call, await task.cancel(text(values, "reason")));
      else {
        await task.signal(signal);
        done(call, { task_id: id, signal });
      }
    }
    return EXIT.ok;
  },
};

export const taskRemove: Command = {
  name: "task rm",
  usage: "task rm <task…>",
  about: "remove ended tasks with everything they wrote",
  async run(call) {
    need(call.words, 0, "the task");
    const client = await call.daemon();
    for (const id of call.words) {
      await client.task(id).remove();
      done(call, { removed: id });
    }
    return EXIT.ok;
  },
};
