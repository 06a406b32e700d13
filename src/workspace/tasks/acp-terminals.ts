/**
 * `terminal/*` of the Agent Client Protocol on tasks: a command of an agent is a task like any other, seen in the list and in the log. The protocol's own rules
 * are here: ids, one output with both streams in order, its limit, and what is left after a release. Answers are those of the protocol's schema.
 */
import type { AgentTerminals, CommandExit, TerminalsOptions } from "../../agents/contract.ts";
import type { TaskRequest } from "../../schema/task.ts";
import { JsonRpcError } from "../../transports/index.ts";
import { ByteRing } from "./byte-ring.ts";
import { TaskError } from "./task-error.ts";
import type { Tasks, TaskView } from "./tasks.ts";
import { Utf8Chunks } from "./utf8-chunks.ts";

const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
const MAX_TERMINALS = 64;
const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
/** Whatever an agent asks for: this much of each terminal is kept in memory. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const SHELL = "/bin/sh";

export type AcpParams = Readonly<Record<string, unknown>>;

export type AcpTerminalHost = TerminalsOptions & { tasks: Tasks };

type Terminal = { taskId: string; output: ByteRing; limit: number; exit: CommandExit | null; ended: Promise<CommandExit> };

export class AcpTerminals implements AgentTerminals {
  readonly #host: AcpTerminalHost;
  readonly #terminals = new Map<string, Terminal>();
  /** Places taken by terminals that are being created. */
  #creating = 0;
  #count = 0;
  /** How often all were closed: what was being created then is closed too. */
  #closings = 0;

  constructor(host: AcpTerminalHost) {
    this.#host = host;
  }

  async create(params: AcpParams): Promise<{ terminalId: string }> {
    const command = text(params.command);
    if (!command) throw new JsonRpcError(INVALID_PARAMS, "command must be a program or a shell command.");
    if (this.#terminals.size + this.#creating >= MAX_TERMINALS)
      throw new JsonRpcError(INVALID_PARAMS, `${MAX_TERMINALS} terminals are open: release some first.`);
    this.#creating += 1;
    const closings = this.#closings;
    try {
      const cwd = await this.#host.directory(text(params.cwd));
      this.#count += 1;
      const terminalId = `term_${this.#count}`;
      await this.#start(terminalId, this.#request(command, params, cwd), outputLimit(params.outputByteLimit), closings);
      return { terminalId };
    } finally {
      this.#creating -= 1;
    }
  }

  output(params: AcpParams): ReturnType<AgentTerminals["output"]> {
    const { output, limit, exit } = this.#get(params);
    const kept = output.copy(output.start, output.total);
    const truncated = output.total > limit;
    const shown = kept.subarray(truncated ? firstCharacter(kept) : 0).toString("utf8");
    return { output: shown, truncated, ...(exit === null ? {} : { exitStatus: exit }) };
  }

  waitForExit(params: AcpParams): Promise<CommandExit> {
    return this.#get(params).ended;
  }

  /** Ends the command; its output can still be read. */
  async kill(params: AcpParams): Promise<Record<string, never>> {
    await this.#end(this.#get(params), "killed by the agent");
    return {};
  }

  /** Ends the command and forgets the terminal. */
  async release(params: AcpParams): Promise<Record<string, never>> {
    const terminal = this.#get(params);
    this.#terminals.delete(text(params.terminalId) ?? "");
    await this.#end(terminal, "released by the agent");
    return {};
  }

  async closeAll(): Promise<void> {
    this.#closings += 1;
    const open = [...this.#terminals.values()];
    this.#terminals.clear();
    await Promise.all(open.map((terminal) => this.#end(terminal, "the agent's connection closed")));
  }

  #get(params: AcpParams): Terminal {
    const id = text(params.terminalId) ?? "";
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw new JsonRpcError(RESOURCE_NOT_FOUND, `There is no terminal ${JSON.stringify(id)}.`);
    return terminal;
  }

  async #end({ taskId, ended }: Terminal, reason: string): Promise<void> {
    await this.#host.tasks.cancel(taskId, reason).catch((error: unknown) => {
      // An ended task may have been forgotten: then there is nothing to end.
      if (!(error instanceof TaskError)) throw error;
    });
    await ended;
  }

  async #start(id: string, request: TaskRequest, limit: number, closings: number): Promise<void> {
    const { tasks, environment, onOutput, onExit } = this.#host;
    const output = new ByteRing(limit);
    const chunks = new Utf8Chunks();
    const tell = (pieces: readonly { text: string }[]): void => {
      for (const piece of pieces) onOutput(id, piece.text);
    };
    const observe = (_: string, bytes: Buffer): void => {
      output.push(bytes);
      tell(chunks.push(bytes));
    };
    const view = await tasks.start(request, { root: null, environment }, observe).catch(refuse);
    const over = async (): Promise<CommandExit> => {
      const { exit_code, signal } = await tasks.ended(view.task_id);
      tell(chunks.end());
      terminal.exit = { exitCode: exit_code, signal };
      onExit(id, terminal.exit);
      return terminal.exit;
    };
    await refuseUnstarted(tasks, view);
    const terminal: Terminal = { taskId: view.task_id, output, limit, exit: null, ended: over() };
    if (this.#closings !== closings) {
      await this.#end(terminal, "the agent's connection closed");
      throw new JsonRpcError(INVALID_PARAMS, "The terminals were closed meanwhile.");
    }
    this.#terminals.set(id, terminal);
  }

  #request(command: string, params: AcpParams, cwd: string): TaskRequest {
    return {
      argv: shellLine(command, params.args),
      cwd,
      env: variables(params.env),
      title: command.slice(0, 200),
      tool_name: "terminal",
      origin_session_id: this.#host.session_id,
    };
  }
}

/**
 * Both streams in one, in order. claude 0.16 sends a whole shell command and no arguments; with arguments the command is a program and nothing in it is read by a
 * shell.
 */
function shellLine(command: string, args: unknown): string[] {
  const list = Array.isArray(args) ? args.map(String) : [];
  if (list.length === 0) return [SHELL, "-c", 'exec 2>&1; eval "$0"', command];
  return [SHELL, "-c", 'exec "$0" "$@" 2>&1', command, ...list];
}

/** A task that could not be started is a refused request here. */
async function refuseUnstarted(tasks: Tasks, { task_id, status, pid }: TaskView): Promise<void> {
  if (status === "queued" || pid !== null) return;
  const { error } = await tasks.ended(task_id);
  throw new JsonRpcError(INVALID_PARAMS, error ?? "The command could not be started.");
}

function refuse(error: unknown): never {
  throw error instanceof TaskError ? new JsonRpcError(INVALID_PARAMS, error.message) : error;
}

function variables(env: unknown): Record<string, string> {
  const entries = Array.isArray(env) ? env.filter((each) => typeof each === "object" && each !== null) : [];
  return Object.fromEntries(
    entries.map(({ name, value }) => [text(name) ?? "", text(value) ?? ""]).filter(([name]) => name !== ""),
  );
}

function outputLimit(asked: unknown): number {
  const bytes = typeof asked === "number" && Number.isFinite(asked) ? asked : DEFAULT_OUTPUT_BYTES;
  return Math.max(0, Math.min(Math.floor(bytes), MAX_OUTPUT_BYTES));
}

/** Where the first whole character begins in bytes whose beginning was cut off. */
function firstCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
