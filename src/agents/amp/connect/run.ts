// One process of Amp: one turn of the conversation. It hands every line to the channel, closes stdin when the turn is over, and guards against silence.
import type { Draft } from "../../../schema/draft.ts";
import type { ErrorCode } from "../../../schema/event-data.ts";
import type { AgentError, Channel } from "../../contract.ts";
import { rec, str } from "../../json.ts";
import { type ProcessEnd, type ProcessStart, RecordedProcess } from "../../kit/recorded-process.ts";
import { readResultError } from "../translate/errors.ts";
import { readPlainLine, withoutEscapes } from "../translate/plain-text.ts";
import type { InputMessage } from "./launch.ts";
import { Watchdog, type WatchdogAlarm, type WatchdogTimes } from "./watchdog.ts";

/** A run that was asked to stop and does not is killed after this. */
const STOP_GRACE_MS = 5_000;
/** How long a run may take to leave after its turn when the session is closed. */
const LEAVE_GRACE_MS = 10_000;

export type RunOptions = {
  start: ProcessStart;
  channel: Channel;
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
  readonly #process: RecordedProcess;
  readonly #watchdog: Watchdog;
  #stdinOpen = true;
  #stopping: NodeJS.Timeout | null = null;
  #over = false;
  #result: "none" | "success" | "error" = "none";

  constructor(options: RunOptions) {
    this.#options = options;
    this.#process = new RecordedProcess(
      options.start,
      { as: "lines", onMessage: ({ value }) => this.#message(value), onText: (text) => this.#plainLine(text) },
      {
        channel: options.channel,
        onStderrLine: () => this.#watchdog.touch(),
        onEnd: (end) => this.#ended(end),
        mayStopReading: true,
      },
    );
    this.#watchdog = new Watchdog(
      options.times,
      () => this.closeInput(),
      (alarm) => this.#alarmed(alarm),
    );
  }

  /** Null when the process runs, else why it does not. */
  get started(): Promise<AgentError | null> {
    return this.#process.started;
  }

  get ended(): Promise<unknown> {
    return this.#process.ended;
  }

  /** Whether a message can still be put into this run. */
  get open(): boolean {
    return this.#stdinOpen && !this.#over && this.#watchdog.phase !== "done" && this.#watchdog.phase !== "leaving";
  }

  send(message: InputMessage): void {
    this.#process.send(message);
    this.#watchdog.touch();
  }

  setPaused(paused: boolean): void {
    this.#process.setPaused(paused);
    this.#watchdog.setPaused(paused);
  }

  /** Amp ends by itself once stdin is closed and it has nothing left to do; a run at work goes on to its end. */
  closeInput(): void {
    if (!this.#stdinOpen) return;
    this.#stdinOpen = false;
    this.#process.endInput();
  }

  /** SIGINT makes Amp say that it was cancelled. One that does not go is killed. */
  interrupt(): void {
    if (this.#over) return;
    this.#process.kill("SIGINT");
    this.closeInput();
    this.#stopping ??= setTimeout(() => {
      this.#options.say([{ do: "turn.end", stop_reason: "interrupted" }]);
      void this.#process.stop({ graceMs: 0 });
    }, STOP_GRACE_MS);
  }

  /** Ends the run. One whose turn is over is given time to go by itself: it is just storing the thread (may: or the thread is lost). */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.closeInput();
    if (this.#watchdog.phase === "done" || this.#watchdog.phase === "leaving") await this.#process.endedWithin(LEAVE_GRACE_MS);
    await this.#process.stop({ graceMs });
  }

  #message(value: unknown): void {
    const data = rec(value);
    const id = str(data.session_id);
    if (id !== undefined) this.#options.onThread(id);
    if (data.type === "result") this.#result = data.is_error === true ? "error" : "success";
    if (id !== undefined && data.type === "result" && readResultError(str(data.error) ?? "").kind === "approval")
      this.#options.onThreadBlocked(id);
    this.#watchdog.saw(value);
    if (this.#watchdog.phase === "done" || this.#watchdog.phase === "leaving") this.closeInput();
  }

  #plainLine(text: string): void {
    if (readPlainLine(withoutEscapes(text).trim()).kind === "login") this.#watchdog.login();
    else this.#watchdog.touch();
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
        void this.#process.stop({ graceMs: STOP_GRACE_MS });
        return;
      default:
        alarm.phase satisfies never;
    }
  }

  #ended({ exit }: ProcessEnd): void {
    this.#over = true;
    this.#stdinOpen = false;
    this.#watchdog.stop();
    if (this.#stopping) clearTimeout(this.#stopping);
    // may: exit code 1 after an error means that the upload of the thread failed, too.
    if (exit && (this.#result === "success" || (this.#result === "error" && exit.code === 0))) this.#options.onThreadStored();
  }
}

/** What people see when a run stops sending. The run is then stopped, so nothing else will say it. */
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
      // Amp says neither which of these it was nor goes on after it.
      return failed(
        "The model's answer did not come to its end: it reached its output limit, the provider paused it, or the model refused. Ask for less at once, or differently.",
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
  code === "output_length" ? { do: "turn.end", stop_reason: code } : { do: "turn.end", stop_reason: "error", error_code: code },
];
