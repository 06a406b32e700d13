// terminal/* for an agent: real processes in the session's directory, each in a group of its own. No process outlives its release.
import { StringDecoder } from "node:string_decoder";
import { type AgentProcess, JsonRpcError, type ProcessRecorder, spawnAgent } from "../../../transports/index.ts";
import { type JsonRecord, num, records, str } from "../../json.ts";
import { withoutOwn } from "../../own-environment.ts";

const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
const MAX_TERMINALS = 64;
const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
/** Whatever an agent asks for: output is kept in memory. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const KILL_GRACE_MS = 1_000;
const SHELL = "/bin/sh";

export type TerminalExit = { exitCode: number | null; signal: string | null };

export type TerminalHost = {
  directory(asked: string | undefined): Promise<string>;
  environment: Record<string, string>;
  recorder: ProcessRecorder;
  /** What a running command wrote, and how it ended. */
  onOutput(terminalId: string, data: string): void;
  onExit(terminalId: string, exit: TerminalExit): void;
};

type Terminal = {
  process: AgentProcess;
  output: OutputTail;
  exit: TerminalExit | null;
  ended: Promise<TerminalExit>;
};

export class ClientTerminals {
  readonly #host: TerminalHost;
  readonly #terminals = new Map<string, Terminal>();
  #count = 0;

  constructor(host: TerminalHost) {
    this.#host = host;
  }

  async create(params: JsonRecord): Promise<{ terminalId: string }> {
    const command = str(params.command);
    if (!command) throw new JsonRpcError(INVALID_PARAMS, "command must be a program or a shell command.");
    if (this.#terminals.size >= MAX_TERMINALS)
      throw new JsonRpcError(INVALID_PARAMS, `${MAX_TERMINALS} terminals are open: release some first.`);
    const cwd = await this.#host.directory(str(params.cwd));
    this.#count += 1;
    const id = `term_${this.#count}`;
    const env = {
      ...this.#host.environment,
      ...withoutOwn(Object.fromEntries(records(params.env).map((each) => [str(each.name) ?? "", str(each.value) ?? ""]))),
    };
    await this.#start(id, shellLine(command, params.args), cwd, env, outputLimit(num(params.outputByteLimit)));
    return { terminalId: id };
  }

  output(params: JsonRecord): JsonRecord {
    const { output, exit } = this.#get(params);
    return { output: output.text(), truncated: output.truncated, ...(exit === null ? {} : { exitStatus: exit }) };
  }

  waitForExit(params: JsonRecord): Promise<TerminalExit> {
    return this.#get(params).ended;
  }

  /** Ends the command; its output can still be read. */
  async kill(params: JsonRecord): Promise<JsonRecord> {
    await this.#get(params).process.stop(KILL_GRACE_MS);
    return {};
  }

  async release(params: JsonRecord): Promise<JsonRecord> {
    const terminal = this.#get(params);
    this.#terminals.delete(str(params.terminalId) ?? "");
    await terminal.process.stop(KILL_GRACE_MS);
    return {};
  }

  async closeAll(): Promise<void> {
    const open = [...this.#terminals.values()];
    this.#terminals.clear();
    await Promise.all(open.map((terminal) => terminal.process.stop(KILL_GRACE_MS)));
  }

  #get(params: JsonRecord): Terminal {
    const id = str(params.terminalId) ?? "";
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw new JsonRpcError(RESOURCE_NOT_FOUND, `There is no terminal ${JSON.stringify(id)}.`);
    return terminal;
  }

  #start(id: string, args: string[], cwd: string, env: Record<string, string>, limit: number): Promise<void> {
    return new Promise((started, failed) => {
      const decoder = new StringDecoder("utf8");
      let settle: (exit: TerminalExit) => void = () => {};
      const ended = new Promise<TerminalExit>((resolve) => {
        settle = resolve;
      });
      const add = (text: string): void => {
        if (text === "") return;
        terminal.output.add(text);
        this.#host.onOutput(id, text);
      };
      const process = spawnAgent({
        command: SHELL,
        args,
        cwd,
        env,
        recorder: this.#host.recorder,
        onStdout: (chunk) => add(decoder.write(chunk)),
        onStderrLine: (line) => add(`${line}\n`),
        onSpawnError: (error) => {
          this.#terminals.delete(id);
          settle({ exitCode: null, signal: null });
          failed(new JsonRpcError(INVALID_PARAMS, error.message));
        },
        onExit: ({ code, signal }) => {
          add(decoder.end());
          terminal.exit = { exitCode: code, signal };
          this.#host.onExit(id, terminal.exit);
          settle(terminal.exit);
        },
      });
      const terminal: Terminal = { process, output: new OutputTail(limit), exit: null, ended };
      this.#terminals.set(id, terminal);
      process.endStdin();
      if (process.pid !== null) started();
    });
  }
}

/**
 * Arguments for the shell, with both streams in one, in order. claude 0.16 sends a whole shell command and no arguments; with arguments
 * the command is a program and nothing in it is read by a shell.
 */
function shellLine(command: string, args: unknown): string[] {
  const list = Array.isArray(args) ? args.map(String) : [];
  if (list.length === 0) return ["-c", 'exec 2>&1; eval "$0"', command];
  return ["-c", 'exec "$0" "$@" 2>&1', command, ...list];
}

const outputLimit = (asked: number | undefined): number => Math.max(0, Math.min(asked ?? DEFAULT_OUTPUT_BYTES, MAX_OUTPUT_BYTES));

/** The newest output, at most so many bytes of it, cut at a character. */
class OutputTail {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    const piece = Buffer.from(text);
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > this.#limit) this.truncated = true;
    for (let first = this.#pieces[0]; first && this.#bytes - first.length >= this.#limit; first = this.#pieces[0]) {
      this.#pieces.shift();
      this.#bytes -= first.length;
    }
  }

  text(): string {
    const bytes = Buffer.concat(this.#pieces);
    let start = Math.max(0, bytes.length - this.#limit);
    while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.subarray(start).toString("utf8");
  }
}
