// The line to one ACP process: starts it, shakes hands, and carries requests both ways. Everything said is recorded before it is acted on.
// Not here: what a session wants (connection.ts) and what the agent may ask of us (client.ts).
import { JsonRpcClosed, type JsonRpcPeer, type Respond } from "../../../transports/index.ts";
import { AgentError, type AgentHost, type Channel, type ExitInfo, type Launch, type SessionConfig } from "../../contract.ts";
import { type JsonRecord, num, rec, str } from "../../json.ts";
import { type RecordedProcess, RpcProcess } from "../../kit/recorded-process.ts";
import type { AcpDefinition } from "../definitions.ts";
import { quirksOf } from "../translate/quirks.ts";
import type { RpcId } from "../translate/rpc.ts";
import { type Abilities, readAbilities } from "./abilities.ts";
import { initializeParams } from "./requests.ts";
import { startFor } from "./restriction.ts";
import { offerSettings } from "./settings-file.ts";

const START_TIMEOUT_MS = 90_000;
const STOP_GRACE_MS = 2_000;
/** Most agents end by themselves when stdin does, and save the session meanwhile (gemini 0.61 loses it on a signal). With the grace above it is less than a daemon waits when it closes. */
const EOF_GRACE_MS = 4_000;

export type LineHandlers = {
  channel: Channel | null;
  onRequest(method: string, params: JsonRecord, id: RpcId, respond: Respond): unknown;
  onUpdate(params: JsonRecord): void;
  onCancel(id: RpcId): void;
  /** A link that it asked to follow has served its purpose. */
  onElicited?(elicitation: string): void;
  /** Once, when the process is gone for whatever reason. */
  onExit(exit: ExitInfo): void;
};

export class AcpLine {
  readonly host: AgentHost;
  readonly definition: AcpDefinition;
  readonly peer: JsonRpcPeer;
  /** `_meta` of requests that open a session. */
  meta: JsonRecord = {};
  readonly #process: RecordedProcess;

  private constructor(host: AgentHost, definition: AcpDefinition, start: StartOptions, handlers: LineHandlers) {
    this.host = host;
    this.definition = definition;
    const { process, peer } = new RpcProcess(
      { name: definition.name, ...start, host },
      {
        onRequest: (method, params, id, respond) => handlers.onRequest(method, rec(params), readId(id), respond),
        onNotification: (method, params) => {
          if (method === "session/update") handlers.onUpdate(rec(params));
          const elicitation = method === "elicitation/complete" ? str(rec(params).elicitationId) : undefined;
          if (elicitation !== undefined) handlers.onElicited?.(elicitation);
        },
        onCancel: (id) => handlers.onCancel(readId(id)),
      },
      { channel: handlers.channel, onEnd: ({ exit }) => exit && handlers.onExit(exit) },
    );
    this.peer = peer;
    this.#process = process;
  }

  static async open(
    host: AgentHost,
    definition: AcpDefinition,
    place: Pick<SessionConfig, "directory" | "trusted" | "env" | "skills">,
    handlers: LineHandlers,
    abandoned?: Launch["abandoned"],
  ): Promise<{ line: AcpLine; abilities: Abilities }> {
    const { command, args } = await host.resolveCommand();
    const own = { ...definition.env, ...host.environment(place.env) };
    const wanted = place.skills === undefined ? own : { ...own, ...definition.skillRoot?.(own, place.skills) };
    const way = await startFor(definition.directory, { ...place, name: definition.name, host }, wanted);
    const environment = { ...wanted, ...(await offerSettings(definition.settingsFile, host, wanted)), ...way.env };
    const start = {
      command,
      args: [...(args.length > 0 ? args : definition.args), ...way.args],
      cwd: place.directory,
      env: environment,
      abandoned,
    };
    const line = new AcpLine(host, definition, start, handlers);
    line.meta = way.meta ?? {};
    try {
      const abilities = await line.#greet();
      await line.#signIn(abilities, environment);
      return { line, abilities };
    } catch (error) {
      await line.stop();
      throw line.explain(error);
    }
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  /** Resolves when the agent has read what it was sent. */
  drained(): Promise<void> {
    return this.#process.drained();
  }

  /** Its session is open: what ends it from now on is no failed start. */
  ready(): void {
    this.#process.ready();
  }

  get alive(): boolean {
    return this.#process.gone === null;
  }

  ask(method: string, params: JsonRecord, timeoutMs?: number): Promise<unknown> {
    return this.peer.request(method, params, timeoutMs === undefined ? {} : { timeoutMs });
  }

  setPaused(paused: boolean): void {
    this.#process.setPaused(paused);
  }

  async stop(): Promise<void> {
    const eofMs = quirksOf(this.definition.quirks).staysOnEof ? 0 : EOF_GRACE_MS;
    await this.#process.stop({ graceMs: STOP_GRACE_MS, eofMs });
  }

  /** Why a request during the start failed, as an error that says what to do. */
  explain(error: unknown): AgentError {
    if (error instanceof AgentError) return error;
    const message = error instanceof Error ? error.message : String(error);
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    if (code === -32000)
      return new AgentError("agent_auth_required", `${this.definition.name} is not signed in: ${message} ${this.#authAdvice()}`, {
        cause: error,
      });
    if (error instanceof JsonRpcClosed && this.#process.gone !== null) return this.#process.gone;
    if (code === "timeout")
      return new AgentError(
        "agent_failed_to_start",
        `${this.definition.name} did not answer in time. ${this.#process.lastWords()}`,
        {
          cause: error,
        },
      );
    return new AgentError("agent_refused", `${this.definition.name} refused: ${message}${detail(error)}`, { cause: error });
  }

  async #greet(): Promise<Abilities> {
    const version = num(this.host.settings.protocol_version) ?? 1;
    const timeout = num(this.host.settings.start_timeout_ms) ?? START_TIMEOUT_MS;
    const result = rec(
      await this.ask("initialize", initializeParams(version, this.host.version, this.host.openTerminals !== undefined), timeout),
    );
    const abilities = readAbilities(result);
    if (abilities.version > 2 || abilities.version < 1)
      throw new AgentError(
        "unsupported",
        `${this.definition.name} speaks version ${abilities.version} of ACP, which is not known here. Install an older version of it.`,
      );
    return abilities;
  }

  /** Only when the configuration or a variable says how: an agent that is signed in already needs nothing. */
  async #signIn(abilities: Abilities, environment: Record<string, string>): Promise<void> {
    const wanted = str(this.host.settings.auth) ?? this.definition.auth.find(({ variable }) => environment[variable])?.method;
    if (wanted === undefined || !abilities.authMethods.some(({ id }) => id === wanted)) return;
    const method = abilities.version >= 2 ? "auth/login" : "authenticate";
    await this.ask(method, { methodId: wanted }).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new AgentError("agent_auth_required", `${this.definition.name} could not sign in with ${wanted}: ${message}`, {
        cause: error,
      });
    });
  }

  #authAdvice(): string {
    const variables = this.definition.auth.map(({ variable }) => variable);
    const set = variables.length > 0 ? `Set ${variables.join(" or ")}, or sign` : "Sign";
    return `${set} in with the agent's own program, then try again.`;
  }
}

type StartOptions = {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  abandoned: Launch["abandoned"];
};

const readId = (id: unknown): RpcId => (typeof id === "string" || typeof id === "number" ? id : null);

function detail(error: unknown): string {
  const data = typeof error === "object" && error !== null && "data" in error ? rec(error.data) : {};
  const text = str(data.details) ?? str(data.message);
  return text === undefined ? "" : ` (${text})`;
}
