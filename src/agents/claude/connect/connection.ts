// One live Claude Code process for one session: started, greeted, spoken to over stdin until the session lets it go.

import type { NdjsonMessage } from "../../../transports/index.ts";
import type { Channel, ConfigPatch, Connection, Launch, PermissionReply, Prompt } from "../../contract.ts";
import { isRecord, type JsonRecord, rec, str } from "../../json.ts";
import { type ProcessEnd, RecordedProcess } from "../../kit/recorded-process.ts";
import { toNativeMode } from "../translate/modes.ts";
import { ADDRESS } from "../translate/state.ts";
import { ClaudeTranslator } from "../translate/translator.ts";
import { BackgroundOutput } from "./background-output.ts";
import { ControlClient } from "./control-client.ts";
import { type Arguments, launchArguments, permissionArguments } from "./launch.ts";
import { userFrame } from "./prompt-content.ts";
import { permissionResponse, questionResponse } from "./replies.ts";
import { connectOrBeginAnew, nativeRequest, STOP_GRACE_MS, withinStart } from "./start.ts";

export const connectClaude = (launch: Launch): Promise<Connection> => connectOrBeginAnew(launch, start);

async function start(launch: Launch): Promise<Connection> {
  const { command, args } = await launch.host.resolveCommand();
  const env = launch.host.environment(launch.config.env);
  const connection = new ClaudeConnection(launch, { command, args, env });
  await connection.greet();
  return connection;
}

type Program = { command: string; args: string[]; env: Record<string, string> };

class ClaudeConnection implements Connection {
  readonly #launch: Launch;
  readonly #channel: Channel;
  readonly #env: Record<string, string>;
  readonly #arguments: Arguments;
  readonly #process: RecordedProcess;
  readonly #control: ControlClient;
  readonly #output: BackgroundOutput;
  /** Messages that steer and wait in the CLI's queue. */
  readonly #steered = new Set<string>();
  #greeted = false;
  /** Why a start failed, in the CLI's own words (a result without a turn). */
  #complaint = "";

  constructor(launch: Launch, program: Program) {
    this.#launch = launch;
    this.#channel = launch.host.openChannel(new ClaudeTranslator());
    this.#channel.attach(ADDRESS, launch.port);
    this.#output = new BackgroundOutput(launch.port);
    this.#env = program.env;
    this.#arguments = launchArguments(launch, program.env);
    this.#control = new ControlClient((frame) => this.#process.send(frame));
    this.#process = new RecordedProcess(
      {
        name: "Claude Code",
        command: program.command,
        args: [...program.args, ...this.#arguments.args],
        cwd: launch.config.directory,
        env: program.env,
        host: launch.host,
        abandoned: launch.abandoned,
      },
      { as: "lines", recorded: "by caller", onMessage: (message) => this.#received(message) },
      { channel: this.#channel, onEnd: (end) => this.#ended(end), lastWords: () => this.#complaint },
    );
  }

  /** The handshake: commands, models and account come with its answer. The CLI answers when it has started. */
  async greet(): Promise<void> {
    try {
      await withinStart(this.#control.request("initialize", { forwardSubagentText: true }));
      this.#greeted = true;
      this.#process.ready();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async prompt(prompt: Prompt): Promise<void> {
    if (this.#process.gone) throw this.#process.gone;
    this.#process.send(userFrame(prompt));
    await this.#process.drained();
  }

  /** The CLI itself folds it into the running turn at the next tool round, or makes a native turn of it, which the translator counts to the same turn. */
  steer(prompt: Prompt): Promise<void> {
    this.#steered.add(prompt.message_id);
    return this.prompt(prompt);
  }

  /** What steered the turn and was not taken yet ends with it. Otherwise the CLI's queue is left alone: reports of background tasks are in it, too. */
  async interrupt(): Promise<void> {
    await this.#control.request("interrupt", this.#steered.size > 0 ? { cancel_queued: true } : {});
  }

  async configure({ model, permission_mode, variant, agent_mode }: ConfigPatch): Promise<"done" | "restart"> {
    if (variant !== undefined || agent_mode !== undefined) return "restart";
    if (permission_mode !== undefined) {
      const { directory } = this.#launch.config;
      const permissions = permissionArguments(permission_mode, directory, this.#env).join(" ");
      if (permissions !== this.#arguments.permissions) return "restart";
      await this.#control.request("set_permission_mode", { mode: toNativeMode(permission_mode) });
    }
    // Any string is taken as a model, so nothing has to be taken back.
    if (model !== undefined) await this.#control.request("set_model", { model });
    return "done";
  }

  async replyPermission(native: unknown, reply: PermissionReply): Promise<void> {
    const request = nativeRequest(native);
    this.#control.respond(request.request_id, permissionResponse(request, reply));
  }

  async replyQuestion(native: unknown, answers: string[][] | null): Promise<void> {
    const request = nativeRequest(native);
    this.#control.respond(request.request_id, questionResponse(request, answers));
  }

  async stopTask(native: unknown): Promise<void> {
    await this.#control.request("stop_task", { task_id: rec(native).task_id });
  }

  setPaused(paused: boolean): void {
    this.#process.setPaused(paused);
  }

  async close(): Promise<void> {
    await this.#process.stop({ graceMs: STOP_GRACE_MS });
    this.#arguments.clean();
  }

  #received(message: NdjsonMessage): void {
    const { raw, value } = message;
    this.#output.before(value);
    message.next = this.#channel.record("out", raw, value);
    if (!this.#greeted && isRecord(value) && value.type === "result") this.#complaint = complaintOf(value);
    if (isRecord(value) && value.type === "command_lifecycle" && value.state !== "queued")
      this.#steered.delete(str(value.command_uuid) ?? "");
    this.#control.take(value);
  }

  #ended({ exit, error }: ProcessEnd): void {
    this.#arguments.clean();
    this.#output.close();
    this.#control.close(error);
    this.#launch.port.closed({ exit, message: error.message });
  }
}

function complaintOf(result: JsonRecord): string {
  const errors = Array.isArray(result.errors) ? result.errors.filter((text) => typeof text === "string") : [];
  return errors.join("\n") || str(result.result) || "";
}
