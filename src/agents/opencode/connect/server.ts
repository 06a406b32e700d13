// One `opencode serve` for many sessions: its process, its requests and its one event stream, all of it recorded. Restarted when it dies, because OpenCode
// keeps its sessions itself; what was said while nobody listened is read again.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseMessage } from "../../../json/depth.ts";
import { HttpError, httpJson, type SseConnection } from "../../../transports/index.ts";
import {
  AgentError,
  type AgentHost,
  type Channel,
  type ExitInfo,
  type NativeDirection,
  type SessionPort,
} from "../../contract.ts";
import { rec, str } from "../../json.ts";
import { RecordedProcess } from "../../kit/recorded-process.ts";
import { OpencodeTranslator } from "../translate/translator.ts";
import { freePort } from "./free-port.ts";
import { SUBAGENT_RULES } from "./permission-mode.ts";
import { type AskedPermission, StreamListener } from "./stream-listener.ts";

const LISTENING = /listening on (http:\/\/\S+)/;
const START_MS = 60_000;
const STOP_GRACE_MS = 2_000;
/** Waits between tries to bring a dead server back. */
const REVIVAL_MS = [0, 500, 1_000, 2_000, 5_000];
/** A server that lives this long has recovered: the next death starts counting anew. */
const HEALTHY_MS = 30_000;
/** Messages read again for each session after a gap. */
const REREAD = 100;
const CATCH_UP_TRIES = 10;
const CATCH_UP_MS = 1_000;
/** How long the reason of a turn without an answer may take to arrive. */
const NO_ANSWER_MS = 750;
/** How long the end of an instance may take to be reported on the stream. */
const DISPOSED_MS = 3_000;
/** A directory's first request loads its whole project. */
const REQUEST_MS = 120_000;

export type Answer = { status: number; body: unknown };
/** `secret`: the answer may hold keys of the person (the configuration does): it is recorded without its body. */
export type Ask = { directory: string; body?: unknown; timeoutMs?: number; secret?: boolean };

type Life = { process: RecordedProcess; url: string; headers: Record<string, string>; stream: SseConnection | null };
type Attached = {
  port: SessionPort;
  directory: string;
  onAsked(asked: AskedPermission): void;
  onSettled(session: string, request: string | null): void;
};

const stopped = (): AgentError => new AgentError("agent_gone", "The OpenCode server was stopped. Send the message again.");

export class OpencodeServer {
  readonly channel: Channel;
  readonly #host: AgentHost;
  readonly #env: Record<string, string>;
  readonly #listener: StreamListener;
  readonly #attached = new Map<string, Attached>();
  /** Directories whose instance gave no answer. */
  readonly #broken = new Set<string>();
  #life: Promise<Life> | null = null;
  #process: RecordedProcess | null = null;
  #stopping = false;
  /** It has been up, once at least. */
  #started = false;
  #deaths = 0;
  #paused = false;
  #requests = 0;
  /** Any request wakes an instance of its directory: the probe wakes one that is needed anyway. */
  #probeIn: string | null = null;

  constructor(host: AgentHost, env: Record<string, string>) {
    this.#host = host;
    this.#env = env;
    this.channel = host.openChannel(new OpencodeTranslator());
    this.#listener = new StreamListener(this.channel, {
      asked: (root, asked) => this.#attached.get(root)?.onAsked(asked),
      settled: (root, session, request) => this.#attached.get(root)?.onSettled(session, request),
    });
  }

  get hasStarted(): boolean {
    return this.#started;
  }

  get sessions(): number {
    return this.#attached.size;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Where OpenCode keeps its data for these sessions. */
  get dataDir(): string {
    const { XDG_DATA_HOME, HOME } = this.#host.environment(this.#env);
    return join(XDG_DATA_HOME || join(HOME ?? "", ".local", "share"), "opencode");
  }

  isBusy(nativeSession: string): boolean {
    return this.#listener.busy.has(nativeSession);
  }

  attach(nativeSession: string, attached: Attached): void {
    this.#attached.set(nativeSession, attached);
    this.channel.attach(nativeSession, attached.port);
  }

  detach(nativeSession: string): void {
    this.#attached.delete(nativeSession);
    this.channel.detach(nativeSession);
  }

  /** Whether another session of this directory is attached. */
  sharesDirectory(directory: string): boolean {
    return [...this.#attached.values()].some((attached) => attached.directory === directory);
  }

  /** Resolves when requests can be sent and nothing that follows from them can be missed. */
  async start(directory: string): Promise<void> {
    this.#probeIn ??= directory;
    await this.#alive();
  }

  /** Answers of any status; rejects only when none came. Both are recorded. */
  async request(method: string, path: string, ask: Ask): Promise<Answer> {
    const life = await this.#alive();
    return this.#send(life, method, path, ask);
  }

  /** Ends commands that run in process groups of their own: all of them, or those that work in a directory. Nothing else shows whose they are. */
  async endCommands(directory?: string): Promise<void> {
    await this.#process?.endDescendants(directory === undefined ? {} : { directory });
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    void this.#life?.then(({ stream }) => stream?.setPaused(paused)).catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    // One that is still starting may hang: it is not waited for.
    const life = this.#started ? await this.#life?.catch(() => null) : null;
    life?.stream?.close();
    await this.#process?.stop({ graceMs: STOP_GRACE_MS });
    this.#life = null;
    this.#process = null;
  }

  #alive(): Promise<Life> {
    if (this.#stopping) return Promise.reject(stopped());
    if (!this.#life) {
      const life = this.#launch();
      this.#life = life;
      life.catch(() => {
        if (this.#life === life) this.#life = null;
      });
    }
    return this.#life;
  }

  async #launch(): Promise<Life> {
    const { command, args } = await this.#host.resolveCommand();
    mkdirSync(this.#host.stateDir, { recursive: true, mode: 0o700 });
    const password = randomBytes(24).toString("base64url");
    const headers = { authorization: `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}` };
    const port = await freePort();
    // What is started after the end would stay.
    if (this.#stopping) throw stopped();
    const { process, url } = await this.#spawn(command, args, password, port);
    const life: Life = { process, url, headers, stream: null };
    life.stream = await this.#listen(life);
    this.#started = true;
    return life;
  }

  #spawn(command: string, args: string[], password: string, port: number): Promise<{ process: RecordedProcess; url: string }> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const advice = `Run "${command} serve" by hand to see why.`;
        reject(new AgentError("agent_failed_to_start", `OpenCode did not listen within ${START_MS / 1000} s. ${advice}`));
        process.kill("SIGKILL");
      }, START_MS);
      let started = "";
      let up = false;
      const onBytes = (chunk: Buffer): void => {
        this.#output("stdout", chunk.toString("utf8"));
        if (up) return;
        started += chunk.toString("utf8");
        const url = LISTENING.exec(started)?.[1];
        if (url === undefined) return;
        up = true;
        process.ready();
        clearTimeout(timer);
        resolve({ process, url });
      };
      const env = this.#host.environment({
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        ...this.#env,
        OPENCODE_PERMISSION: JSON.stringify(SUBAGENT_RULES),
        OPENCODE_SERVER_PASSWORD: password,
      });
      const serve = [...args, "serve", "--hostname", "127.0.0.1", "--port", String(port)];
      const process = new RecordedProcess(
        { name: "OpenCode", command, args: serve, cwd: this.#host.stateDir, env, host: this.#host },
        { as: "bytes", onBytes },
        {
          channel: this.channel,
          recordStderr: (line) => this.#output("stderr", line),
          // Nobody needs to know the end of a server without sessions.
          recordExit: (exit) => up && this.#attached.size > 0 && this.channel.exited(exit),
          onEnd: ({ exit, error }) => {
            clearTimeout(timer);
            reject(error);
            if (up && exit) this.#died(exit);
          },
        },
      );
      this.#process = process;
    });
  }

  #output(stream: "stdout" | "stderr", text: string): void {
    this.#record("err", { stream, text });
  }

  #record(dir: NativeDirection, data: unknown): void {
    this.channel.record(dir, JSON.stringify(data), data);
  }

  /** One stream for all sessions of all directories. */
  async #listen(life: Life): Promise<SseConnection> {
    const stream = this.#listener.open(life.url, life.headers, {
      // The stream broke, the server lives: what was said meanwhile is read again.
      onReopened: () => void this.#catchUpForSure(life),
      onUnanswered: (session) => void this.#afterNoAnswer(life, session),
    });
    try {
      await this.#confirm(life);
    } catch (error) {
      stream.close();
      throw error;
    }
    stream.setPaused(this.#paused);
    return stream;
  }

  /**
   * 1.18: `/global/event` says that it is connected before it listens. An abort of a session that does not exist makes events without doing anything:
   * when one of them arrives, the stream is open.
   */
  async #confirm(life: Life): Promise<void> {
    const heard = this.#listener.nextProbe();
    const directory = [...this.#attached.values()][0]?.directory ?? this.#probeIn ?? this.#host.stateDir;
    for (let tries = 0; tries < 100; tries++) {
      if (this.#stopping) throw stopped();
      await this.#send(life, "POST", `/session/${StreamListener.PROBE}/abort`, { directory }).catch(() => null);
      if (await Promise.race([heard.then(() => true), delay(100, false)])) return;
    }
    throw new AgentError(
      "agent_failed_to_start",
      "OpenCode's event stream stays silent. Update OpenCode, or report its version.",
    );
  }

  /** What the agent did say is read again in a moment: that ends a turn whose reason never comes. */
  async #afterNoAnswer(life: Life, session: string): Promise<void> {
    const directory = this.#attached.get(session)?.directory;
    if (directory === undefined) return;
    this.#broken.add(directory);
    await delay(NO_ANSWER_MS, undefined, { ref: false });
    if (this.#process !== life.process || this.#listener.busy.has(session)) return;
    try {
      await this.#send(life, "GET", "/session/status", { directory });
      await this.#send(life, "GET", `/session/${session}/message?limit=${REREAD}`, { directory });
    } catch (error) {
      this.#warn("could not ask why a turn had no answer", error);
    }
  }

  /**
   * Before a message. 1.18: an instance whose first turn was interrupted, or whose directory went away, answers every further message with nothing: it is
   * started anew, unless another session works in it.
   */
  async repair(directory: string): Promise<void> {
    if (!this.#broken.has(directory)) return;
    const working = [...this.#attached].some(([id, other]) => other.directory === directory && this.#listener.busy.has(id));
    if (working) return;
    this.#broken.delete(directory);
    // The answer comes before the event, and the event ends every turn of the directory: it must not meet the message that follows.
    const gone = this.#listener.disposed(directory);
    await this.request("POST", "/instance/dispose", { directory });
    await Promise.race([gone, delay(DISPOSED_MS, undefined, { ref: false })]);
  }

  /** A server under load may refuse once; what was missed is still there. */
  async #catchUpForSure(life: Life): Promise<void> {
    for (let tries = 0; tries < CATCH_UP_TRIES && this.#process === life.process; tries++) {
      try {
        return await this.#catchUp(life);
      } catch (error) {
        this.#warn("could not read again what was missed", error);
        await delay(CATCH_UP_MS, undefined, { ref: false });
      }
    }
  }

  async #catchUp(life: Life): Promise<void> {
    await this.#confirm(life);
    // The states first: messages read after a session was idle are its last words.
    for (const directory of new Set([...this.#attached.values()].map((attached) => attached.directory)))
      for (const path of ["/session/status", "/permission", "/question"]) await this.#send(life, "GET", path, { directory });
    for (const [id, { directory }] of [...this.#attached])
      await this.#send(life, "GET", `/session/${id}/message?limit=${REREAD}`, { directory });
  }

  #died(exit: ExitInfo): void {
    this.#process = null;
    const life = this.#life;
    this.#life = null;
    void life?.then(({ stream }) => stream?.close()).catch(() => {});
    this.#listener.busy.clear();
    if (this.#attached.size === 0) return;
    if (!this.#stopping) void this.#revive(exit);
  }

  /** Sessions live on in OpenCode's own store. */
  async #revive(exit: ExitInfo): Promise<void> {
    const healthy = setTimeout(() => {
      this.#deaths = 0;
    }, HEALTHY_MS).unref();
    for (; this.#deaths < REVIVAL_MS.length; ) {
      await delay(REVIVAL_MS[this.#deaths++], undefined, { ref: false });
      if (this.#stopping || this.#attached.size === 0) return;
      try {
        await this.#catchUp(await this.#alive());
        return;
      } catch (error) {
        this.#warn("the server did not come back", error);
      }
    }
    clearTimeout(healthy);
    const message = `OpenCode ended ${how(exit)} and could not be started again. Send a message to try once more.`;
    for (const [id, { port }] of [...this.#attached]) {
      this.detach(id);
      port.closed({ exit, message });
    }
    this.#deaths = 0;
  }

  async #send(life: Life, method: string, path: string, { directory, body, timeoutMs, secret }: Ask): Promise<Answer> {
    const id = ++this.#requests;
    const where = `${path}${path.includes("?") ? "&" : "?"}directory=${encodeURIComponent(directory).replaceAll("%2F", "/")}`;
    this.#record("http", { id, phase: "request", method, path: where, ...(body === undefined ? {} : { body }) });
    try {
      const url = `${life.url}${where}`;
      const reply = await httpJson({
        method,
        url,
        headers: life.headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs: timeoutMs ?? REQUEST_MS,
      });
      const answer = { status: reply.status, body: reply.kind === "json" ? reply.json : undefined };
      return this.#answered(id, answer, secret === true);
    } catch (error) {
      if (error instanceof HttpError && error.status !== null && error.code === "http_status")
        return this.#answered(id, { status: error.status, body: parsed(error.body) }, false);
      const message = error instanceof Error ? error.message : String(error);
      this.#record("err", { id, phase: "transport-error", message });
      throw new AgentError("agent_gone", message, { cause: error });
    }
  }

  #answered(id: number, { status, body }: Answer, secret: boolean): Answer {
    const told = secret ? { body_omitted: true } : { body };
    this.#record("http", {
      id,
      phase: "response",
      status,
      ...(body === undefined ? {} : { content_type: "application/json", ...told }),
    });
    return { status, body };
  }

  #warn(message: string, error: unknown): void {
    this.#host.log("warn", `opencode: ${message}`, { error: error instanceof Error ? error.message : String(error) });
  }
}

const how = ({ code, signal }: ExitInfo): string => (signal === null ? `with code ${code ?? "unknown"}` : `by ${signal}`);

function parsed(text: string | null): unknown {
  try {
    return parseMessage(text ?? "");
  } catch {
    return undefined;
  }
}

/** What a refusal says, for a person. */
export function refusalOf({ status, body }: Answer): string {
  const { data, message, _tag } = rec(body);
  return str(rec(data).message) ?? str(message) ?? str(_tag) ?? `status ${status}`;
}
