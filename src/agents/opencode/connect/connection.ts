// The line between one session and the server it shares: messages, commands, replies. It says nothing itself: what happens comes back on the stream.
import type { PermissionMode } from "../../../schema/event-data.ts";
import {
  AgentError,
  type ConfigPatch,
  type Connection,
  type Launch,
  type McpServer,
  type PermissionReply,
  type Prompt,
  type SessionConfig,
} from "../../contract.ts";
import { arr, isRecord, type JsonRecord, rec, records, str } from "../../json.ts";
import { answerFor } from "../../kit/choices.ts";
import type { NativeRequest } from "../translate/requests.ts";
import { mustHaveNoPlugins, skillsEnv } from "./directory-files.ts";
import { PermissionAnswers } from "./permission-answers.ts";
import {
  agentFor,
  allowsUnasked,
  configuredRules,
  endsWith,
  freeAgents,
  matches,
  permissionRules,
  type Rule,
} from "./permission-mode.ts";
import { fileInput, promptParts, readIntent, readModel } from "./prompt.ts";
import { type Answer, type OpencodeServer, refusalOf } from "./server.ts";
import type { ServerPool } from "./server-pool.ts";
import type { AskedPermission } from "./stream-listener.ts";

/** Routes that answer only when the work is done. */
const BLOCKING_MS = 24 * 3_600_000;
/** Less than a daemon waits when it closes: the server is stopped after it. */
const ABORT_MS = 3_000;

export async function connect(pool: ServerPool, launch: Launch): Promise<Connection> {
  if (!launch.config.trusted) await mustHaveNoPlugins(launch.config.directory);
  const { env, trusted, directory, skills } = launch.config;
  const own = skills === undefined ? env : { ...env, ...skillsEnv(launch.host.environment(env), skills) };
  const { server, release, abandon } = pool.lease(launch.host, own, trusted, directory);
  if (launch.abandoned?.aborted) abandon();
  launch.abandoned?.addEventListener("abort", abandon, { once: true });
  try {
    await server.start(launch.config.directory);
    const line = new OpencodeConnection(server, launch.config, release);
    await line.open(launch);
    return line;
  } catch (error) {
    await release();
    throw error;
  }
}

class OpencodeConnection implements Connection {
  readonly #server: OpencodeServer;
  readonly #release: () => Promise<void>;
  readonly #directory: string;
  readonly #config: SessionConfig;
  #id = "";
  #port: Launch["port"] | null = null;
  #commands: ReadonlySet<string> = new Set();
  /** The person's own configuration; no repository's. */
  #own: JsonRecord = {};
  #agents: ReadonlySet<string> = new Set();
  #freeAgents: string[] = [];
  /** What the person allowed for as long as this connection lives: each entry a permission with the patterns that were offered. */
  readonly #always: { permission: string; patterns: string[] }[] = [];
  readonly #answers = new PermissionAnswers();
  #defaultModel: string | null = null;
  #closed = false;

  constructor(server: OpencodeServer, config: SessionConfig, release: () => Promise<void>) {
    this.#server = server;
    this.#release = release;
    this.#directory = config.directory;
    this.#config = { ...config };
  }

  async open({ resume, port }: Launch): Promise<void> {
    this.#port = port;
    const settings = await this.#server.request("GET", "/config", { directory: this.#directory, secret: true });
    this.#defaultModel = str(rec(settings.body).model) ?? null;
    // An older server answers with a web page: then nothing the person allows is known, and more is asked for.
    const own = await this.#server
      .request("GET", "/global/config", { directory: this.#directory, secret: true })
      .catch(() => null);
    this.#own = rec(own?.body);
    const agents = records((await this.#call("GET", "/agent")).body);
    this.#freeAgents = freeAgents(agents);
    this.#agents = new Set(agents.flatMap((agent) => str(agent.name) ?? []));
    this.#mustKnow(this.#config.agent_mode);
    this.#id = await this.#session(resume);
    this.#server.attach(this.#id, {
      port,
      directory: this.#directory,
      onAsked: (asked) => this.#asked(asked),
      onSettled: (session, request) => this.#answers.settled(session, request),
    });
    for (const mcp of this.#config.mcp_servers) await this.#addMcp(mcp);
    const commands = await this.#call("GET", "/command");
    this.#commands = new Set(records(commands.body).flatMap((command) => str(command.name) ?? []));
  }

  async #session(resume: Launch["resume"]): Promise<string> {
    if (!resume) {
      const created = await this.#call("POST", "/session", { permission: this.#rules() });
      return this.#idOf(created, "refused to create a session");
    }
    const path = `/session/${resume.native_session_id}`;
    const answer = resume.fork
      ? await this.#call("POST", `${path}/fork`, await this.#upTo(path, resume.at))
      : await this.#call("GET", path);
    const id = this.#idOf(answer, resume.fork ? "refused to fork the session" : "does not know the session any more");
    const home = str(rec(answer.body).directory);
    // Its permissions and its work belong to the directory it was made in: from another one they cannot be answered, and the turn would never end.
    if (!resume.fork && home !== undefined && home !== this.#directory)
      throw new AgentError("agent_refused", `This OpenCode session belongs to ${home}. Create the session with that directory.`);
    // 1.18: a fork has none of the rules of its origin.
    await this.#enforce(id, rec(answer.body).permission);
    return id;
  }

  /** OpenCode forks before a message: the one that follows the place. */
  async #upTo(path: string, place: string | undefined): Promise<JsonRecord> {
    if (place === undefined) return {};
    const ids = records((await this.#call("GET", `${path}/message`)).body).map(({ info }) => str(rec(info).id));
    const at = ids.indexOf(place);
    if (at < 0) throw new AgentError("agent_refused", "OpenCode does not know this place of the conversation any more.");
    const messageID = ids[at + 1];
    return messageID === undefined ? {} : { messageID };
  }

  #rules(mode: PermissionMode = this.#config.permission_mode, agent: string | null = this.#config.agent_mode): Rule[] {
    const own = configuredRules(this.#own, agentFor(mode, agent) ?? "build");
    return permissionRules(mode, { own, freeAgents: this.#freeAgents, data: this.#server.dataDir });
  }

  /** Rules are appended, so they are given only when others stand last. */
  async #enforce(id: string, present: unknown, rules = this.#rules()): Promise<void> {
    if (endsWith(present, rules)) return;
    const answer = await this.#call("PATCH", `/session/${id}`, { permission: rules });
    if (answer.status >= 300) throw new AgentError("agent_refused", `OpenCode refused the mode: ${refusalOf(answer)}`);
  }

  #idOf(answer: Answer, complaint: string): string {
    const id = str(rec(answer.body).id);
    if (answer.status < 300 && id !== undefined) return id;
    throw new AgentError("agent_refused", `OpenCode ${complaint}: ${refusalOf(answer)}`);
  }

  async #addMcp(server: McpServer): Promise<void> {
    const config =
      server.type === "stdio"
        ? { type: "local", command: [server.command, ...(server.args ?? [])], environment: server.env ?? {}, enabled: true }
        : { type: "remote", url: server.url, headers: server.headers ?? {}, enabled: true };
    const answer = await this.#call("POST", "/mcp", { name: server.name, config });
    if (answer.status >= 300)
      throw new AgentError("agent_refused", `OpenCode refused the MCP server ${server.name}: ${refusalOf(answer)}`);
  }

  #call(method: string, path: string, body?: unknown, timeoutMs?: number): Promise<Answer> {
    return this.#server.request(method, path, {
      directory: this.#directory,
      ...(body === undefined ? {} : { body }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  async prompt(prompt: Prompt): Promise<void> {
    this.#mustBeOpen();
    if (!this.#config.trusted) await mustHaveNoPlugins(this.#directory);
    await this.#server.repair(this.#directory);
    const intent = readIntent(prompt, this.#commands);
    const files = prompt.attachments.map(fileInput);
    const path = `/session/${this.#id}`;
    switch (intent.kind) {
      case "prompt":
        // A refusal is recorded like any answer, and reported as a failed turn.
        await this.#call("POST", `${path}/prompt_async`, { ...this.#choice(), parts: promptParts(prompt) });
        return;
      case "command": {
        const { agent, model, variant } = this.#choice();
        const named = {
          ...(agent ? { agent } : {}),
          ...(variant ? { variant } : {}),
          ...(model ? { model: this.#config.model } : {}),
        };
        const body = {
          command: intent.command,
          arguments: intent.arguments,
          ...named,
          ...(files.length > 0 ? { parts: files } : {}),
        };
        return this.#start(`${path}/command`, body);
      }
      case "compact":
        return this.#start(`${path}/summarize`, await this.#model());
      case "undo":
        return this.#undo(path);
      case "redo":
        return this.#aside(() => this.#call("POST", `${path}/unrevert`, {}));
      default:
        return intent satisfies never;
    }
  }

  /** Model, variant and agent are chosen with every message. */
  #choice(): { model?: { providerID: string; modelID: string }; agent?: string; variant?: string; system?: string } {
    const { permission_mode, agent_mode, variant, system_prompt } = this.#config;
    const model = readModel(this.#config.model);
    const agent = agentFor(permission_mode, agent_mode);
    return {
      ...(model ? { model } : {}),
      ...(agent ? { agent } : {}),
      ...(variant && variant !== "default" ? { variant } : {}),
      ...(system_prompt ? { system: system_prompt } : {}),
    };
  }

  /** The answer comes when the work is done; the message is given with the request. */
  #start(path: string, body: unknown): Promise<void> {
    this.#call("POST", path, body, BLOCKING_MS).catch(() => {});
    return Promise.resolve();
  }

  async #model(): Promise<{ providerID: string; modelID: string }> {
    const chosen = readModel(this.#config.model) ?? readModel(this.#defaultModel);
    if (chosen) return chosen;
    const { model } = rec((await this.#call("GET", `/session/${this.#id}`)).body);
    const { id, providerID } = rec(model);
    if (typeof id === "string" && typeof providerID === "string") return { modelID: id, providerID };
    throw new AgentError("agent_refused", "There is nothing to compact yet. Send a message first.");
  }

  async #undo(path: string): Promise<void> {
    await this.#aside(async () => {
      const { body: session } = await this.#call("GET", path);
      const before = str(rec(rec(session).revert).messageID);
      const list = arr((await this.#call("GET", `${path}/message`)).body).map((message) => rec(rec(message).info));
      const user = list.filter(({ role, id }) => role === "user" && (before === undefined || String(id) < before)).at(-1);
      if (!user) throw new AgentError("agent_refused", "There is no message to undo.");
      return this.#call("POST", `${path}/revert`, { messageID: user.id });
    });
  }

  /** For what is no turn to OpenCode: it says nothing before and after. */
  async #aside(work: () => Promise<Answer>): Promise<void> {
    this.#port?.say([{ do: "turn.start", initiator: "client" }]);
    try {
      const answer = await work();
      if (answer.status >= 300) throw new AgentError("agent_refused", `OpenCode refused: ${refusalOf(answer)}`);
      this.#port?.say([{ do: "turn.end", stop_reason: "end_turn" }]);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const details = { error_source: "agent" as const, native_code: "refused" };
      this.#port?.say([
        { do: "error", error: { message, code: "execution_error", details } },
        { do: "turn.end", stop_reason: "error", error_code: "execution_error" },
      ]);
    }
  }

  /** A prompt sent while it works is taken up in the same run. */
  async steer(prompt: Prompt): Promise<void> {
    this.#mustBeOpen();
    const body = { ...this.#choice(), parts: promptParts(prompt) };
    const answer = await this.#call("POST", `/session/${this.#id}/prompt_async`, body);
    if (answer.status >= 300) throw new AgentError("agent_refused", `OpenCode refused the message: ${refusalOf(answer)}`);
  }

  async interrupt(): Promise<void> {
    await this.#call("POST", `/session/${this.#id}/abort`);
  }

  async configure(patch: ConfigPatch): Promise<"done" | "restart"> {
    this.#mustBeOpen();
    if (patch.model && !readModel(patch.model))
      throw new AgentError("agent_refused", `Write the model as provider/model, not ${patch.model}.`);
    this.#mustKnow(patch.agent_mode ?? null);
    const next = { ...this.#config, ...patch };
    const { permission_mode: mode } = next;
    if (
      this.#config.permission_mode === "plan" &&
      mode !== "plan" &&
      next.agent_mode === "plan" &&
      patch.agent_mode === undefined
    )
      next.agent_mode = "build";
    if (mode !== this.#config.permission_mode) {
      // 1.18: a running turn keeps the rules it began with.
      if (this.#server.isBusy(this.#id)) return "restart";
      await this.#enforce(this.#id, null, this.#rules(mode, next.agent_mode));
    }
    Object.assign(this.#config, next);
    return "done";
  }

  /** What needs no answer of a person: requests that the session's rules do not reach, and those the person allowed for good. */
  #asked({ id, session, permission, patterns }: AskedPermission): void {
    this.#answers.asked(id, session);
    const { permission_mode: mode } = this.#config;
    const unasked = (session !== this.#id || permission === "doom_loop") && allowsUnasked(mode, permission);
    const remembered = this.#always.filter((given) => given.permission === permission).flatMap((given) => given.patterns);
    const covered = patterns.length > 0 && patterns.every((text) => remembered.some((pattern) => matches(text, pattern)));
    if (!unasked && !covered) return;
    this.#port?.say([
      { do: "permission.resolve", key: id, status: "approved", resolved_by: "policy", reply: "once", option_id: "once" },
    ]);
    const send = (): Promise<void> => this.#answer(`/permission/${id}/reply`, { reply: "once" });
    void this.#answers.give(id, session, { rejects: false, send }).catch(() => {});
  }

  /**
   * 1.18 keeps `always` for the whole directory, above the rules of every session in it, plan sessions too. So it is remembered here, for this session, and
   * the request is allowed once.
   */
  async replyPermission(native: unknown, reply: PermissionReply): Promise<void> {
    const { request_id, session_id, version, choices } = nativeRequest(native);
    const { remember, ...answer } = answerFor(choices, reply) ?? { reply: "reject" };
    if (remember) this.#always.push(remember);
    const path = version === 2 ? `/api/session/${session_id}/permission/${request_id}/reply` : `/permission/${request_id}/reply`;
    const send = (): Promise<void> => this.#answer(path, { ...answer, ...(reply.message ? { message: reply.message } : {}) });
    const rejects = answer.reply === "reject";
    await this.#answers.give(request_id, session_id, { rejects, send });
  }

  async replyQuestion(native: unknown, answers: string[][] | null): Promise<void> {
    const { request_id, session_id, version } = nativeRequest(native);
    const path = version === 2 ? `/api/session/${session_id}/question/${request_id}` : `/question/${request_id}`;
    if (answers === null) await this.#answer(`${path}/reject`);
    else await this.#answer(`${path}/reply`, { answers });
  }

  /** Not found: somebody else was faster, or it went with an abort. */
  async #answer(path: string, body?: unknown): Promise<void> {
    const answer = await this.#call("POST", path, body);
    if (answer.status >= 300 && answer.status !== 404)
      throw new AgentError("agent_refused", `OpenCode refused the answer: ${refusalOf(answer)}`);
  }

  /** 1.18 takes any name, and fails every turn of one it does not know. */
  #mustKnow(agent: string | null): void {
    if (agent === null || this.#agents.has(agent)) return;
    throw new AgentError("agent_refused", `OpenCode has no agent ${agent}. It has: ${[...this.#agents].join(", ")}.`);
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new AgentError("agent_gone", "The connection is closed. Send the message again.");
  }

  setPaused(paused: boolean): void {
    this.#server.setPaused(paused);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // The server would work on for nobody.
    if (this.#server.isBusy(this.#id))
      await this.#call("POST", `/session/${this.#id}/abort`, undefined, ABORT_MS).catch(() => null);
    this.#server.detach(this.#id);
    if (!this.#server.sharesDirectory(this.#directory))
      for (const { name } of this.#config.mcp_servers)
        await this.#call("POST", `/mcp/${encodeURIComponent(name)}/disconnect`, undefined, ABORT_MS).catch(() => null);
    await this.#release();
  }
}

/** The draft's own, handed back by the session. */
function nativeRequest(native: unknown): NativeRequest {
  if (isRecord(native) && typeof native.request_id === "string") return native as NativeRequest;
  throw new AgentError("agent_refused", "This request is not one of OpenCode's.");
}
