// One live session: takes commands, drives its agent over a line, and lets the scribe write what happens. It knows the agent only by contract.
import { randomUUID } from "node:crypto";
import type { Agent, AgentHost, ConfigPatch, ExitInfo, SessionPort, Translation } from "../agents/contract.ts";
import type { Log, Stream } from "../log/contract.ts";
import type { Draft } from "../schema/draft.ts";
import type { EventDataOf, SessionEnded } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { MessageAccepted, Pending, PermissionReplyBody, Session as SessionView, UpdateSession } from "../schema/session.ts";
import { AgentLine, agentCall } from "./agent-line.ts";
import { dispositionOf, type Intake, type NativeRecord, unparsedOf } from "./channel.ts";
import { EventWriter } from "./event-writer.ts";
import type { IdSource } from "./ids.ts";
import { MessageQueue, promptOf, type QueuedMessage, type StoredAttachment } from "./message-queue.ts";
import { readOpenState } from "./open-state.ts";
import { endOf, lostAgent, unsentTurn } from "./outcomes.ts";
import { RequestDesk } from "./request-desk.ts";
import { Scribe, type Turn } from "./scribe.ts";
import { factsOf, statusFacts, usageAfter } from "./session-facts.ts";
import { configOf, parseRow, type SessionRow, sessionOf } from "./session-row.ts";
import { mustSupport } from "./supported.ts";

export type SessionTimes = {
  /** An idle agent process is put to rest after this long; the next message resumes it. */
  idle_ms: number;
  /** A running turn without a sign of life for this long is called stalled. */
  stall_ms: number;
  /** An interrupt the agent does not confirm in this time ends the turn by force. */
  interrupt_ms: number;
};

export type SessionContext = {
  log: Log;
  ids: IdSource;
  clock: () => string;
  now: () => number;
  agent: Agent;
  host: AgentHost;
  times: SessionTimes;
  limits: { queued: number };
  /** The session's object is of no use any more; forget it. */
  lost(session: Session): void;
};

export class Session implements SessionPort, Intake {
  readonly stream: Stream;
  readonly #context: SessionContext;
  readonly #row: SessionRow;
  readonly #scribe: Scribe;
  readonly #queue: MessageQueue;
  readonly #desk: RequestDesk;
  readonly #line: AgentLine;
  /** A message is on its way to the agent. */
  #giving: Promise<void> | null = null;
  /** Changes of the configuration that are not done yet: no agent is started beside them. */
  #configuring: Promise<void> = Promise.resolve();
  /** A request was answered with `always` since the agent started. */
  #allowedForGood = false;
  /** The daemon is going: nothing new begins. */
  #suspended = false;
  #lost = false;
  #lastSign: number;
  #forcing: NodeJS.Timeout | null = null;

  constructor(stream: Stream, context: SessionContext) {
    this.stream = stream;
    this.#context = context;
    this.#row = parseRow(stream.state());
    this.#queue = new MessageQueue(context.log.documents, this.#row.session_id);
    this.#lastSign = context.now();
    this.#line = new AgentLine(context.agent, context.host, this);
    const writer = new EventWriter({
      sessionId: this.#row.session_id,
      sink: stream,
      ids: context.ids,
      clock: context.clock,
      sequence: stream.last,
      nativeSessionId: this.#row.native_session_id,
    });
    this.#scribe = new Scribe(writer, context.log.artifacts, {
      turnStarted: ({ turn_id }) => void this.#queue.remove(turn_id),
      turnEnded: (_, data) => this.#turnEnded(data),
      nativeSession: (id) => this.#save({ native_session_id: id, fork: false }),
      statusChanged: (status) => this.#save(statusFacts(status)),
      plain: (type, data) => this.#save(factsOf(type, data, this.#row)),
    });
    const status = this.#row.status === "dormant" ? "dormant" : "idle";
    this.#scribe.restore({ status, turn: null, steps: [], ended: this.#row.ended !== null });
    this.#desk = new RequestDesk({
      book: this.#scribe.requests,
      connection: () => this.#line.current,
      written: async () => {
        this.#scribe.settle();
        this.#markOpen(this.stream.last);
        await context.log.committed();
      },
    });
  }

  get session_id(): string {
    return this.#row.session_id;
  }

  get agentId(): string {
    return this.#row.agent;
  }

  get directory(): string {
    return this.#row.directory;
  }

  get nativeSessionId(): string | null {
    return this.#row.native_session_id;
  }

  get row(): Readonly<SessionRow> {
    return this.#row;
  }

  /** True while a process may be running for it. */
  get alive(): boolean {
    return this.#line.alive;
  }

  view(): SessionView {
    const { permissions, questions } = this.pending();
    return sessionOf(
      this.#row,
      { created_at: this.stream.created_at, updated_at: this.#context.now(), last_sequence: this.stream.last },
      { queued: this.#queue.size, pending: { permissions: permissions.length, questions: questions.length } },
    );
  }

  pending(): Pending {
    return this.#desk.pending();
  }

  /** First event of a new session. */
  begin(): void {
    const { agent, agent_version, directory, model, variant, agent_mode, permission_mode, title, forked_from } = this.#row;
    this.#scribe.begin({ agent, agent_version, directory, model, variant, agent_mode, permission_mode, title, forked_from });
  }

  /** [S2] After a daemon's death: closes what was open then, and leaves the session dormant, ready to be resumed. */
  recover(): void {
    const since = this.stream.openSince();
    if (since !== null) {
      const state = readOpenState(this.stream, since);
      this.#scribe.restore({ status: state.status ?? "running", turn: state.turn, steps: state.steps, ended: state.ended });
      for (const item of state.items) this.#scribe.items.restore(item);
      for (const data of state.permissions) this.#scribe.requests.restore({ kind: "permission", data });
      for (const data of state.questions) this.#scribe.requests.restore({ kind: "question", data });
      if (!state.ended) this.#scribe.cut("interrupted");
    }
    if (this.#row.ended === null && this.#context.agent.capabilities.resume) this.#scribe.dormant();
    else if (this.#row.ended === null) {
      const message = "The daemon was restarted, and this agent cannot resume a session.";
      this.#end({ reason: "error", terminated_by: "daemon", message });
    }
    this.#markOpen(this.stream.last);
  }

  // ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** `command`: the text is one of the agent's own commands, chosen by the person. */
  async send(
    text: string,
    attachments: StoredAttachment[],
    whenBusy: "queue" | "steer" | "reject",
    command = false,
  ): Promise<MessageAccepted> {
    this.#mustLive();
    const message: QueuedMessage = {
      turn_id: this.#context.ids.next("turn"),
      message_id: randomUUID(),
      text,
      ...(command ? { command } : {}),
      attachments,
    };
    const turn = this.#scribe.turn;
    const busy = turn !== null || this.#queue.size > 0 || this.#giving !== null;
    if (busy && whenBusy === "reject") throw new ProblemError("session_busy");
    if (turn && whenBusy === "steer" && !command) return this.#steer(message, turn);
    if (this.#queue.size >= this.#context.limits.queued) throw new ProblemError("queue_full");
    this.#queue.push(message);
    await this.#context.log.committed();
    this.pump();
    return { turn_id: message.turn_id, queued: busy };
  }

  async #steer(message: QueuedMessage, turn: Turn): Promise<MessageAccepted> {
    const connection = this.#line.current;
    if (!connection?.steer) throw new ProblemError("steer_unsupported");
    await agentCall(connection.steer(await promptOf(message, this.#context.log.artifacts)));
    await this.#context.log.committed();
    return { turn_id: turn.turn_id, queued: false };
  }

  /** Gives the next queued message to the agent when it can take one. Called whenever that may have become true. */
  pump(): void {
    const message = this.#queue.peek();
    if (!message || this.#giving || this.#suspended || this.#scribe.ended || this.#scribe.turn) return;
    this.#giving = this.#give(message).finally(() => {
      this.#giving = null;
      if (this.#queue.size > 0) setImmediate(() => this.pump());
    });
  }

  async #give(message: QueuedMessage): Promise<void> {
    const { turn_id } = message;
    try {
      await this.#configuring;
      const connection = await this.#line.open(() => this.#target());
      const prompt = await promptOf(message, this.#context.log.artifacts);
      // Meanwhile the agent may have begun a turn of its own, or the message may have been dropped: then it waits, or is gone.
      if (this.#scribe.ended || this.#scribe.turn || this.#queue.peek() !== message) return;
      this.#scribe.promiseTurn(turn_id);
      await connection.prompt(prompt);
      if (!this.#scribe.ended && this.#queue.peek() === message) this.say([{ do: "turn.start", initiator: "client" }]);
    } catch (error) {
      if (!this.#suspended && this.#queue.peek() === message) {
        this.#scribe.promiseTurn(turn_id);
        this.say(unsentTurn(message, error));
      }
    }
    if (!this.#suspended) this.#queue.remove(turn_id);
    this.#scribe.withdrawTurn(turn_id);
  }

  /** Stops the running turn, also one whose message is still on its way. Nothing runs: nothing happens. */
  async interrupt(): Promise<void> {
    this.#mustLive();
    if (!this.#scribe.turn) await this.#giving;
    const turn = this.#scribe.turn;
    const connection = this.#line.current;
    if (!turn || !connection) return;
    this.#forcing ??= setTimeout(() => this.#forceInterrupt(turn), this.#context.times.interrupt_ms).unref();
    await agentCall(connection.interrupt());
  }

  /** [S5] The agent did not confirm: the turn is over all the same, and the process with it. */
  #forceInterrupt(turn: Turn): void {
    this.#forcing = null;
    if (this.#scribe.turn !== turn) return;
    this.#scribe.cut("interrupted");
    void this.rest();
  }

  /** Ends the session. Idempotent. No process of it is left when this resolves. */
  async terminate(): Promise<void> {
    if (this.#scribe.ended) return;
    this.#queue.clear();
    await this.#line.hangUp();
    this.#end({ reason: "terminated", terminated_by: "daemon" });
    await this.#context.log.committed();
  }

  /** One change after the other, so that what is stored and what the agent has are the same. */
  configure(patch: UpdateSession): Promise<void> {
    const done = this.#configuring.then(() => this.#configure(patch));
    this.#configuring = done.catch(() => {});
    return done;
  }

  async #configure(patch: UpdateSession): Promise<void> {
    this.#mustLive();
    const { title, ...config } = patch;
    if (Object.keys(config).length > 0) await this.#configureAgent(config);
    if (title !== undefined) this.say([{ do: "event", type: "session.updated", data: { title } }]);
    await this.#context.log.committed();
  }

  /** All of it or nothing. Live where the agent can; else between turns, with a new start for the next one. Stored when the agent has agreed. */
  async #configureAgent(config: ConfigPatch): Promise<void> {
    const { agent, host } = this.#context;
    await mustSupport(agent, host, config, { ...configOf(this.#row), ...config });
    const names = Object.keys(config) as (keyof ConfigPatch)[];
    // Null takes a choice back: what the agent does without one is known only to a new process. And what a person allowed for good in this process
    // would count in plan, too.
    const forgets = config.permission_mode === "plan" && this.#allowedForGood;
    const live = !forgets && names.every((name) => agent.capabilities.live[name] && config[name] !== null);
    const connection = await this.#line.settled();
    const restart = connection !== null && (!live || (await agentCall(connection.configure(config))) === "restart");
    if (restart && (this.#scribe.turn || this.#giving))
      throw new ProblemError(
        "session_busy",
        "This agent takes that change only between turns. Wait for turn.ended or interrupt, then try again.",
      );
    this.#mustLive();
    this.say([{ do: "event", type: "config.changed", data: config }]);
    if (restart) await this.rest();
  }

  replyPermission(id: string, body: PermissionReplyBody): Promise<void> {
    if (body.reply === "always") this.#allowedForGood = true;
    return this.#desk.replyPermission(id, body);
  }

  /** `answers` null: rejected. */
  replyQuestion(id: string, answers: string[][] | null): Promise<void> {
    return this.#desk.replyQuestion(id, answers);
  }

  /** Puts the agent to rest; the session becomes dormant and the next message resumes it. */
  async rest(): Promise<void> {
    if (!this.#line.current || this.#scribe.ended) return;
    await this.#line.hangUp();
    this.#allowedForGood = false;
    this.#scribe.dormant();
    this.#markOpen(this.stream.last);
  }

  /** For the daemon's own end: what is open is closed, the session stays resumable. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    if (this.#scribe.ended) return;
    await this.#line.hangUp();
    this.#scribe.cut("interrupted");
    this.#scribe.dormant();
    this.#markOpen(this.stream.last);
  }

  /** Called now and then by the manager: no timer per event, no timer per session. */
  tick(now: number): void {
    if (this.#scribe.ended || !this.#line.current) return;
    const { stall_ms, idle_ms } = this.#context.times;
    const silent = now - this.#lastSign;
    if (this.#scribe.status === "running" && silent > stall_ms) {
      const detail = `No sign of life for ${Math.round(silent / 1000)} s. Interrupt it, or wait.`;
      this.say([{ do: "status", status: { status: "stalled", detail } }]);
    }
    const idle = !this.#scribe.busy && this.#queue.size === 0 && silent > idle_ms;
    if (idle && this.#context.agent.capabilities.resume) void this.rest();
  }

  // ── the agent's side ────────────────────────────────────────────────────────────────────────────────────────────────

  attached(freshKeys: boolean): void {
    if (freshKeys) this.#scribe.items.newScope();
  }

  ingest(record: NativeRecord, translations: Translation[]): void {
    if (this.#scribe.ended || this.#lost) return;
    try {
      this.#ingest(record, translations);
    } catch (error) {
      this.#lose(error);
    }
  }

  #ingest(record: NativeRecord, translations: Translation[]): void {
    const { dir, raw } = record;
    const before = this.stream.last;
    this.#lastSign = this.#context.now();
    const t_ms = this.#lastSign - this.stream.created_at;
    const { type, disposition } = dispositionOf(translations);
    const native = this.stream.appendNative({ dir, t_ms, type, disposition, raw });
    for (const translation of translations)
      this.#scribe.translation(translation, native, dir !== "in", unparsedOf(translation, this.#row.agent, record));
    this.#markOpen(before);
  }

  /**
   * The log takes nothing any more (a disk that stays full). What is committed is true; what this object believes may not be. So the agent is stopped
   * and the object given up: whoever asks for the session next gets one that is read from the log and recovered.
   */
  #lose(error: unknown): void {
    this.#lost = true;
    this.#suspended = true;
    const fields = { session_id: this.session_id, error: String(error) };
    this.#context.host.log("error", "the log refused a message; the session is suspended", fields);
    this.#context.lost(this);
    void this.#line.hangUp();
  }

  say(drafts: Draft[]): void {
    const before = this.stream.last;
    this.#scribe.say(drafts);
    this.#markOpen(before);
  }

  closed(info: { exit: ExitInfo | null; resumable: boolean; message?: string }): void {
    if (!this.#line.broke() || this.#scribe.ended || this.#lost) return;
    if (!info.resumable) return this.#end(endOf(info));
    const before = this.stream.last;
    if (this.#scribe.turn) this.#scribe.say([lostAgent(info.message)]);
    this.#scribe.cut("error", "execution_error");
    this.#scribe.dormant();
    this.#markOpen(before);
    setImmediate(() => this.pump());
  }

  // ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  #mustLive(): void {
    if (this.#scribe.ended) throw new ProblemError("session_ended");
  }

  #target() {
    const { native_session_id, fork } = this.#row;
    return { config: configOf(this.#row), resume: native_session_id === null ? null : { native_session_id, fork } };
  }

  #turnEnded(data: EventDataOf["turn.ended"]): void {
    if (this.#forcing) clearTimeout(this.#forcing);
    this.#forcing = null;
    this.#save(usageAfter(this.#row, data.usage));
    if (this.#queue.size > 0) setImmediate(() => this.pump());
  }

  #end(data: SessionEnded): void {
    this.#queue.clear();
    this.#scribe.end(data);
    this.#save({ ended: data, status: "ended", status_detail: null });
    this.stream.setOpenSince(null);
  }

  #save(change: Partial<SessionRow>): void {
    if (Object.keys(change).length === 0) return;
    Object.assign(this.#row, change);
    this.stream.setState(JSON.stringify(this.#row));
  }

  /** Remembers from where recovery has to read if the daemon dies now; `before` is the last event before what was just written. */
  #markOpen(before: number): void {
    const busy = this.#scribe.busy;
    const since = this.stream.openSince();
    if (busy && since === null) this.stream.setOpenSince(before + 1);
    else if (!busy && since !== null) this.stream.setOpenSince(null);
  }
}
