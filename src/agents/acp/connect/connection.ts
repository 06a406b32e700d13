// One session on one ACP process: opened or taken up, prompted, interrupted, configured, closed.
import { setTimeout as delay } from "node:timers/promises";
import type { PermissionMode } from "../../../schema/event-data.ts";
import {
  AgentError,
  type AgentTerminals,
  type Channel,
  type ConfigPatch,
  type Connection,
  type Launch,
  type PermissionReply,
  type Prompt,
} from "../../contract.ts";
import { type JsonRecord, rec, str } from "../../json.ts";
import { asText } from "../../plain-text.ts";
import type { AcpDefinition } from "../definitions.ts";
import { quirksOf } from "../translate/quirks.ts";
import { AcpTranslator } from "../translate/translator.ts";
import { STEER } from "../translate/turns.ts";
import type { Abilities } from "./abilities.ts";
import { AcpClient } from "./client.ts";
import { ClientFiles } from "./client-files.ts";
import { Configuration } from "./configuration.ts";
import { GeminiHistory } from "./gemini-history.ts";
import { AcpLine, type LineHandlers } from "./line.ts";
import { LiveSettings } from "./live-settings.ts";
import { merged, promptBlocks, sessionParams } from "./requests.ts";

const OPEN_TIMEOUT_MS = 120_000;
const CLOSE_TIMEOUT_MS = 1_500;
/** A replay after the answer is over when nothing has come for so long. */
const REPLAY_QUIET_MS = 250;
const REPLAY_LIMIT_MS = 10_000;

/** `unspoken`: native sessions without a prompt so far. Most agents keep nothing of them, so such a one is opened anew instead of taken up. */
export async function connectAcp(definition: AcpDefinition, launch: Launch, unspoken = new Set<string>()): Promise<Connection> {
  const connection = new AcpConnection(definition, launch, unspoken);
  await connection.open();
  return connection;
}

class AcpConnection implements Connection {
  readonly #definition: AcpDefinition;
  readonly #launch: Launch;
  readonly #unspoken: Set<string>;
  readonly #translator: AcpTranslator;
  readonly #channel: Channel;
  readonly #client: AcpClient;
  readonly #terminals: AgentTerminals | null;
  #line: AcpLine | null = null;
  #abilities: Abilities | null = null;
  #settings: LiveSettings | null = null;
  #open: Configuration | null = null;
  #sessionId = "";
  /** Prompts that are not answered yet. */
  #prompts = 0;
  /** Only where the agent offers it. */
  steer?: NonNullable<Connection["steer"]>;
  #ready = false;
  #closing = false;
  #lastUpdate = 0;
  /** Where the agent keeps what was said, when we must look after it. */
  readonly #history: GeminiHistory | null;

  constructor(definition: AcpDefinition, launch: Launch, unspoken: Set<string>) {
    this.#unspoken = unspoken;
    this.#definition = definition;
    this.#launch = launch;
    const { config, host } = launch;
    const quirks = quirksOf(definition.quirks);
    this.#translator = new AcpTranslator({ quirks });
    this.#channel = host.openChannel(this.#translator);
    const environment = host.environment(config.env);
    this.#history =
      quirks.fragileHistory && launch.resume !== null ? new GeminiHistory(environment, launch.resume.native_session_id) : null;
    const files = new ClientFiles(config.directory, quirks.missingFile ?? "error", () => this.#hasRead());
    const open = host.openTerminals;
    this.#terminals =
      open === undefined
        ? null
        : open({
            session_id: config.session_id,
            directory: (asked) => files.directory(asked),
            environment,
            onOutput: (id, data) => this.#say(this.#translator.clientTerminal(this.#sessionId, id, { data })),
            onExit: (id, exit) => this.#say(this.#translator.clientTerminal(this.#sessionId, id, exit)),
          });
    this.#client = new AcpClient({
      files,
      terminals: this.#terminals,
      policy: () => this.#open?.policy ?? "ask",
      directory: config.directory,
      change: (id) => this.#translator.change(id),
      // What is asked while the session is being opened waits for it.
      reaches: (session) => session !== "" && (this.#sessionId === "" || this.#translator.address(session) === this.#sessionId),
      onPolicy: (id, option) => {
        const key = this.#translator.keyOf(id);
        if (key !== null)
          this.#say([
            { do: "permission.resolve", key, status: "approved", resolved_by: "policy", reply: "once", option_id: option.id },
          ]);
      },
    });
  }

  async open(): Promise<void> {
    const { config, host } = this.#launch;
    const history = await this.#history?.settle();
    const handlers: LineHandlers = {
      channel: this.#channel,
      onRequest: (method, params, id, respond) => this.#client.handle(method, params, id, respond),
      onUpdate: (params) => this.#onUpdate(params),
      onCancel: (id) => this.#client.withdraw(id),
      onElicited: (elicitation) => this.#client.completed(elicitation),
      onExit: (exit) => {
        void this.#terminals?.closeAll();
        if (this.#ready && !this.#closing) this.#launch.port.closed({ exit });
      },
    };
    const { line, abilities } = await AcpLine.open(host, this.#definition, config, handlers, this.#launch.abandoned);
    this.#line = line;
    this.#abilities = abilities;
    if (abilities.steer) this.steer = (prompt) => this.#steer(prompt);
    try {
      await this.#openSession(line, abilities, history === "unspoken");
      await this.#mustBeOpen().apply();
      if (!line.alive) throw new AgentError("agent_failed_to_start", `${this.#definition.name} ended while it started.`);
      this.#ready = true;
      line.ready();
    } catch (error) {
      const explained = line.explain(error);
      await this.#shutDown();
      throw explained;
    }
  }

  async prompt(prompt: Prompt): Promise<void> {
    const line = this.#alive();
    const { directory, trusted } = this.#launch.config;
    if (!trusted) await this.#definition.directory.restriction?.mustHold?.(directory);
    const blocks = promptBlocks({ ...prompt, text: asText(prompt) }, this.#mustKnow());
    this.#unspoken.delete(this.#sessionId);
    // The answer is the end of the turn: the translator reports it, and the exit if there is none.
    this.#prompts += 1;
    this.#client.stopped();
    line
      .ask("session/prompt", { sessionId: this.#sessionId, prompt: blocks })
      .catch(() => {})
      .finally(() => {
        this.#prompts -= 1;
        if (this.#prompts === 0) this.#client.stopped();
      });
  }

  async #steer(prompt: Prompt): Promise<"idle" | undefined> {
    const line = this.#alive();
    const blocks = promptBlocks({ ...prompt, text: asText(prompt) }, this.#mustKnow());
    const params = { sessionId: this.#sessionId, prompt: blocks, _meta: { steering: { idleBehavior: "promptRequired" } } };
    const answer = rec(
      await line.ask(STEER, params, OPEN_TIMEOUT_MS).catch((error: unknown) => {
        throw line.explain(error);
      }),
    );
    return str(answer.outcome) === "promptRequired" ? "idle" : undefined;
  }

  async interrupt(): Promise<void> {
    this.#alive().peer.notify("session/cancel", { sessionId: this.#sessionId });
    this.#client.cancelAll(this.#prompts > 0);
  }

  async configure(patch: ConfigPatch): Promise<"done" | "restart"> {
    this.#alive();
    return this.#mustBeOpen().change(patch, this.#prompts === 0);
  }

  #meta(mode: PermissionMode): JsonRecord {
    const { config, host } = this.#launch;
    return this.#definition.sessionMeta?.(mode, config.directory, host.environment(config.env)) ?? {};
  }

  async replyPermission(native: unknown, reply: PermissionReply): Promise<void> {
    const edited = reply.reply !== "reject" && reply.updated_input !== undefined && reply.updated_input !== null;
    this.#client.replyPermission(native, edited ? { ...reply, reply: "reject", option_id: null } : reply);
    if (edited)
      throw new AgentError("unsupported", `${this.#definition.name} takes no edited input over ACP. The request was rejected.`);
  }

  async replyQuestion(native: unknown, answers: string[][] | null): Promise<void> {
    this.#client.replyQuestion(native, answers);
  }

  setPaused(paused: boolean): void {
    this.#line?.setPaused(paused);
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    const line = this.#line;
    if (line?.alive) {
      line.peer.notify("session/cancel", { sessionId: this.#sessionId });
      this.#client.cancelAll(true);
      if (this.#abilities?.close)
        await line.ask("session/close", { sessionId: this.#sessionId }, CLOSE_TIMEOUT_MS).catch(() => {});
    }
    await this.#shutDown();
  }

  async #shutDown(): Promise<void> {
    this.#closing = true;
    await Promise.all([this.#terminals?.closeAll(), this.#line?.stop()]);
  }

  async #openSession(line: AcpLine, abilities: Abilities, neverSpoken: boolean): Promise<void> {
    const { config, resume } = this.#launch;
    const params = sessionParams(config, abilities, merged(this.#meta(config.permission_mode), line.meta));
    const sessionId = resume?.native_session_id ?? "";
    if (resume === null || neverSpoken || this.#unspoken.delete(sessionId)) {
      this.#entered(line, rec(await line.ask("session/new", params, OPEN_TIMEOUT_MS)));
      this.#unspoken.add(this.#sessionId);
      return;
    }
    if (resume.fork) {
      if (!abilities.fork) throw new AgentError("unsupported", `${this.#definition.name} cannot branch a session.`);
      return this.#entered(line, rec(await line.ask("session/fork", { ...params, sessionId }, OPEN_TIMEOUT_MS)));
    }
    const method = abilities.resume ? "session/resume" : abilities.load ? "session/load" : null;
    if (method === null) throw new AgentError("unsupported", `${this.#definition.name} cannot take up an earlier session.`);
    this.#channel.attach(sessionId, this.#launch.port);
    const result = await line.ask(method, { ...params, sessionId }, OPEN_TIMEOUT_MS).catch((error: unknown) => {
      throw this.#notTakenUp(line.explain(error));
    });
    this.#enter(line, sessionId, rec(result));
    await this.#history?.loaded();
    if (method === "session/load" && this.#translator.quirks.lateReplay) await this.#replayOver();
  }

  #notTakenUp(error: AgentError): AgentError {
    if (error.code !== "agent_refused") return error;
    const advice =
      "The agent keeps its own copy of the conversation and may have removed it. All that was said can still be read here; go on in a new session.";
    return new AgentError("agent_refused", `${error.message} ${advice}`, { cause: error });
  }

  #entered(line: AcpLine, result: JsonRecord): void {
    const id = str(result.sessionId);
    if (id === undefined)
      throw new AgentError("agent_refused", `${this.#definition.name} opened a session but did not say which.`);
    this.#enter(line, id, result);
    this.#channel.attach(id, this.#launch.port);
  }

  #enter(line: AcpLine, id: string, result: JsonRecord): void {
    this.#sessionId = id;
    this.#settings = new LiveSettings(id, this.#mustKnow().version, (method, params) =>
      line.ask(method, params, OPEN_TIMEOUT_MS),
    );
    this.#settings.learn(result);
    this.#open = new Configuration(this.#settings, {
      name: this.#definition.name,
      config: this.#launch.config,
      quirks: this.#translator.quirks,
      meta: (mode) => this.#meta(mode),
      say: (drafts) => this.#say(drafts),
    });
  }

  /** gemini 0.61 answers session/load and then replays: a prompt sent now would mix with it. */
  async #replayOver(): Promise<void> {
    const end = Date.now() + REPLAY_LIMIT_MS;
    do await delay(REPLAY_QUIET_MS);
    while (Date.now() - this.#lastUpdate < REPLAY_QUIET_MS && Date.now() < end);
  }

  #onUpdate(params: JsonRecord): void {
    this.#lastUpdate = Date.now();
    if (str(params.sessionId) === this.#sessionId) this.#settings?.learn(rec(params.update));
  }

  #say(drafts: Parameters<Launch["port"]["say"]>[0]): void {
    if (drafts.length > 0) this.#launch.port.say(drafts);
  }

  /** Resolves when the agent has read what it was sent; rejects when there is nobody left to read it. */
  async #hasRead(): Promise<void> {
    if (this.#line !== null) await this.#alive().drained();
  }

  #alive(): AcpLine {
    if (this.#line === null || !this.#line.alive || this.#closing)
      throw new AgentError("agent_gone", `${this.#definition.name} is gone. Send the message again to start it anew.`);
    return this.#line;
  }

  #mustKnow(): Abilities {
    if (this.#abilities === null) throw new AgentError("agent_gone", `${this.#definition.name} has not started.`);
    return this.#abilities;
  }

  #mustBeOpen(): Configuration {
    if (this.#open === null) throw new AgentError("agent_gone", `${this.#definition.name} has no session.`);
    return this.#open;
  }
}
