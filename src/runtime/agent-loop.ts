/**
 * The loop of our own agent: one session, one turn at a time. It is stateless towards the provider: each request carries the whole conversation, built from the
 * journal. After a crash, `open` and `resume` go on where the journal ends.
 */
import { ResponsesError } from "../openresponses/errors.ts";
import type { JsonObject } from "../openresponses/json.ts";
import type { AgentLoopOptions } from "./agent-loop-options.ts";
import { reachedLimit } from "./budget.ts";
import { CallRunner } from "./call-runner.ts";
import { Compactor, isTooLong } from "./compaction.ts";
import type { FrameListener } from "./frames.ts";
import { callsOf, messageItem } from "./input-items.ts";
import { Ledger } from "./ledger.ts";
import { isLoop } from "./loop-signature.ts";
import { ToolPerformer } from "./perform.ts";
import type { RecordOf } from "./records.ts";
import { RequestWriter } from "./request-body.ts";
import type { Settings } from "./settings.ts";
import type { RuntimeState } from "./state.ts";
import { type Answer, Stepper } from "./step.ts";
import type { UsedSkill } from "./tools/tool.ts";
import { errorEnd, incompleteEnd, type TurnOutcome } from "./turn-outcome.ts";

const MAX_BAD_ARGUMENTS = 3;
const LOOP_NOTE =
  "You have made the same call with the same result several times. Do something else, or say what keeps you from going on.";

/** How a turn ended. */
export type TurnEnd = RecordOf<"turn.ended">;

export class AgentLoop {
  readonly #options: AgentLoopOptions;
  readonly #ledger: Ledger;
  readonly #stepper: Stepper;
  readonly #compactor: Compactor;
  readonly #onFrame: FrameListener;
  readonly #writer = new RequestWriter();
  #abort = new AbortController();
  #running: Promise<TurnEnd> | null = null;

  private constructor(options: AgentLoopOptions, ledger: Ledger) {
    this.#options = options;
    this.#ledger = ledger;
    this.#onFrame = options.onFrame ?? (() => {});
    const { blobs, tasks, directory, registry, policy, asker, transport, retry, compactAtProvider } = options;
    const shared = { ledger, blobs, directory, onFrame: this.#onFrame };
    const performer = options.performer ?? new ToolPerformer({ ...shared, tasks });
    const calls = new CallRunner({ ...shared, registry, policy, asker, performer });
    this.#stepper = new Stepper({ ledger, transport, calls, onFrame: options.onFrame ?? null, ...(retry ? { retry } : {}) });
    const atProvider = compactAtProvider === undefined ? {} : { atProvider: compactAtProvider };
    this.#compactor = new Compactor({ ledger, stepper: this.#stepper, blobs, tasks, ...atProvider });
  }

  /** Reads the journal. A turn that was cut off is not continued before `resume`. */
  static async open(options: AgentLoopOptions): Promise<AgentLoop> {
    const ledger = await Ledger.open(options.journal, options.clock);
    if (!ledger.state.opened) {
      ledger.append({ type: "session.opened", session_id: options.sessionId, settings: options.settings });
    }
    return new AgentLoop(options, ledger);
  }

  get state(): Readonly<RuntimeState> {
    return this.#ledger.state;
  }

  get busy(): boolean {
    return this.#running !== null;
  }

  /** Starts a turn. Throws when one runs: steer it, or put the message in the queue. */
  prompt(input: string | readonly JsonObject[], skills: readonly UsedSkill[] = []): Promise<TurnEnd> {
    if (this.#running !== null) throw new Error("A turn is running: steer it, or put the message in the queue.");
    if (this.#ledger.state.turn !== null) throw new Error("A turn was cut off by a crash: resume it first.");
    return this.#start(() => {
      this.#startTurn(itemsOf(input));
      for (const skill of skills) this.takeSkill(skill);
    });
  }

  /** The person has put a skill into use. */
  takeSkill(skill: UsedSkill): void {
    this.#ledger.append({ type: "skill.used", ...skill });
  }

  /** Goes on with a turn that a crash cut off; null when there is none. */
  resume(): Promise<TurnEnd> | null {
    const { turn, settings } = this.#ledger.state;
    if (turn === null || this.#running !== null) return this.#running;
    return this.#start(() => undefined, settings.after_crash === "stop");
  }

  /** A message for the running turn: the model sees it before its next step. Without a turn it waits like a queued one. */
  steer(input: string | readonly JsonObject[]): string {
    return this.#queue(input, true);
  }

  /** A message that starts a turn of its own: when the running one has ended well, or at once when none runs. */
  enqueue(input: string | readonly JsonObject[]): string {
    const id = this.#queue(input, false);
    if (this.#running === null && this.#ledger.state.turn === null) this.#startQueued();
    return id;
  }

  /** False when it was sent already. */
  removeQueued(message_id: string): boolean {
    if (!this.#ledger.state.queue.some((message) => message.message_id === message_id)) return false;
    this.#ledger.append({ type: "message.removed", message_id, why: "removed" });
    return true;
  }

  /** Ends the running turn: its request and its tools are stopped, and every open call gets an answer. Queued messages stay. */
  async interrupt(): Promise<void> {
    this.#abort.abort();
    await this.#running?.catch(() => {});
  }

  /** Holds from the next request on. */
  changeSettings(change: Partial<Settings>): void {
    this.#ledger.append({ type: "settings.changed", settings: { ...this.#ledger.state.settings, ...change } });
  }

  /** Makes the conversation short now. False when there is nothing to be made shorter. */
  async compact(): Promise<boolean> {
    if (this.#running !== null) throw new Error("A turn is running: wait for its end, or interrupt it.");
    this.#abort = new AbortController();
    return this.#compact("request");
  }

  /** Resolves when no turn runs and the queue is empty, or a turn has ended badly. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running.catch(() => {});
  }

  /** Stops everything and makes the journal durable. */
  async close(): Promise<void> {
    await this.interrupt();
    await this.#options.tasks.close();
    await this.#ledger.durable();
  }

  #queue(input: string | readonly JsonObject[], steer: boolean): string {
    const message_id = this.#options.ids.next("message");
    this.#ledger.append({ type: "message.queued", message_id, steer, items: itemsOf(input) });
    return message_id;
  }

  #start(begin: () => void, stop = false): Promise<TurnEnd> {
    this.#abort = new AbortController();
    begin();
    const turn = this.#turn(stop).finally(() => {
      this.#running = null;
    });
    this.#running = turn;
    // The next queued message starts in the same tick, so that nobody sees the session idle in between.
    turn.then((end) => this.#next(end)).catch(() => {});
    return turn;
  }

  #startTurn(items: JsonObject[]): void {
    const turn_id = this.#options.ids.next("turn");
    this.#ledger.append({ type: "turn.started", turn_id, items });
    this.#onFrame({ type: "turn_started", turn_id });
  }

  #next(end: TurnEnd): void {
    if (end.reason === "end_turn" && this.#running === null) this.#startQueued();
  }

  #startQueued(): void {
    const [message] = this.#ledger.state.queue;
    if (message === undefined) return;
    void this.#start(() => {
      this.#ledger.append({ type: "message.removed", message_id: message.message_id, why: "sent" });
      this.#startTurn([...message.items]);
    }).catch(() => {});
  }

  async #turn(stop: boolean): Promise<TurnEnd> {
    const { state } = this.#ledger;
    const turn_id = state.turn?.id ?? "";
    let end: TurnOutcome;
    try {
      end = await this.#steps(stop);
    } catch (error) {
      end = this.#abort.signal.aborted ? { reason: "interrupted" } : errorEnd(error);
    }
    const { reason, error_code = null, message = null } = end;
    const record = this.#ledger.append({ type: "turn.ended", turn_id, reason, error_code, message });
    await this.#ledger.durable();
    this.#onFrame({ type: "turn_ended", turn_id, reason, message });
    return record as TurnEnd;
  }

  async #steps(stop: boolean): Promise<TurnOutcome> {
    const { state } = this.#ledger;
    if (stop) return this.#stopAfterCrash();
    let answer = this.#unfinishedAnswer();
    for (;;) {
      if (answer !== null) {
        const end = await this.#after(answer);
        if (end !== null) return end;
      }
      if (this.#abort.signal.aborted) return { reason: "interrupted" };
      this.#options.beforeRequest?.(state.requests + 1);
      this.#takeSteering();
      const limit = this.#limit();
      if (limit !== null) return limit;
      if (isTooLong(state.contextTokens, state.settings.context_window)) await this.#compact("window");
      answer = await this.#ask();
    }
  }

  /** The answer that a crash cut off before all its calls had an outcome. */
  #unfinishedAnswer(): Answer | null {
    const { lastResponse, lastAnswer, entries } = this.#ledger.state;
    if (lastResponse === null || lastAnswer === null || entries.at(-1) !== lastResponse) return null;
    return { ended: lastAnswer, calls: callsOf(lastResponse) };
  }

  /** Runs nothing anew; what had been started is still looked at. */
  async #stopAfterCrash(): Promise<TurnOutcome> {
    const { calls } = this.#ledger.state;
    const started = this.#unfinishedAnswer()?.calls.filter((call) => calls.get(call.key)?.status === "started") ?? [];
    await this.#stepper.runCalls(started, this.#abort.signal);
    return { reason: "interrupted", message: "The daemon was restarted. Send a message to go on." };
  }

  /** Null when the conversation was too long and has been made shorter. */
  async #ask(): Promise<Answer | null> {
    const { state } = this.#ledger;
    try {
      return await this.#stepper.ask(this.#writer.body(state), "step", this.#abort.signal);
    } catch (error) {
      const overflow = error instanceof ResponsesError && error.code === "context_overflow";
      if (!overflow || (state.turn?.overflows ?? 0) > 1 || !(await this.#compact("overflow"))) throw error;
      return null;
    }
  }

  async #after({ ended, calls }: Answer): Promise<TurnOutcome | null> {
    const { state } = this.#ledger;
    if (ended.outcome === "incomplete") return incompleteEnd(ended.reason);
    await this.#stepper.runCalls(calls, this.#abort.signal);
    if (this.#abort.signal.aborted) return { reason: "interrupted" };
    if (calls.length === 0) return state.queue.some((message) => message.steer) ? null : { reason: "end_turn" };
    if ((state.turn?.badArguments ?? 0) >= MAX_BAD_ARGUMENTS) {
      const message = `The model sent wrong arguments ${MAX_BAD_ARGUMENTS} times in a row.`;
      return { reason: "error", error_code: "execution_error", message };
    }
    return this.#checkLoop();
  }

  async #checkLoop(): Promise<TurnOutcome | null> {
    const { state } = this.#ledger;
    const { turn } = state;
    if (turn === null || !isLoop(turn.signatures)) return null;
    const end: TurnOutcome = { reason: "loop", message: "The model repeated the same call with the same result." };
    if (state.settings.mode === "bypass") {
      if (turn.loopNotes > 0) return end;
    } else if (!(await this.#mayGoOn(turn.id))) return end;
    this.#ledger.append({ type: "input.added", why: "note", items: [messageItem("developer", LOOP_NOTE)] });
    return null;
  }

  async #mayGoOn(turnId: string): Promise<boolean> {
    const digest = `loop ${turnId} ${this.#ledger.state.requests}`;
    const request = {
      call: digest,
      call_id: digest,
      tool: "loop",
      subject: { kind: "other", name: "loop" } as const,
      args: {},
      input_digest: digest,
      reason: "The model repeats the same call with the same result. May it go on?",
    };
    const answer = await this.#options.asker.ask(request, this.#abort.signal);
    return answer.decision === "allow" && answer.input_digest === digest;
  }

  #takeSteering(): void {
    for (const message of this.#ledger.state.queue.filter((one) => one.steer)) {
      this.#ledger.append({ type: "message.removed", message_id: message.message_id, why: "sent" });
      this.#ledger.append({ type: "input.added", why: "steer", items: [...message.items] });
    }
  }

  #limit(): TurnOutcome | null {
    const { turn, settings } = this.#ledger.state;
    if (turn === null) return null;
    return reachedLimit(turn, settings.limits, settings.prices, this.#ledger.now);
  }

  async #compact(trigger: "window" | "overflow" | "request"): Promise<boolean> {
    const done = await this.#compactor.compact(trigger, this.#abort.signal);
    if (done === null) return false;
    const { method, pre_tokens, post_tokens } = done;
    this.#onFrame({ type: "compacted", method, pre_tokens, post_tokens });
    return true;
  }
}

const itemsOf = (input: string | readonly JsonObject[]): JsonObject[] =>
  typeof input === "string" ? [messageItem("user", input)] : input.map((item) => ({ ...item }));
