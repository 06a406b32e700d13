/** A server that is a program: one JSON message a line on its standard input and output. It runs in a group of its own, and nothing of it is left after its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { isObject, type JsonObject, parseJson } from "../../openresponses/json.ts";
import { MAX_MESSAGE_BYTES, type McpHandlers, type McpTransport } from "./transport.ts";

const EXIT_MS = 1_000;
const TERM_MS = 2_000;
const STDERR_BYTES = 4 * 1024;
const NEWLINE = 10;

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called with the process, so that whoever watches over processes knows it. */
  readonly onStarted?: (pid: number, command: string) => void;
}

export class StdioTransport implements McpTransport {
  readonly #options: StdioOptions;
  #child: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();
  #stderr = "";

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  open(handlers: McpHandlers): Promise<void> {
    const { command, args, cwd, environment, onStarted } = this.#options;
    const child = spawn(command, [...args], { cwd, env: environment, stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.#child = child;
    let closed = false;
    const close = (why: string): void => {
      if (closed) return;
      closed = true;
      handlers.onClose(why);
    };
    this.#exited = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    child.once("close", (code, signal) => close(this.#ending(code, signal)));
    child.once("error", (error) => close(error.message));
    // A pipe whose reader is gone: the end is reported by `close`.
    child.stdin.on("error", () => {});
    child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-STDERR_BYTES);
    });
    readLines(child, handlers, (why) => {
      close(why);
      void this.close();
    });
    return new Promise((resolve, reject) => {
      child.once("spawn", () => {
        if (child.pid !== undefined) onStarted?.(child.pid, command);
        resolve();
      });
      child.once("error", reject);
    });
  }

  send(message: JsonObject): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (!stdin?.writable) return Promise.reject(new Error("it does not run"));
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  negotiated(): void {}

  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    if (await this.#endedWithin(EXIT_MS)) return this.#signal("SIGKILL");
    this.#signal("SIGTERM");
    await this.#endedWithin(TERM_MS);
    this.#signal("SIGKILL");
    await this.#exited;
  }

  /** To its whole group: what it started itself ends with it. */
  #signal(name: NodeJS.Signals): void {
    try {
      if (this.#child?.pid !== undefined) process.kill(-this.#child.pid, name);
    } catch {
      // Nothing of it is left.
    }
  }

  #endedWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      void this.#exited.then(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #ending(code: number | null, signal: string | null): string {
    const how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
    const said = this.#stderr.trim().split("\n").slice(-5).join("\n");
    return said === "" ? how : `${how} and said last:\n${said}`;
  }
}

/** Lines that are no messages are noise of the program: the protocol forbids them, and many print them. */
function readLines(child: ChildProcess, handlers: McpHandlers, fail: (why: string) => void): void {
  let pieces: Buffer[] = [];
  let held = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const message = parseJson(Buffer.concat([...pieces, chunk.subarray(from, at)]).toString("utf8"));
      pieces = [];
      held = 0;
      from = at + 1;
      if (isObject(message)) handlers.onMessage(message);
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held <= MAX_MESSAGE_BYTES) return;
    pieces = [];
    held = 0;
    fail(`it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`);
  });
}
