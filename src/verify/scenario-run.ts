// Plays one scenario: sends its prompts, waits for its moments, acts, answers, waits for the end. Everything goes through the client of the HTTP API.
// It judges nothing but what it did itself; the runner does the rest.
import { type Dragoman, DragomanError, type SessionHandle } from "../client/index.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { CreateSession } from "../schema/session.ts";
import { Decider } from "./decider.ts";
import { EventWatch } from "./event-watch.ts";
import type { Lab } from "./lab.ts";
import { type Action, promptFor, type Scenario, type Turn, type When } from "./scenario/index.ts";
import { attachmentsOf, type Stage } from "./scenario-setup.ts";
import { isDue } from "./triggers.ts";

/** A session the scenario used, with the handle for the daemon that runs now. */
export type PlayedSession = { handle: SessionHandle; watch: EventWatch };

type PendingAction = { action: Action; cancel: AbortController; done: Promise<void>; state: "waiting" | "acting" | "done" };

/** Answers that came too late are no fault: the turn was over before they could arrive, or the request was asked again with another input. */
const TOO_LATE = new Set([
  "permission_not_found",
  "question_not_found",
  "already_answered",
  "session_ended",
  "precondition_failed",
]);

export class ScenarioRun {
  readonly sessions: PlayedSession[] = [];
  readonly failures: string[] = [];
  /** An action was refused as the scenario allows: what it expects of the rest does not count. */
  excused = false;
  /** What is waited for now, for the report of one that hangs. */
  waitingFor = "the start of the session";
  readonly #lab: Lab;
  readonly #scenario: Scenario;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  readonly #decider: Decider;
  #client: Dragoman;
  #accepted = new Set<string>();
  #pending: PendingAction[] = [];
  #answers: Promise<void>[] = [];
  /** Where each turn's events begin. */
  readonly #begins: number[] = [];
  /** The turn whose prompt was sent last, and the permissions a person was asked for in each. */
  #index = 0;
  readonly #asked = new Map<string, number>();

  constructor(lab: Lab, scenario: Scenario, stage: Stage, signal: AbortSignal) {
    this.#lab = lab;
    this.#scenario = scenario;
    this.#stage = stage;
    this.#signal = signal;
    this.#decider = new Decider(scenario.replies);
    this.#client = lab.client();
  }

  async play(): Promise<void> {
    if (await this.#refused()) return;
    for (const index of this.#scenario.turns.keys()) await this.#turn(index);
    await this.idle();
    await this.#checkAsked();
  }

  /** Opens the session; true when it was refused as the scenario expects. */
  async #refused(): Promise<boolean> {
    const expected = this.#scenario.expect?.refused === true;
    try {
      await this.#open(this.#stage.request);
    } catch (error) {
      if (expected && error instanceof DragomanError && error.code === "unsupported") return true;
      throw error;
    }
    if (expected) this.failures.push("the session was created and should be refused");
    return expected;
  }

  get #now(): PlayedSession {
    const session = this.sessions.at(-1);
    if (!session) throw new Error("There is no session yet.");
    return session;
  }

  async #open(request: CreateSession): Promise<void> {
    this.#follow(await this.#client.createSession(request, this.#signal));
  }

  #follow(handle: SessionHandle): void {
    const watch = new EventWatch((event) => this.#onEvent(event));
    this.sessions.push({ handle, watch });
    this.#accepted = new Set();
    watch.follow(handle);
  }

  async #turn(index: number): Promise<void> {
    const turn = this.#scenario.turns[index];
    if (!turn) return;
    await this.#takeTurn(turn, index);
    const [before, during] = [true, false].map((first) =>
      (turn.actions ?? []).filter((action) => (action.when.on === "start") === first),
    );
    for (const action of before ?? []) await this.#act(action);
    this.#begins[index] = this.#now.watch.events.length;
    for (const action of during ?? []) this.#pending.push(this.#plan(action, index));
    this.#index = index;
    const mode = turn.delivery?.mode;
    const text = this.#lab.profile.marks ? promptFor(this.#scenario, index, this.#stage.directory) : turn.prompt;
    await this.#send(text.replaceAll("{{cwd}}", this.#stage.directory), turn, mode === "steer" ? "steer" : "queue");
  }

  /** Waits until this turn's prompt is due. */
  async #takeTurn(turn: Turn, index: number): Promise<void> {
    const delivery = turn.delivery ?? { mode: "after" };
    switch (delivery.mode) {
      case "after":
        return index === 0 ? undefined : this.idle();
      case "resume":
        await this.idle();
        return this.#resume();
      case "crash":
        await this.idle();
        return this.#inNewDaemon(() => this.#lab.crash());
      case "fork":
        await this.idle();
        return this.#follow(await this.#now.handle.fork({}, this.#signal));
      case "rewind":
        await this.idle();
        return this.#rewindConversation(delivery.before_turn);
      case "queue":
      case "steer":
        return this.#moment(delivery.when, this.#runningAt(index - 1), this.#signal);
      default:
        delivery satisfies never;
    }
  }

  /** The turn that runs while this one is in the queue: the nearest one that was not queued itself. */
  #runningAt(index: number): number {
    const mode = this.#scenario.turns[index]?.delivery?.mode;
    return mode === "queue" || mode === "steer" ? this.#runningAt(index - 1) : index;
  }

  async #send(text: string, turn: Turn | null, whenBusy: "queue" | "steer"): Promise<void> {
    const { handle } = this.#now;
    const attachments = turn ? attachmentsOf(turn) : [];
    const command = turn?.command ?? text.startsWith("/");
    const options = { ...(attachments.length > 0 ? { attachments } : {}), command, signal: this.#signal };
    this.waitingFor = "the acceptance of a message";
    const accepted = await handle.send(text, { ...options, when_busy: whenBusy }).catch((error: unknown) => {
      if (whenBusy === "steer" && error instanceof DragomanError && error.code === "steer_unsupported")
        return handle.send(text, { ...options, when_busy: "queue" });
      throw error;
    });
    this.#accepted.add(accepted.turn_id);
  }

  /** In a new process: after a crash the session is dormant or ended, otherwise the daemon itself is restarted. */
  async #resume(): Promise<void> {
    const { handle } = this.#now;
    const session = await handle.get(this.#signal);
    if (session.ended) {
      if (session.native_session_id === null) throw new Error("The session ended and has no native session to go on with.");
      return this.#open({ ...this.#stage.request, resume_native: session.native_session_id });
    }
    if (session.status === "dormant") return;
    return this.#inNewDaemon(() => this.#lab.restart());
  }

  async #inNewDaemon(restart: () => Promise<void>): Promise<void> {
    this.waitingFor = "the restart of the daemon";
    for (const { watch } of this.sessions) watch.close();
    await restart();
    this.#client = this.#lab.client();
    for (const played of this.sessions) {
      played.handle = this.#client.session(played.handle.id);
      if (!played.watch.ended) played.watch.follow(played.handle);
    }
  }

  // ── moments and actions ─────────────────────────────────────────────────────────────────────────────────────────────

  async #moment(asked: When, turn: number, signal: AbortSignal): Promise<void> {
    const whole = asked.on === "text" && this.#lab.profile.streams === false;
    const when: When = whole ? { on: "request", step: 1 } : asked;
    if (when.on === "start") return;
    this.waitingFor = `the moment ${JSON.stringify(when)}`;
    if (when.on === "request") {
      const { name } = this.#scenario;
      await this.#lab.model.waitForRequest(
        ({ scenario, position, side }) =>
          scenario === name && side === undefined && position?.turn === turn && position.step === when.step - 1,
        signal,
      );
      return;
    }
    const { watch } = this.#now;
    await watch.until(() => isDue(when, watch.events.slice(this.#begins[turn] ?? 0)), signal);
  }

  #plan(action: Action, turn: number): PendingAction {
    const cancel = new AbortController();
    const pending: PendingAction = { action, cancel, done: Promise.resolve(), state: "waiting" };
    const signal = AbortSignal.any([this.#signal, cancel.signal]);
    pending.done = this.#moment(action.when, turn, signal)
      .then(async () => {
        pending.state = "acting";
        await this.#act(action);
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.#fail(`${action.do} failed`, error);
      })
      .finally(() => {
        pending.state = "done";
      });
    return pending;
  }

  async #act(action: Action): Promise<void> {
    const { handle } = this.#now;
    switch (action.do) {
      case "interrupt":
        return handle.interrupt(this.#signal);
      case "terminate":
        return handle.terminate(this.#signal);
      case "kill_agent": {
        const killed = await this.#lab.killAgents((action.signal ?? "SIGKILL") as NodeJS.Signals);
        if (killed === 0) this.failures.push("no process of the agent was found to kill");
        return;
      }
      case "set_model":
        await handle.update(
          { model: action.model.replaceAll("{{other_model}}", this.#lab.profile.models.other ?? "") },
          this.#signal,
        );
        return;
      case "set_permission_mode":
        await handle.update({ permission_mode: action.mode }, this.#signal).catch((error: unknown) => {
          if (!action.or_busy || !(error instanceof DragomanError) || error.code !== "session_busy") throw error;
          this.excused = true;
        });
        return;
      case "refused_update":
        return handle.update(action.patch, this.#signal).then(
          () => void this.failures.push(`${JSON.stringify(action.patch)} was taken and should be refused`),
          (error: unknown) => (error instanceof DragomanError && error.status !== undefined ? undefined : Promise.reject(error)),
        );
      case "compact":
        if (action.when.on === "start") await this.idle();
        await this.#send(this.#lab.profile.compact ?? "/compact", null, "queue");
        return action.when.on === "start" ? this.idle() : undefined;
      case "rewind":
        return this.#rewind(action.before_turn);
      case "native":
        return this.#send(typeof action.input === "string" ? action.input : `/${action.name}`, null, "queue");
      default:
        action satisfies never;
    }
  }

  async #rewind(turn: number): Promise<void> {
    const start = await this.#before(turn);
    if (start) await this.#now.handle.rewind(start.checkpoint, {}, this.#signal);
  }

  async #rewindConversation(turn: number): Promise<void> {
    const start = await this.#before(turn);
    if (!start) return;
    const request = { mode: "conversation", turn: start.turn } as const;
    const { session_id } = await this.#now.handle.rewind(start.checkpoint, request, this.#signal);
    if (session_id === null) throw new Error("the rewind of the conversation made no session");
    this.#follow(this.#client.session(session_id));
  }

  /** A turn of the session, 1 is its first, and the checkpoint it began with. */
  async #before(turn: number): Promise<{ turn: string; checkpoint: string } | null> {
    const { handle, watch } = this.#now;
    const begun = watch.events.flatMap((event) => (event.type === "turn.started" ? [event.data.turn_id] : []));
    const id = begun[turn - 1];
    const from = id === undefined ? null : (await handle.changes({ turn: id, signal: this.#signal })).from;
    if (id !== undefined && from !== null) return { turn: id, checkpoint: from };
    const { reason } = await handle.checkpoints(this.#signal);
    this.failures.push(`there is no checkpoint before turn ${turn}${reason === null ? "" : `: ${reason}`}`);
    return null;
  }

  // ── answers ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #onEvent(event: UniversalEvent): void {
    const handle = this.#now.handle;
    if (event.type === "permission.resolved" && event.data.metadata.resolved_by === "policy")
      this.#asked.delete(event.data.permission_id);
    if (event.type === "permission.requested") {
      this.#asked.set(event.data.permission_id, this.#index);
      const { reply, interrupt } = this.#decider.permission(event.data);
      const id = event.data.permission_id;
      if (reply) this.#answer(`the reply to ${event.data.action}`, () => handle.replyPermission(id, reply, this.#signal));
      if (interrupt) this.#answer("interrupt", () => handle.interrupt(this.#signal));
    }
    if (event.type === "question.requested") {
      const decision = this.#decider.question(event.data);
      const id = event.data.question_id;
      if (decision)
        this.#answer("the answer to a question", () =>
          decision.answers ? handle.replyQuestion(id, decision.answers, this.#signal) : handle.rejectQuestion(id, this.#signal),
        );
    }
  }

  #answer(what: string, call: () => Promise<void>): void {
    this.#answers.push(
      call().catch((error: unknown) => {
        if (this.#signal.aborted || (error instanceof DragomanError && TOO_LATE.has(error.code))) return;
        this.#fail(`${what} was not taken`, error);
      }),
    );
  }

  #fail(what: string, error: unknown): void {
    const code = error instanceof DragomanError ? ` (${error.code})` : "";
    this.failures.push(`${what}${code}: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** An agent that cannot ask refuses instead: what it did not do is seen on the disk. */
  async #checkAsked(): Promise<void> {
    const turns = this.#scenario.turns.flatMap(({ asks }, index) => (asks === undefined ? [] : [{ asks, index }]));
    if (turns.length === 0) return;
    const { capabilities } = await this.#client.agent(this.#lab.profile.agent, this.#signal);
    const asked = new Set(this.#asked.values());
    for (const { asks, index } of turns) {
      if (asks === asked.has(index) || (asks && capabilities.permissions === false)) continue;
      const prompt = JSON.stringify(this.#scenario.turns[index]?.prompt);
      this.failures.push(asks ? `no permission was requested for ${prompt}` : `a permission was requested for ${prompt}`);
    }
  }

  // ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** All that was sent is worked off, the agent rests. Actions whose moment did not come are a failure. */
  async idle(): Promise<void> {
    const { handle, watch } = this.#now;
    for (;;) {
      this.waitingFor = "the end of the turn";
      await watch.until(() => watch.ended || turnsDone(watch.events, this.#accepted), this.#signal);
      await Promise.all(this.#pending.map((pending) => (pending.state === "acting" ? pending.done : undefined)));
      if (watch.ended) break;
      const session = await handle.get(this.#signal);
      this.waitingFor = `the session to rest: it is ${session.status}, ${session.queued} queued`;
      if (session.queued === 0 && ["idle", "dormant"].includes(session.status)) break;
      const known = Math.max(session.last_sequence, watch.events.length);
      await watch.until(
        () => watch.ended || watch.events.length > known || (watch.events.at(-1)?.sequence ?? 0) > known,
        this.#signal,
      );
    }
    await Promise.all(this.#answers.splice(0));
    await Promise.all(this.#pending.splice(0).map((pending) => this.#giveUp(pending)));
  }

  #giveUp(pending: PendingAction): Promise<void> {
    if (pending.state === "waiting") {
      this.failures.push(`the moment to ${pending.action.do} never came: ${JSON.stringify(pending.action.when)}`);
      pending.cancel.abort();
    }
    return pending.done;
  }
}

function turnsDone(events: readonly UniversalEvent[], accepted: ReadonlySet<string>): boolean {
  const open = new Set(accepted);
  for (const event of events) {
    if (event.type === "turn.started") open.add(event.data.turn_id);
    if (event.type === "turn.ended") open.delete(event.data.turn_id);
  }
  return open.size === 0;
}
