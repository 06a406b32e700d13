// Drives Amp for one session. Each turn is a process of its own, and `amp threads continue` makes the turns one conversation. That is the robust way:
// - only the end of a process gives a reliable end of a turn (`result`): an empty answer has no message at all while stdin stays open;
// - SIGINT, the only way to interrupt, ends the process anyway, and so does every error;
// - permission mode, agent mode and MCP servers are given at start, so they can change between turns;
// - nothing has to be kept alive or noticed dead between turns, and dormancy costs nothing.
// The price is Amp's start-up in each turn. Stdin stays open until the model has ended its turn, so that a message can steer it.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ProcessRegistry } from "../../../transports/index.ts";
import {
  AgentError,
  type Channel,
  type ConfigPatch,
  type Connection,
  type Launch,
  type PermissionReply,
  type Prompt,
  type SessionConfig,
} from "../../contract.ts";
import { AMP_ADDRESS, AmpTranslator } from "../translate/translator.ts";
import { ampVersion, hasInThread } from "./ask-amp.ts";
import { inputMessage, planRun, RUN_FILES, takesImages } from "./launch.ts";
import { AmpRun } from "./run.ts";
import { UnstoredPrompts } from "./unstored-prompts.ts";
import { watchdogTimes } from "./watchdog.ts";

export async function connectAmp(launch: Launch): Promise<Connection> {
  if (launch.resume?.fork) throw new AgentError("unsupported", "Amp cannot branch a session. Start a new one instead.");
  const { command, args } = await launch.host.resolveCommand();
  return new AmpConnection(launch, command, args);
}

class AmpConnection implements Connection {
  readonly #launch: Launch;
  readonly #command: string;
  readonly #baseArgs: string[];
  readonly #channel: Channel;
  readonly #recorder: ProcessRegistry;
  readonly #dir: string;
  #config: SessionConfig;
  readonly #unstored: UnstoredPrompts;
  #thread: string | null;
  #run: AmpRun | null = null;
  #inlineImages: boolean | null = null;
  #closed = false;
  #paused = false;

  constructor(launch: Launch, command: string, baseArgs: string[]) {
    this.#launch = launch;
    this.#command = command;
    this.#baseArgs = baseArgs;
    this.#config = launch.config;
    this.#dir = join(launch.host.stateDir, "sessions", safeName(launch.config.session_id));
    this.#unstored = new UnstoredPrompts(join(this.#dir, "unstored.json"));
    this.#thread = launch.resume?.native_session_id ?? null;
    this.#recorder = new ProcessRegistry(launch.host.processDir);
    this.#channel = launch.host.openChannel(new AmpTranslator());
    this.#channel.attach(AMP_ADDRESS, launch.port);
    if (launch.config.model !== null) this.#tellIgnored("model", "Amp chooses its models by itself: set agent_mode instead.");
    if (launch.config.system_prompt !== null)
      this.#tellIgnored("system_prompt", "Amp takes no system prompt: use an AGENTS.md file.");
  }

  async prompt(prompt: Prompt): Promise<void> {
    // The turn before is over, but its process may need a moment to store the thread.
    await this.#run?.ended;
    this.#mustBeOpen();
    const env = this.#launch.host.environment(this.#config.env);
    await this.#findThread(env);
    const { args } = await planRun(this.#config, this.#thread, env, {
      dir: this.#dir,
      trustRepository: this.#launch.host.settings.trust_repository === true,
      version: () => ampVersion(this.#command, this.#baseArgs, env, this.#recorder),
    });
    const inlineImages = await this.#images(prompt, env);
    const carried = this.#thread === null ? this.#unstored.texts : [];
    const message = await inputMessage(prompt, { dir: this.#dir, inlineImages, carried });
    // Asked again: what is started after the end would stay.
    this.#mustBeOpen();
    const run = new AmpRun({
      start: {
        name: "Amp",
        command: this.#command,
        args: [...this.#baseArgs, ...args],
        env,
        cwd: this.#config.directory,
        host: this.#launch.host,
      },
      channel: this.#channel,
      times: watchdogTimes(this.#launch.host.settings.watchdog),
      say: (drafts) => this.#launch.port.say(drafts),
      onThread: (id) => this.#sawThread(id),
      onThreadStored: () => this.#stored(),
      onThreadBlocked: (id) => this.#unstored.block(id),
    });
    this.#run = run;
    if (this.#paused) run.setPaused(true);
    const error = await run.started;
    if (error) throw error;
    if (this.#thread === null || this.#unstored.isDoubtful(this.#thread)) this.#unstored.add(prompt.text);
    run.send(message);
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new AgentError("agent_gone", "The session was closed while the message waited.");
  }

  /** A thread nobody can continue is given up; what was said in it goes along with the next message. */
  async #findThread(env: Record<string, string>): Promise<void> {
    const thread = this.#thread;
    if (thread === null) return;
    if (this.#unstored.isBlocked(thread)) this.#thread = null;
    else if (!this.#unstored.isDoubtful(thread)) return;
    else if (
      await hasInThread(this.#command, this.#baseArgs, env, { thread, text: this.#unstored.texts.at(-1) ?? "" }, this.#recorder)
    )
      this.#unstored.clear();
    else this.#thread = null;
  }

  #sawThread(id: string): void {
    if (id === this.#thread) return;
    this.#thread = id;
    this.#unstored.began(id);
  }

  /** may: a thread with an unanswered approval can never be continued. The next message begins a new one, which is informed of the old. */
  #stored(): void {
    this.#unstored.clear();
    if (this.#thread !== null && this.#unstored.isBlocked(this.#thread))
      this.#unstored.add(
        `(This continues the Amp thread ${this.#thread}: its last tool call needed an approval that could not be given.)`,
      );
  }

  /** Amp cancels the tool that runs and turns to the new message. */
  async steer(prompt: Prompt): Promise<void> {
    const env = this.#launch.host.environment(this.#config.env);
    const message = await inputMessage(prompt, { dir: this.#dir, inlineImages: await this.#images(prompt, env), steer: true });
    if (!this.#run?.open)
      throw new AgentError("agent_refused", "Amp takes no more messages in this turn. Queue the message instead.");
    this.#run.send(message);
  }

  async interrupt(): Promise<void> {
    this.#run?.interrupt();
  }

  /** Nothing runs between turns, so a change holds from the next turn on. */
  async configure(patch: ConfigPatch): Promise<"done"> {
    this.#config = { ...this.#config, ...patch };
    return "done";
  }

  async replyPermission(_native: unknown, _reply: PermissionReply): Promise<void> {
    throw new AgentError(
      "unsupported",
      "Amp cannot ask: its permissions are decided before a turn. Change permission_mode instead.",
    );
  }

  async replyQuestion(): Promise<void> {
    throw new AgentError("unsupported", "Amp asks no questions that could be answered here.");
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#run?.setPaused(paused);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#run?.stop();
    this.#run = null;
    this.#channel.detach(AMP_ADDRESS);
    // Copies of the user's settings and keys. Attachments stay: the conversation may come back to them.
    for (const name of RUN_FILES) await rm(join(this.#dir, name), { force: true });
  }

  async #images(prompt: Prompt, env: Record<string, string>): Promise<boolean> {
    if (prompt.attachments.length === 0) return true;
    this.#inlineImages ??= takesImages(await ampVersion(this.#command, this.#baseArgs, env, this.#recorder));
    return this.#inlineImages;
  }

  #tellIgnored(setting: string, advice: string): void {
    this.#launch.port.say([
      { do: "event", type: "agent.notice", data: { name: "setting_ignored", detail: { setting, advice } } },
    ]);
  }
}

const safeName = (id: string): string => id.replaceAll(/[^\w.-]/g, "_").replace(/^\.+/, "_");
