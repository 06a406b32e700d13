/**
 * The program of an agent, with everything it says in the ledger: started, framed, recorded, paused, ended. The one place for it. Guaranteed: what is
 * read is recorded before anything acts on it, what is sent is recorded as it is written; a line that is no message is `unparsed`; the exit is recorded
 * after the last line; `onEnd` is called once, whatever happened. Not here: what messages mean, and when to start.
 */
import {
  type AgentProcess,
  type ExitInfo,
  encodeJsonLine,
  JsonRpcPeer,
  type JsonRpcPeerOptions,
  NdjsonChannel,
  type NdjsonMessage,
  ProcessRegistry,
  type SpawnError,
  spawnAgent,
  withoutLineEnd,
} from "../../transports/index.ts";
import { AgentError, type AgentHost, type Channel, type Launch, type Repeated } from "../contract.ts";

/** What to start, and for whom. It is ended when it is `abandoned` before it is ready. */
export type ProcessStart = Pick<Launch, "abandoned"> & {
  /** The agent's name in sentences for people. */
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  host: Pick<AgentHost, "processDir">;
};

/** How a process ended. `exit` is null when it could not be started. */
export type ProcessEnd = { exit: ExitInfo | null; error: AgentError };

export type ProcessHandlers = {
  /** Where all of it is recorded; null for a process that is only asked something. */
  channel: Channel | null;
  /** Once: it is gone, or was never there. The error says what to do. */
  onEnd?(end: ProcessEnd): void;
  /** A line of stderr, after it was recorded. */
  onStderrLine?(line: string): void;
  /** Why it ended, in its own words, when that is not on stderr. */
  lastWords?(): string;
  /** Records a line of stderr, and the exit, in another way than as they are. */
  recordStderr?(line: string): void;
  recordExit?(exit: ExitInfo): void;
  /** It may close its input while it works. Any other one that does cannot be talked to any more and is ended. */
  mayStopReading?: true;
};

/** How its stdout is read. `lines`: one JSON message a line; `bytes`: as it comes, and recorded by the caller. */
export type Reading =
  | {
      as: "lines";
      /** Not for those that repeat the one before, see `Repeat`: they are recorded, and that is all. */
      onMessage(message: NdjsonMessage): void;
      /** Takes lines that are no JSON: they are recorded as text and not as unparsed. */
      onText?(text: string): void;
      /** The caller records messages itself, before it acts on them. */
      recorded?: "by caller";
    }
  | { as: "bytes"; onBytes(chunk: Buffer): void };

/** After a request to end, before it is killed. */
const STOP_GRACE_MS = 5_000;
/** After it has closed its stdout, or nobody wants it any more: for what it does before it exits. */
const MUTE_MS = 2_000;
const LAST_LINES = 5;

export class RecordedProcess {
  /** Resolves with `onEnd`. */
  readonly ended: Promise<ProcessEnd>;
  /** Null when the process runs, else why it could not be started. */
  readonly started: Promise<AgentError | null>;
  readonly #name: string;
  readonly #handlers: ProcessHandlers;
  readonly #child: AgentProcess;
  /** Who wants it not to be read now: the daemon, and whoever cannot take more. Reading goes on when nobody does. */
  readonly #holds = new Set<string>();
  #settleStart: (error: AgentError | null) => void = () => {};
  #settleEnd: (end: ProcessEnd) => void = () => {};
  #end: ProcessEnd | null = null;
  #ready = false;

  constructor({ name, command, args, cwd, env, host, abandoned }: ProcessStart, reading: Reading, handlers: ProcessHandlers) {
    this.#name = name;
    this.#handlers = handlers;
    this.started = new Promise((resolve) => {
      this.#settleStart = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#settleEnd = resolve;
    });
    const lines = reading.as === "lines" ? this.#lines(reading) : null;
    this.#child = spawnAgent({
      command,
      args,
      cwd,
      env,
      recorder: new ProcessRegistry(host.processDir),
      onStdout: (chunk) => (reading.as === "bytes" ? reading.onBytes(chunk) : lines?.feed(chunk)),
      onStderrLine: (line) => {
        if (handlers.recordStderr) handlers.recordStderr(line);
        else handlers.channel?.record("err", line, line);
        handlers.onStderrLine?.(line);
      },
      onStdinError: () => {
        if (!handlers.mayStopReading) void this.stop();
      },
      // Nothing more can be heard from it: who waits for its answer would wait for ever.
      onStdoutEnd: () => {
        if (reading.as === "lines") void this.endedWithin(MUTE_MS).then(() => this.stop());
      },
      onSpawnError: (error) => this.#over(null, startError(error)),
      onExit: (exit) => {
        lines?.end();
        if (handlers.recordExit) handlers.recordExit(exit);
        else handlers.channel?.exited(exit);
        this.#over(exit, this.#exitError(exit));
      },
    });
    if (this.#child.pid !== null) this.#settleStart(null);
    const abandon = (): void => void (this.#ready || this.stop({ graceMs: MUTE_MS }));
    if (abandoned?.aborted) abandon();
    abandoned?.addEventListener("abort", abandon, { once: true });
  }

  get pid(): number | null {
    return this.#child.pid;
  }

  /** Why it cannot be talked to any more; null while it runs. */
  get gone(): AgentError | null {
    return this.#end?.error ?? null;
  }

  /** Bytes that were written and are not read yet. */
  get unread(): number {
    return this.#child.stdinBacklog;
  }

  /** It has started: what ends it from now on is no failed start. */
  ready(): void {
    this.#ready = true;
  }

  /** Records and writes one message. Nothing is recorded that can no longer be written. */
  send(value: unknown): void {
    if (this.#end) return;
    const line = encodeJsonLine(value);
    this.#handlers.channel?.record("in", withoutLineEnd(line), value);
    this.#child.write(line);
  }

  /** Writes what the caller has recorded. */
  write(data: Buffer): boolean {
    return this.#child.write(data);
  }

  /** Resolves when it has read what it was sent, or never will. */
  drained(): Promise<void> {
    return this.#child.drained();
  }

  endInput(): void {
    this.#child.endStdin();
  }

  /** The daemon's wish, see `Connection.setPaused`. */
  setPaused(paused: boolean): void {
    this.hold("daemon", paused);
  }

  /** Not read while anybody holds it: who lets go does not let go for the others. */
  hold(who: string, held: boolean): void {
    if (held) this.#holds.add(who);
    else this.#holds.delete(who);
    if (this.#holds.size > 0) this.#child.pauseStdout();
    else this.#child.resumeStdout();
  }

  kill(signal: NodeJS.Signals): boolean {
    return this.#child.kill(signal);
  }

  endDescendants(options?: { directory?: string }): Promise<void> {
    return this.#child.endDescendants(options);
  }

  /** No process of it is left when this resolves. `eofMs`: its input is closed first, and it has this time to leave by itself. */
  async stop({ graceMs = STOP_GRACE_MS, eofMs }: { graceMs?: number; eofMs?: number } = {}): Promise<void> {
    if (this.#end && this.#end.exit === null) return;
    if (eofMs !== undefined) {
      // Before its input ends: an agent that leaves by itself abandons the commands that run in sessions of their own.
      await this.#child.endDescendants();
      this.#child.endStdin();
      if (eofMs > 0) await this.endedWithin(eofMs);
    }
    await this.#child.stop(graceMs);
  }

  async endedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    return Promise.race([this.ended.then(() => true), late]).finally(() => clearTimeout(timer));
  }

  /** The last lines it said, in its own words or on stderr; empty when it said nothing. */
  lastWords(): string {
    const { tail, head } = this.#child.stderr();
    const stderr = (tail ?? head ?? "").trim().split("\n").slice(-LAST_LINES).join("\n");
    return this.#handlers.lastWords?.() || stderr;
  }

  #lines(reading: Extract<Reading, { as: "lines" }>): NdjsonChannel {
    const { channel } = this.#handlers;
    return new NdjsonChannel({
      write: (line) => this.#child.write(line),
      onMessage: (message) => {
        if (!reading.recorded) message.next = channel?.record("out", message.raw, message.value);
        reading.onMessage(message);
      },
      onGarbage: ({ raw, error }) => {
        if (!reading.onText) return channel?.unparsed("out", raw, error);
        const text = raw.toString("utf8");
        channel?.record("out", raw, text);
        reading.onText(text);
      },
      onOversize: ({ head, bytes, sha256 }) => channel?.unparsed("out", head, `a line of ${bytes} bytes`, sha256),
    });
  }

  #exitError({ code, signal }: ExitInfo): AgentError {
    const how = signal ? `was ended by ${signal}` : `exited with code ${code ?? "unknown"}`;
    if (this.#ready) return new AgentError("agent_gone", `${this.#name} ${how}. Send the message again to start it anew.`);
    return new AgentError("agent_failed_to_start", `${this.#name} ${how}. ${this.lastWords() || "It said nothing."}`);
  }

  #over(exit: ExitInfo | null, error: AgentError): void {
    this.#end = { exit, error };
    this.#settleStart(exit === null ? error : null);
    this.#handlers.onEnd?.(this.#end);
    this.#settleEnd(this.#end);
  }
}

const startError = (error: SpawnError): AgentError =>
  new AgentError(error.code === "agent_not_found" ? "agent_not_found" : "agent_failed_to_start", error.message, { cause: error });

/** A process that speaks JSON-RPC. Both directions are recorded before they are acted on; open requests are rejected when it ends. */
export class RpcProcess {
  readonly process: RecordedProcess;
  readonly peer: JsonRpcPeer;
  /** What takes the next message if it is like the last one. A notification that is does not reach the peer. */
  #repeated: Repeated | undefined;

  constructor(
    start: ProcessStart,
    rpc: Omit<JsonRpcPeerOptions, "write" | "flow" | "onRaw">,
    handlers: Omit<ProcessHandlers, "mayStopReading">,
  ) {
    this.process = new RecordedProcess(
      start,
      {
        as: "lines",
        recorded: "by caller",
        onMessage: (message) => {
          this.#repeated = undefined;
          this.peer.receive(message);
          message.next = this.#repeated;
        },
      },
      {
        ...handlers,
        onEnd: (end) => {
          this.peer.close(end.error.message);
          handlers.onEnd?.(end);
        },
      },
    );
    const { process } = this;
    this.peer = new JsonRpcPeer({
      ...rpc,
      write: (line) => process.write(line),
      flow: {
        unread: () => process.unread,
        drained: () => process.drained(),
        pause: () => process.hold("answers", true),
        resume: () => process.hold("answers", false),
      },
      // The peer's directions are its own point of view: what it receives is what the agent wrote.
      onRaw: (direction, raw, value) => {
        this.#repeated = handlers.channel?.record(direction === "in" ? "out" : "in", raw, value);
      },
    });
  }
}
