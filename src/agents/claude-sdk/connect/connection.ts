// One query() of the Agent SDK for one session: streaming input, callbacks for permissions, its messages through Claude Code's translator.

import type { PermissionMode } from "../../../schema/event-data.ts";
import { BackgroundOutput } from "../../claude/connect/background-output.ts";
import { mcpServers, permissionSettings } from "../../claude/connect/launch.ts";
import { userFrame } from "../../claude/connect/prompt-content.ts";
import { permissionResponse, questionResponse } from "../../claude/connect/replies.ts";
import { connectOrBeginAnew, nativeRequest, STOP_GRACE_MS, withinStart } from "../../claude/connect/start.ts";
import { toNativeMode } from "../../claude/translate/modes.ts";
import { STREAMED_PROMPT } from "../../claude/translate/sdk-rows.ts";
import { ADDRESS } from "../../claude/translate/state.ts";
import { ClaudeTranslator } from "../../claude/translate/translator.ts";
import {
  AgentError,
  type Channel,
  type ConfigPatch,
  type Connection,
  type ExitInfo,
  type Launch,
  type PermissionReply,
  type Prompt,
} from "../../contract.ts";
import { type JsonRecord, rec, str, toJson } from "../../json.ts";
import { Callbacks, record } from "./callbacks.ts";
import { PromptStream } from "./prompt-stream.ts";
import { loadSdk, type Query, type Sdk, type SdkOptions } from "./sdk-module.ts";
import { SdkChild } from "./spawned-process.ts";

export const connectSdk = (launch: Launch): Promise<Connection> => connectOrBeginAnew(launch, start);

async function start(launch: Launch): Promise<Connection> {
  const { sdk } = await loadSdk(launch.host);
  const connection = new SdkConnection(launch, sdk);
  await connection.greet();
  return connection;
}

class SdkConnection implements Connection {
  readonly #launch: Launch;
  readonly #channel: Channel;
  readonly #callbacks: Callbacks;
  readonly #output: BackgroundOutput;
  readonly #prompts = new PromptStream();
  readonly #query: Query;
  readonly #finished: Promise<void>;
  readonly #startedWith: string;
  #child: SdkChild | null = null;
  #exit: ExitInfo | null = null;
  #gone: AgentError | null = null;

  constructor(launch: Launch, sdk: Sdk) {
    this.#launch = launch;
    this.#channel = launch.host.openChannel(new ClaudeTranslator());
    this.#channel.attach(ADDRESS, launch.port);
    this.#callbacks = new Callbacks(this.#channel);
    this.#output = new BackgroundOutput(launch.port);
    this.#startedWith = toJson(this.#permissions(launch.config.permission_mode));
    const facts = this.#facts();
    record(this.#channel, "in", { $sdk: "query", prompt: STREAMED_PROMPT, options: facts });
    this.#query = sdk.query({ prompt: this.#prompts, options: { ...facts, ...this.#hooks() } });
    this.#finished = this.#listen();
  }

  async greet(): Promise<void> {
    const failed = this.#finished.then(() => Promise.reject(this.#gone));
    try {
      const value = await withinStart(Promise.race([this.#query.initializationResult(), failed]));
      record(this.#channel, "out", { $sdk: "call_return", name: "initializationResult", value });
    } catch (error) {
      await this.close();
      const text = error instanceof Error ? error.message : String(error);
      throw this.#gone ?? new AgentError("agent_failed_to_start", text, { cause: error });
    }
  }

  async prompt(prompt: Prompt): Promise<void> {
    if (this.#gone) throw this.#gone;
    const frame = userFrame(prompt);
    record(this.#channel, "in", frame);
    this.#prompts.push(frame);
  }

  steer(prompt: Prompt): Promise<void> {
    return this.prompt(prompt);
  }

  async interrupt(): Promise<void> {
    await this.#call("interrupt", [], () => this.#query.interrupt());
  }

  async configure({ model, permission_mode, variant, agent_mode }: ConfigPatch): Promise<"done" | "restart"> {
    if (variant !== undefined || agent_mode !== undefined) return "restart";
    if (permission_mode !== undefined && toJson(this.#permissions(permission_mode)) !== this.#startedWith) return "restart";
    const mode = permission_mode === undefined ? undefined : toNativeMode(permission_mode);
    if (mode !== undefined) await this.#call("setPermissionMode", [mode], () => this.#query.setPermissionMode(mode));
    if (model !== undefined) await this.#call("setModel", [model], () => this.#query.setModel(model ?? undefined));
    return "done";
  }

  async replyPermission(native: unknown, reply: PermissionReply): Promise<void> {
    const request = nativeRequest(native);
    this.#callbacks.answer(request.request_id, permissionResponse(request, reply));
  }

  async replyQuestion(native: unknown, answers: string[][] | null): Promise<void> {
    const request = nativeRequest(native);
    this.#callbacks.answer(request.request_id, questionResponse(request, answers));
  }

  async stopTask(native: unknown): Promise<void> {
    const id = str(rec(native).task_id) ?? "";
    const { stopTask } = this.#query;
    if (!stopTask)
      throw new AgentError("unsupported", "This version of the Agent SDK cannot stop a background command: install a newer one.");
    await this.#call("stopTask", [id], () => stopTask.call(this.#query, id));
  }

  setPaused(paused: boolean): void {
    this.#child?.process.setPaused(paused);
  }

  async close(): Promise<void> {
    this.#prompts.close();
    await this.#child?.process.stop({ graceMs: STOP_GRACE_MS });
    this.#query.close();
    await this.#finished;
  }

  /** The options that can be written down. */
  #facts(): JsonRecord {
    const { config, resume } = this.#launch;
    return {
      cwd: config.directory,
      permissionMode: toNativeMode(config.permission_mode),
      includePartialMessages: true,
      forwardSubagentText: true,
      ...(config.trusted ? {} : { settingSources: ["user"], strictMcpConfig: true }),
      systemPrompt: { type: "preset", preset: "claude_code", ...(config.system_prompt ? { append: config.system_prompt } : {}) },
      ...this.#permissions(config.permission_mode),
      ...(config.model ? { model: config.model } : {}),
      ...(config.variant ? { effort: config.variant } : {}),
      ...(config.agent_mode ? { agent: config.agent_mode } : {}),
      ...(config.skills === undefined ? {} : { plugins: [{ type: "local", path: config.skills }] }),
      ...(resume ? { resume: resume.native_session_id, forkSession: resume.fork } : {}),
      ...(resume?.fork && resume.at !== undefined ? { resumeSessionAt: resume.at } : {}),
    };
  }

  /** What of the options a permission mode decides: a change of mode that changes this needs a new process. */
  #permissions(mode: PermissionMode): JsonRecord {
    if (mode === "bypass") return { allowDangerouslySkipPermissions: true };
    const { config, host } = this.#launch;
    const settings = permissionSettings(mode, config.directory, host.environment(config.env));
    return settings === undefined ? {} : { settings };
  }

  /** The options that must not: functions, and what may be secret. */
  #hooks(): SdkOptions {
    const { config, host } = this.#launch;
    return {
      env: host.environment(config.env),
      ...(config.mcp_servers.length > 0 ? { mcpServers: mcpServers(config.mcp_servers) } : {}),
      canUseTool: (name, input, options) =>
        this.#callbacks.ask("canUseTool", [name, input], options, { behavior: "deny", message: "The request was withdrawn." }),
      onElicitation: (request, options) => this.#callbacks.ask("onElicitation", [request], options, { action: "cancel" }),
      spawnClaudeCodeProcess: (request) => {
        this.#child = new SdkChild(request, this.#launch, {
          channel: this.#channel,
          // Reported with the end of the query, whose reason the SDK knows.
          recordExit: (exit) => {
            this.#exit = exit;
          },
          onEnd: ({ exit, error }) => {
            if (!exit) host.log("warn", "the SDK's process could not be started", { error: error.message });
          },
        });
        return this.#child;
      },
    };
  }

  async #listen(): Promise<void> {
    try {
      for await (const message of this.#query) {
        this.#output.before(message);
        this.#channel.record("out", toJson(message), message);
      }
      this.#ended({ $sdk: "done" }, "The Agent SDK ended the session.");
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      this.#ended({ $sdk: "thrown", name, message }, message);
    }
  }

  #ended(row: JsonRecord, message: string): void {
    const { code, signal } = this.#exit ?? { code: null, signal: null };
    this.#channel.exited(this.#exit ?? { code, signal, stderr: { head: null, tail: null, truncated: false } }, {
      ...row,
      code,
      signal,
    });
    this.#gone = new AgentError("agent_gone", message);
    this.#output.close();
    this.#launch.port.closed({ exit: this.#exit, message });
  }

  async #call(name: string, args: unknown[], call: () => Promise<unknown>): Promise<void> {
    if (this.#gone) throw this.#gone;
    record(this.#channel, "in", { $sdk: "call", name, args });
    try {
      const value = (await call()) ?? null;
      record(this.#channel, "out", { $sdk: "call_return", name, args, value });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      record(this.#channel, "out", { $sdk: "call_error", name, message });
      throw new AgentError("agent_refused", `The Agent SDK refused ${name}: ${message}`, { cause: error });
    }
  }
}
