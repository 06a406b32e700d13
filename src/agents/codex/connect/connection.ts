// A session's line to Codex: one thread on an app-server that may serve others too.
import {
  AgentError,
  type ConfigPatch,
  type Connection,
  type Launch,
  type PermissionReply,
  type Prompt,
  type SessionConfig,
} from "../../contract.ts";
import { isInside } from "../../inside-directory.ts";
import { isRecord, type JsonRecord, rec, records, str } from "../../json.ts";
import { ACCEPT, type NativePermission, permissionResult } from "../translate/permissions.ts";
import { type NativeQuestion, questionResult } from "../translate/questions.ts";
import { requestKey } from "../translate/server-requests.ts";
import type { RpcId } from "../translate/wire.ts";
import { type AppServer, MCP_STATUS, type ThreadWatch } from "./app-server.ts";
import { type Actual, needsMode, settingsParams, threadParams, turnParams } from "./launch-params.ts";
import { OpenEdits } from "./open-edits.ts";
import { promptInput, type Skill } from "./prompt-input.ts";
import type { ServerLease, ServerPool } from "./server-pool.ts";

/** MCP servers that must be up are waited for in thread/start. */
const THREAD_TIMEOUT_MS = 120_000;
const CLOSE_TIMEOUT_MS = 2_000;
/** Codex itself gives up on an MCP server before that; a turn begun earlier would not see its tools. */
const MCP_TIMEOUT_MS = 20_000;

export async function connect(pool: ServerPool, launch: Launch): Promise<Connection> {
  const lease = await pool.acquire(launch.host, launch.config.env, launch.config.skills, launch.abandoned);
  try {
    const line = new CodexConnection(lease, launch, pool.unused);
    await line.open();
    return line;
  } catch (error) {
    await lease.release();
    throw error;
  }
}

class CodexConnection implements Connection, ThreadWatch {
  readonly #lease: ServerLease;
  readonly #server: AppServer;
  readonly #launch: Launch;
  readonly #config: SessionConfig;
  #threadId = "";
  #actual: Actual = { model: null, effort: null };
  #turnId: string | null = null;
  #endedTurn: string | null = null;
  readonly #edits = new OpenEdits();
  /** Commands of the running turn: an interrupt ends them too. */
  #commands = new Set<string>();
  #interrupted = false;
  #skills: Skill[] = [];
  #closed = false;
  /** See `ServerPool.unused`. */
  readonly #unused: Set<string>;
  /** MCP servers of ours that have not said yet whether they are up. */
  readonly #starting: Set<string>;
  #mcpSettled: () => void = () => {};

  constructor(lease: ServerLease, launch: Launch, unused: Set<string>) {
    this.#unused = unused;
    this.#lease = lease;
    this.#server = lease.server;
    this.#launch = launch;
    this.#config = { ...launch.config };
    this.#starting = new Set(launch.config.mcp_servers.map(({ name }) => name));
  }

  async open(): Promise<void> {
    const { resume } = this.#launch;
    const params = threadParams(this.#config);
    const answer = resume === null ? await this.#start(params) : await this.#resume(resume, params);
    this.#actual = { model: str(answer.model) ?? this.#config.model, effort: str(answer.reasoningEffort) ?? null };
    if (needsMode(this.#config)) await this.#settings({ permission_mode: this.#config.permission_mode });
    void this.#learnSkills();
    await this.#mcpStarted();
  }

  /** Servers start beside the thread, and the model is informed of their tools when the turn begins. */
  async #mcpStarted(): Promise<void> {
    if (this.#starting.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#mcpSettled = resolve;
      timer = setTimeout(resolve, MCP_TIMEOUT_MS).unref();
    });
    clearTimeout(timer);
  }

  #mcpStatus(params: JsonRecord): void {
    if (params.status === "starting") return;
    this.#starting.delete(str(params.name) ?? "");
    if (this.#starting.size === 0) this.#mcpSettled();
  }

  async #start(params: JsonRecord): Promise<JsonRecord> {
    // Raw events are the only trace of tool calls for which Codex makes no item. They can be asked for here only.
    const answer = await this.#thread("thread/start", { ...params, experimentalRawEvents: true });
    this.#unused.add(this.#threadId);
    return answer;
  }

  async #resume({ native_session_id, fork, at }: NonNullable<Launch["resume"]>, params: JsonRecord): Promise<JsonRecord> {
    const again = { ...params, threadId: native_session_id, excludeTurns: true };
    if (fork) return this.#thread("thread/fork", { ...again, ...(at === undefined ? {} : { lastTurnId: at }) });
    this.#attach(native_session_id);
    try {
      return await this.#server.request("thread/resume", again, THREAD_TIMEOUT_MS);
    } catch (error) {
      this.#server.detach(native_session_id);
      if (!(error instanceof AgentError) || !/no rollout found/i.test(error.message)) throw error;
      if (this.#unused.has(native_session_id)) return this.#start(params);
      throw new AgentError(
        "agent_refused",
        `Codex has no thread ${native_session_id} here. It may have been deleted, or belong to another CODEX_HOME. Create a new session.`,
        { cause: error },
      );
    }
  }

  async #thread(method: string, params: JsonRecord): Promise<JsonRecord> {
    const answer = await this.#server.request(method, params, THREAD_TIMEOUT_MS);
    const id = str(rec(answer.thread).id);
    if (id === undefined)
      throw new AgentError("agent_refused", `Codex answered ${method} without a thread. Its version may be too new.`);
    this.#attach(id);
    return answer;
  }

  #attach(id: string): void {
    this.#threadId = id;
    this.#server.attach(id, this.#launch.port, this);
  }

  notifiedOfChild(method: string, params: JsonRecord): void {
    this.#edits.notified(method, params);
  }

  notified(method: string, params: JsonRecord): void {
    this.#edits.notified(method, params);
    const turnId = str(rec(params.turn).id) ?? null;
    if (method === MCP_STATUS) this.#mcpStatus(params);
    if (method === "turn/started") this.#turnId ??= turnId;
    if (method === "item/started") this.#itemStarted(rec(params.item));
    if (method === "thread/settings/updated") this.#settled(rec(params.threadSettings));
    if (method === "item/completed") this.#unused.delete(this.#threadId);
    if (method === "skills/changed") void this.#learnSkills();
    if (method === "turn/completed") this.#endedTurn = turnId;
    if (method === "turn/completed" && (this.#turnId === null || this.#turnId === turnId)) this.#turnEnded();
  }

  #itemStarted({ id, type }: JsonRecord): void {
    if (type === "commandExecution") this.#commands.add(str(id) ?? "");
  }

  /** Codex has no policy that asks for commands and not for edits: in accept_edits, edits inside the directory are accepted here. */
  decides(method: string, params: JsonRecord, id: RpcId): JsonRecord | undefined {
    if (this.#config.permission_mode !== "accept_edits" || method !== "item/fileChange/requestApproval") return undefined;
    const paths = this.#edits.paths(params);
    const inside = paths.length > 0 && paths.every((path) => isInside(this.#config.directory, path));
    if (!inside || str(params.grantRoot) !== undefined) return undefined;
    const { id: option_id, answer } = ACCEPT;
    const key = requestKey(id, params);
    this.#launch.port.say([
      { do: "permission.resolve", key, status: "approved", resolved_by: "policy", reply: "once", option_id },
    ]);
    return answer;
  }

  #settled(settings: JsonRecord): void {
    this.#actual = { model: str(settings.model) ?? this.#actual.model, effort: str(settings.effort) ?? this.#actual.effort };
  }

  #turnEnded(): void {
    const commands = this.#commands;
    const stop = this.#interrupted && commands.size > 0;
    this.#turnId = null;
    this.#interrupted = false;
    this.#commands = new Set();
    if (stop) void this.#endCommands(commands);
  }

  /** codex 0.166 lets the command of an interrupted turn run on in the background; whoever interrupts wants it to end. */
  async #endCommands(items: Set<string>): Promise<void> {
    try {
      const running = await this.#server.request("thread/backgroundTerminals/list", { threadId: this.#threadId });
      for (const terminal of records(running.data))
        if (items.has(str(terminal.itemId) ?? ""))
          await this.#server.request("thread/backgroundTerminals/terminate", {
            threadId: this.#threadId,
            processId: terminal.processId,
          });
    } catch (error) {
      this.#launch.host.log("debug", "codex: the commands of an interrupted turn could not be ended", { error: String(error) });
    }
  }

  async #learnSkills(): Promise<void> {
    try {
      const answer = await this.#server.request("skills/list", { cwds: [this.#config.directory] });
      this.#skills = records(answer.data)
        .flatMap((entry) => records(entry.skills))
        .flatMap(({ name, path }) => (typeof name === "string" && typeof path === "string" ? [{ name, path }] : []));
    } catch (error) {
      this.#launch.host.log("debug", "codex: skills could not be listed", { error: String(error) });
    }
  }

  async prompt(prompt: Prompt): Promise<void> {
    this.#mustLive();
    const { command } = prompt;
    if (command?.name === "compact") return this.#work("thread/compact/start", {});
    if (command?.name === "review")
      return this.#work("review/start", { target: reviewTarget(command.arguments), delivery: "inline" });
    if (command && !command.name.startsWith("$"))
      throw new AgentError("agent_refused", `Codex has no command /${command.name} here.`);
    return this.#work("turn/start", {
      clientUserMessageId: prompt.message_id,
      input: promptInput(prompt, this.#skills),
      ...turnParams(this.#config, this.#actual),
    });
  }

  /** Written is enough: the translator reports the answer, a refusal as the error of the turn that it ends. */
  async #work(method: string, params: JsonRecord): Promise<void> {
    this.#server
      .request(method, { threadId: this.#threadId, ...params })
      .then((answer) => {
        const id = str(rec(answer.turn).id) ?? null;
        // A short turn may be over before it is answered. A review announces an inner turn; it ends under the name it has here.
        if (id !== null && id !== this.#endedTurn) this.#turnId = id;
      })
      .catch((error) => {
        this.#interrupted = false;
        this.#launch.host.log("debug", `codex: ${method} was refused`, { error: String(error) });
      });
  }

  async steer(prompt: Prompt): Promise<"idle" | undefined> {
    this.#mustLive();
    const turnId = this.#turnId;
    if (turnId === null) await this.prompt(prompt);
    else
      try {
        await this.#server.request("turn/steer", {
          threadId: this.#threadId,
          expectedTurnId: turnId,
          clientUserMessageId: prompt.message_id,
          input: promptInput(prompt, this.#skills),
        });
      } catch (error) {
        // The turn came to its end while the message was on its way.
        if (this.#server.gone || this.#turnId === turnId) throw error;
        return "idle";
      }
    return undefined;
  }

  async interrupt(): Promise<void> {
    this.#mustLive();
    const turnId = this.#turnId;
    this.#interrupted = true;
    try {
      // An empty turn id interrupts whatever runs: right when the turn has been asked for and not named yet.
      await this.#server.request("turn/interrupt", { threadId: this.#threadId, turnId: turnId ?? "" });
    } catch (error) {
      this.#interrupted = false;
      // A turn that came to its end meanwhile needs no interrupt.
      if (this.#server.gone || this.#turnId === turnId) throw error;
    }
  }

  async configure(patch: ConfigPatch): Promise<"done" | "restart"> {
    this.#mustLive();
    // A running turn keeps the policies it began with.
    if (this.#turnId !== null && patch.permission_mode !== undefined) return "restart";
    await this.#settings(patch);
    return "done";
  }

  /** Taken over when the server has agreed, and not before. */
  async #settings(patch: ConfigPatch): Promise<void> {
    const config = { ...this.#config, ...patch };
    const actual = patch.model ? { ...this.#actual, model: patch.model } : this.#actual;
    await this.#server.request("thread/settings/update", {
      threadId: this.#threadId,
      ...settingsParams(patch, config, actual),
    });
    Object.assign(this.#config, patch);
    this.#actual = actual;
  }

  async replyPermission(native: unknown, reply: PermissionReply): Promise<void> {
    if (!isNative<NativePermission>(native, "choices")) throw new AgentError("unsupported", "Codex decided this one itself.");
    this.#server.answer(native.request_id, permissionResult(native, reply));
  }

  async replyQuestion(native: unknown, answers: string[][] | null): Promise<void> {
    if (!isNative<NativeQuestion>(native, "kind")) throw new AgentError("unsupported", "This question takes no answer.");
    this.#server.answer(native.request_id, questionResult(native, answers));
  }

  async stopTask(native: unknown): Promise<void> {
    this.#mustLive();
    const { processId } = rec(native);
    await this.#server.request("thread/backgroundTerminals/terminate", { threadId: this.#threadId, processId });
  }

  setPaused(paused: boolean): void {
    this.#server.setPaused(paused);
  }

  /** The thread stays on disk. What it still runs is ended; the server lives on for other sessions. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#server.gone) await this.#leave();
    this.#server.detach(this.#threadId);
    await this.#lease.release();
  }

  async #leave(): Promise<void> {
    const threadId = this.#threadId;
    const ask = (method: string, params: JsonRecord = {}) =>
      this.#server.request(method, { threadId, ...params }, CLOSE_TIMEOUT_MS).catch(() => {});
    await Promise.all([
      ...(this.#turnId === null ? [] : [ask("turn/interrupt", { turnId: this.#turnId })]),
      ask("thread/backgroundTerminals/clean"),
      ask("thread/unsubscribe"),
    ]);
  }

  #mustLive(): void {
    if (this.#closed || this.#server.gone)
      throw new AgentError("agent_gone", "The Codex app-server is gone. Send the message again.");
  }
}

/** `/review`, `/review base main`, `/review commit abc123`, or `/review` with instructions. */
function reviewTarget(text: string | undefined): JsonRecord {
  if (!text) return { type: "uncommittedChanges" };
  const [word, name] = text.trim().split(/\s+/, 2);
  if (word === "base" && name) return { type: "baseBranch", branch: name };
  if (word === "commit" && name) return { type: "commit", sha: name };
  return { type: "custom", instructions: text.trim() };
}

/** What we put into a draft comes back untouched; null marks what cannot be answered. */
const isNative = <T extends { request_id: unknown }>(value: unknown, member: string): value is T =>
  isRecord(value) && "request_id" in value && member in value;
