// One `codex app-server` process over stdio: starts it, speaks JSON-RPC with it, answers what no person has to decide, and informs its sessions when it is
// gone. Which sessions share one is decided by `server-pool.ts`.
import { JsonRpcClosed, JsonRpcError, LATER, type Respond } from "../../../transports/index.ts";
import { AgentError, type AgentHost, type Channel, type SessionPort } from "../../contract.ts";
import { isRecord, type JsonRecord, rec, str } from "../../json.ts";
import { type ProcessEnd, RpcProcess } from "../../kit/recorded-process.ts";
import { CodexTranslator } from "../translate/translator.ts";
import { idKey, type RpcId } from "../translate/wire.ts";

const START_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 2_000;
/** Sub-agents have MCP servers too, and are never attached. */
const EARLY_THREADS = 64;
const EARLY_OF_THREAD = 64;
export const MCP_STATUS = "mcpServer/startupStatus/updated";

/** `skillRoots`: folders of skills beside those that Codex finds by itself. */
export type ServerLaunch = {
  command: string;
  args: string[];
  env: Record<string, string>;
  skillRoots: string[];
  /** Ends it when it is aborted before the handshake is done. */
  abandoned?: AbortSignal;
};

/** What a connection wants to hear of its thread, and of the threads of its sub-agents. */
export interface ThreadWatch {
  notified(method: string, params: JsonRecord): void;
  notifiedOfChild(method: string, params: JsonRecord): void;
  /** Of any of these threads: the answer to a request that the session's permission mode decides; undefined when a person has to. */
  decides(method: string, params: JsonRecord, id: RpcId): JsonRecord | undefined;
}

type Attached = { port: SessionPort; watch: ThreadWatch };

/** Requests a person decides: the answer comes with the reply. */
const ASKED = new Set([
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "item/permissions/requestApproval",
  "item/tool/requestUserInput",
  "mcpServer/elicitation/request",
  "applyPatchApproval",
  "execCommandApproval",
]);

export class AppServer {
  readonly channel: Channel;
  readonly #translator = new CodexTranslator();
  readonly #rpc: RpcProcess;
  readonly #attached = new Map<string, Attached>();
  readonly #open = new Map<string, Respond>();
  /** Start-up of MCP servers of threads that are not attached yet: it begins before the answer that names the thread is handled. */
  readonly #earlyMcp = new Map<string, JsonRecord[]>();
  readonly #onGone: () => void;
  #stopping = false;

  private constructor(host: AgentHost, launch: ServerLaunch, onGone: () => void) {
    this.#onGone = onGone;
    // Keys are made of turn ids, which are unique for ever: a thread that is resumed in another process goes on with them.
    this.channel = host.openChannel(this.#translator);
    this.#rpc = new RpcProcess(
      // It serves many directories, and none of them is its own.
      { name: "The Codex app-server", ...launch, cwd: host.stateDir, host },
      {
        jsonrpcMember: false,
        onRequest: (method, params, id, respond) => this.#requested(method, rec(params), id, respond),
        onNotification: (method, params) => this.#notified(method, rec(params)),
        onHandlerError: (error) => host.log("error", "codex: a notification could not be handled", { error: String(error) }),
      },
      { channel: this.channel, onEnd: (end) => this.#lost(end) },
    );
  }

  /** Resolves when the handshake is done. */
  static async start(host: AgentHost, launch: ServerLaunch, onGone: () => void): Promise<AppServer> {
    const server = new AppServer(host, launch, onGone);
    try {
      await server.request(
        "initialize",
        {
          clientInfo: { name: "dragoman", title: "dragoman", version: host.version },
          capabilities: { experimentalApi: true, requestAttestation: false },
        },
        START_TIMEOUT_MS,
      );
    } catch (error) {
      const lastWords = server.#rpc.process.lastWords();
      await server.stop();
      if (error instanceof AgentError && error.code !== "agent_refused" && error.code !== "agent_auth_required") throw error;
      throw new AgentError("agent_failed_to_start", `Codex did not start: ${messageOf(error)}\n${lastWords}`.trim(), {
        cause: error,
      });
    }
    server.#rpc.process.ready();
    server.#rpc.peer.notify("initialized");
    if (launch.skillRoots.length > 0) await server.#addSkills(host, launch.skillRoots);
    return server;
  }

  /** An older Codex does not know the request: then its sessions go without these skills. */
  async #addSkills(host: AgentHost, extraRoots: string[]): Promise<void> {
    try {
      await this.request("skills/extraRoots/set", { extraRoots }, START_TIMEOUT_MS);
    } catch (error) {
      host.log("warn", "codex: skills could not be handed over", { error: String(error) });
    }
  }

  get gone(): boolean {
    return this.#rpc.process.gone !== null || this.#stopping;
  }

  get pid(): number | null {
    return this.#rpc.process.pid;
  }

  /** Rejects with AgentError: `agent_refused` for an error answer, `agent_gone` when the process is. */
  async request(method: string, params: JsonRecord, timeoutMs?: number): Promise<JsonRecord> {
    const { peer, process } = this.#rpc;
    if (process.gone) throw process.gone;
    try {
      return rec(await peer.request(method, params, timeoutMs === undefined ? {} : { timeoutMs }));
    } catch (error) {
      if (error instanceof JsonRpcError) throw refusal(method, error);
      if (error instanceof JsonRpcClosed) throw process.gone ?? error;
      throw error;
    }
  }

  attach(threadId: string, port: SessionPort, watch: ThreadWatch): void {
    this.#attached.set(threadId, { port, watch });
    this.channel.attach(threadId, port);
    for (const params of this.#earlyMcp.get(threadId) ?? []) watch.notified(MCP_STATUS, params);
    this.#earlyMcp.delete(threadId);
  }

  detach(threadId: string): void {
    this.#attached.delete(threadId);
    this.channel.detach(threadId);
  }

  /** The answer to a request of the server. One that is void by now is dropped: the server would ignore it. */
  answer(id: RpcId, result: JsonRecord): void {
    const respond = this.#open.get(idKey(id));
    this.#open.delete(idKey(id));
    respond?.result(result);
  }

  setPaused(paused: boolean): void {
    this.#rpc.process.setPaused(paused);
  }

  /** EOF on stdin ends it in good order; the group is killed if it does not. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#rpc.process.stop({ graceMs: STOP_GRACE_MS, eofMs: 0 });
  }

  #requested(method: string, params: JsonRecord, id: unknown, respond: Respond): unknown {
    // A passkey ceremony only the vendor's clients can do: refused, so that the tool call goes on without it.
    if (params.mode === "openai/userVerification") return { action: "cancel", content: null, _meta: null };
    if (ASKED.has(method) && (typeof id === "string" || typeof id === "number")) {
      const decided = this.#watchOf(str(params.threadId) ?? "")?.decides(method, params, id);
      if (decided) return decided;
      this.#open.set(idKey(id), respond);
      return LATER;
    }
    if (method === "currentTime/read") return { currentTimeAt: Math.floor(Date.now() / 1000) };
    throw JsonRpcError.methodNotFound(method);
  }

  #notified(method: string, params: JsonRecord): void {
    if (method === "serverRequest/resolved") {
      const id = params.requestId;
      if (typeof id === "string" || typeof id === "number") this.#open.delete(idKey(id));
    }
    const threadId = str(params.threadId);
    if (threadId !== undefined && method === MCP_STATUS && !this.#attached.has(threadId)) this.#keepEarly(threadId, params);
    const own = threadId === undefined ? undefined : this.#attached.get(threadId);
    if (own) own.watch.notified(method, params);
    else if (threadId !== undefined) this.#watchOf(threadId)?.notifiedOfChild(method, params);
    else for (const { watch } of this.#attached.values()) watch.notified(method, params);
  }

  /** The connection of a thread, also of a sub-agent's. A message is translated before it is handled: then it is known whose child a thread is. */
  #watchOf(threadId: string): ThreadWatch | undefined {
    return this.#attached.get(this.#translator.sessionOf(threadId) ?? threadId)?.watch;
  }

  #keepEarly(threadId: string, params: JsonRecord): void {
    if (this.#earlyMcp.size > EARLY_THREADS) this.#earlyMcp.clear();
    this.#earlyMcp.set(threadId, [...(this.#earlyMcp.get(threadId) ?? []), params].slice(-EARLY_OF_THREAD));
  }

  /** Every session on it can go on in another process: Codex keeps its threads on disk. */
  #lost({ exit, error }: ProcessEnd): void {
    this.#onGone();
    const attached = [...this.#attached.values()];
    this.#attached.clear();
    for (const { port } of attached) port.closed({ exit, message: error.message });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function refusal(method: string, error: JsonRpcError): AgentError {
  const data = isRecord(error.data) ? error.data : {};
  const auth = data.codexErrorInfo === "unauthorized" || /not logged in|login required|unauthorized/i.test(error.message);
  const text = `Codex refused ${method}: ${error.message.slice(0, 500)}`;
  return new AgentError(auth ? "agent_auth_required" : "agent_refused", auth ? `${text} Run \`codex login\`.` : text, {
    cause: error,
  });
}
