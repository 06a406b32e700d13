// One process of Amp: one turn of the conversation. It hands every line to the channel, closes stdin when the turn is over, and guards against silence.
import type { Draft } from "../../../schema/draft.ts";
import type { ErrorCode } from "../../../schema/event-data.ts";
import {
  type ExitInfo,
  encodeJsonLine,
  type NdjsonStdio,
  openNdjsonStdio,
  type ProcessRecorder,
  type RawLine,
  type SpawnError,
  withoutLineEnd,
} from "../../../transports/index.ts";
import type { Channel } from "../../contract.ts";
import { rec, str } from "../../json.ts";
import { readResultError } from "../translate/errors.ts";
import { readPlainLine, withoutEscapes } from "../translate/plain-text.ts";
import type { InputMessage } from "./launch.ts";
import { Watchdog, type WatchdogAlarm, type WatchdogTimes } from "./watchdog.ts";

/** A run that was asked to stop and does not is killed after this. */
const STOP_GRACE_MS = 5_000;
/** How long a run may take to leave after its turn when the session is closed. */
const LEAVE_GRACE_MS = 10_000;

export type RunOptions = {
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  channel: Channel;
  recorder: ProcessRecorder;
  times: WatchdogTimes;
  /** Says what no native message says. */
  say(drafts: Draft[]): void;
  onThread(id: string): void;
  /** The run left in good order, so Amp has its thread stored. */
  onThreadStored(): void;
  /** The thread waits for an approval that nobody can give. */
  onThreadBlocked(id: string): void;
};

export class AmpRun {
  readonly #options: RunOptions;
  readonly #stdio: NdjsonStdio;
  readonly #watchdog: Watchdog;
  readonly #started: Promise<SpawnError | null>;
  readonly #ended: Promise<void>;
  #settleStart: (error: SpawnError | null) => void = () => {};
  #settleEnd: () => void = () => {};
  #stdinOpen = true;
  #stopping: NodeJS.Timeout | null = null;
  #over = false;
  #result: "none" | "success" | "error" = "none";

  constructor(options: RunOptions) {
    this.#options = options;
    this.#started = new Promise((resolve) => {
      this.#settleStart = resolve;
    });
    this.#ended = new Promise((resolve) => {
      this.#settleEnd = resolve;
    });
    const { command, args, env, cwd, recorder } = options;
    this.#stdio = openNdjsonStdio({
      command,
      args,
      env,
      cwd,
      recorder,
      onMessage: ({ raw, value }) => this.#message(raw, value),
      onGarbage: ({ raw }) => this.#plainLine(raw),
      onOversize: ({ head, bytes, sha256 }) => options.channel.unparsed("out", head, `a line of ${bytes} bytes`, sha256),
      onStderrLine: (line) => this.#stderr(line),
      onExit: (exit) => this.#exit(exit),
      onSpawnError: (error) => this.#spawnFailed(error),
    });
    this.#watchdog = new Watchdog(
      options.times,
      () => this.closeInput(),
      (alarm) => this.#alarmed(alarm),
    );
    if (this.#stdio.process.pid !== null) this.#settleStart(null);
  }

  /** Null when the process runs, else why it does not. */
  get started(): Promise<SpawnError | null> {
    return this.#started;
  }

  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Whether a message can still be put into this run. */
  get open(): boolean {
    return this.#stdinOpen && !this.#over && this.#watchdog.phase !== "done" && this.#watchdog.phase !== "leaving";
  }

  send(message: InputMessage): void {
    const line = encodeJsonLine(message);
    this.#options.channel.record("in", withoutLineEnd(line), message);
    this.#stdio.sendLine(line);
    this.#watchdog.touch();
  }

  setPaused(paused: boolean): void {
    if (paused) this.#stdio.process.pauseStdout();
    else this.#stdio.process.resumeStdout();
    this.#watchdog.setPaused(paused);
  }

  /** Amp ends by itself once stdin is closed and it has nothing left to do; a run at work goes on to its end. */
  closeInput(): void {
    if (!this.#stdinOpen) return;
    this.#stdinOpen = false;
    this.#stdio.process.endStdin();
  }

  /** SIGINT makes Amp say that it was cancelled. One that does not go is killed. */
  interrupt(): void {
    if (this.#over) return;
    this.#stdio.process.kill("SIGINT");
    this.closeInput();
    this.#stopping ??= setTimeout(() => {
      this.#options.say([{ do: "turn.end", stop_reason: "interrupted" }]);
      void this.#stdio.process.stop(0);
    }, STOP_GRACE_MS);
  }

  /** Ends the run. One whose turn is over is given time to go by itself: it is just storing the thread (may: or the thread is lost). */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.closeInput();
    if (this.#watchdog.phase === "done" || this.#watchdog.phase === "leaving") await this.#endedWithin(LEAVE_GRACE_MS);
    await this.#stdio.process.stop(graceMs);
    await this.#ended;
  }

  #endedWithin(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    return Promise.race([this.#ended, late]).finally(() => clearTimeout(timer));
  }

  #message(raw: RawLine, value: unknown): void {
    const data = rec(value);
    const id = str(data.session_id);
    if (id !== undefined) this.#options.onThread(id);
    if (data.type === "result") this.#result = data.is_error === true ? "error" : "success";
    if (id !== undefined && data.type === "result" && readResultError(str(data.error) ?? "").kind === "approval")
      this.#options.onThreadBlocked(id);
    this.#watchdog.saw(value);
    this.#options.channel.record("out", raw, value);
    if (this.#watchdog.phase === "done" || this.#watchdog.phase === "leaving") this.closeInput();
  }

  #plainLine(raw: Buffer): void {
    const text = raw.toString("utf8");
    if (readPlainLine(withoutEscapes(text).trim()).kind === "login") this.#watchdog.login();
    else this.#watchdog.touch();
    this.#options.channel.record("out", raw, text);
  }

  #stderr(line: string): void {
    this.#watchdog.touch();
    this.#options.channel.record("err", line, line);
  }

  #alarmed(alarm: WatchdogAlarm): void {
    this.#options.say(alarmDrafts(alarm));
    switch (alarm.phase) {
      case "model":
      case "incomplete":
        return this.interrupt();
      case "starting":
      case "login":
      case "done":
      case "leaving":
        void this.#stdio.process.stop(STOP_GRACE_MS);
        return;
      default:
        alarm.phase satisfies never;
    }
  }

  #exit(exit: ExitInfo): void {
    const { code } = exit;
    this.#finish();
    this.#options.channel.exited(exit);
    // may: exit code 1 after an error means that the upload of the thread failed, too.
    if (this.#result === "success" || (this.#result === "error" && code === 0)) this.#options.onThreadStored();
    this.#settleEnd();
  }

  #spawnFailed(error: SpawnError): void {
    this.#finish();
    this.#settleStart(error);
    this.#settleEnd();
  }

  #finish(): void {
    this.#over = true;
    this.#stdinOpen = false;
    this.#watchdog.stop();
    if (this.#stopping) clearTimeout(this.#stopping);
  }
}

/** What people are told when a run stops talking. The run is then stopped, so nothing else will say it. */
export function alarmDrafts({ phase, after_ms }: WatchdogAlarm): Draft[] {
  const seconds = Math.round(after_ms / 1000);
  switch (phase) {
    case "model":
      return failed(
        `Amp has said nothing for ${seconds} s while the model was at work: the connection was probably lost. It was stopped; send the message again.`,
        "api_error",
        "silence",
      );
    case "incomplete":
      // Amp tells neither which of the two it was nor goes on after it.
      return failed(
        "The model's answer did not come to its end: it reached its output limit, or the model refused. Ask for less at once, or differently.",
        "output_length",
        "stop_reason_null",
      );
    case "starting":
      return failed(
        `Amp did not start within ${seconds} s: check that its server and the MCP servers can be reached.`,
        "execution_error",
        "start_timeout",
      );
    // The translator has said that a login is needed, or how the turn ended.
    case "login":
    case "done":
    case "leaving":
      return [];
    default:
      return phase satisfies never;
  }
}

const failed = (message: string, code: ErrorCode, native_code: string): Draft[] => [
  { do: "error", error: { message, code, details: { error_source: "transport", native_code, retryable: true } } },
  { do: "turn.end", stop_reason: "error", error_code: code },
];
