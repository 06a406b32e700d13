/**
 * One live session: takes commands, drives its agent, and lets the scribe write what happens. It knows the agent only by contract. Readers see committed
 * state only. What comes from the agent or a timer enters through `#guard`, so that no fault of the log or of ours reaches an event emitter.
 */
import { randomUUID } from "node:crypto";
import {
  type Agent,
  AgentError,
  type AgentHost,
  type ConfigPatch,
  type ExitInfo,
  type SessionPort,
  type Translation,
} from "../agents/contract.ts";
import type { Log, Stream } from "../log/contract.ts";
import { withdrawn } from "../log/log-error.ts";
import { type Actor, BY_THE_DAEMON, EMBEDDED } from "../schema/actor.ts";
import type { Draft } from "../schema/draft.ts";
import type { EventDataOf, SessionEnded } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type {
  DirectorySettings,
  MessageAccepted,
  Pending,
  PermissionReplyBody,
  Session as SessionView,
  UpdateSession,
} from "../schema/session.ts";
import { AgentLine, agentCall } from "./agent-line.ts";
import { dispositionOf, type Intake, type NativeRecord, unparsedOf } from "./channel.ts";
import { CommittedValue } from "./committed-value.ts";
import { EventWriter } from "./event-writer.ts";
import type { IdSource } from "./ids.ts";
import { MessageQueue, promptOf, type QueuedMessage, type StoredAttachment } from "./message-queue.ts";
import { readOpenState } from "./open-state.ts";
import { endOf, lostAgent, parkedMessage, unreadableMessages, unsentTurn } from "./outcomes.ts";
import { RequestDesk } from "./request-desk.ts";
import { Scribe, type Turn } from "./scribe.ts";
import { factsOf, statusFacts, usageAfter } from "./session-facts.ts";
import { configOf, parseRow, type SessionRow, sessionOf } from "./session-row.ts";
import { mustSupport } from "./supported.ts";
import { DaemonRequest, isTrusted, type TrustedDirectories, TrustGate } from "./trust-gate.ts";

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
  directories: TrustedDirectories;
  times: SessionTimes;
  limits: { queued: number };
  /** What tells a process that serves one session alone which one that is. */
  agentEnvironment(sessionId: string): Record<string, string>;
  /** The session's object is of no use any more; forget it. `closed` settles when no process of it is left. */
  lost(session: Session, closed: Promise<void>): void;
  /** Settles when no process of an earlier object of this session is left. */
  predecessor?: Promise<void> | undefined;
};

/** A message whose delivery was begun this often and never came to an end is not tried again: it may be what stopped the daemon. */
const MAX_TRIES = 2;

/** What clients see of a session beside its events. */
type Visible = { row: SessionRow; queued: number; pending: Pending };

/** What a person named stays named: the agent's own title is kept beside it. */
function keepTitle(translation: Translation): Translation {
  const drafts = translation.drafts.map((draft): Draft => {
    if (draft.do !== "event" || draft.type !== "session.updated" || draft.data.title === undefined) return draft;
    const { title, metadata, ...data } = draft.data;
    return { ...draft, data: { ...data, metadata: { ...metadata, native_title: title } } };
  });
  return { ...translation, drafts };
}

export class Session implements SessionPort, Intake {
  readonly stream: Stream;
  readonly #context: SessionContext;
  readonly #row: SessionRow;
  readonly #scribe: Scribe;
  readonly #queue: MessageQueue;
  readonly #desk: RequestDesk;
  readonly #line: AgentLine;
  readonly #gate: TrustGate;
  /** What the running agent was started with. */
  #startedTrusted = false;
  readonly #visible: CommittedValue<Visible>;
  #rowChanged = false;
  #hadRequests = false;
  /** Of the queue, when the visible state was last set. */
  #queueVersion = 0;
  /** A message is on its way to the agent. */
  #giving: Promise<void> | null = null;
  /** It is being ended: nothing new begins. */
  #ending: Promise<void> | null = null;
  /** Changes of the configuration that are not done yet: no agent is started beside them. */
  #configuring: Promise<void> = Promise.resolve();
  /** A request was answered with `always` since the agent started. */
  #allowedForGood = false;
  /** The daemon is going: nothing new begins. */
  #suspended = false;
  /** Why this object is of no use any more. */
  #lost: { error: unknown } | null = null;
  /** Its agent is not read: the log takes no more for now. */
  #paused = false;
  #lastSign: number;
  #forcing: NodeJS.Timeout | null = null;

  constructor(stream: Stream, context: SessionContext) {
    this.stream = stream;
    this.#context = context;
    this.#row = parseRow(stream.state());
    this.#queue = new MessageQueue(context.log.documents, this.#row.session_id);
    this.#lastSign = context.now();
    this.#line = new AgentLine(context.agent, context.host, this, context.predecessor);
    this.#gate = new TrustGate({
      row: this.#row,
      agent: context.agent,
      host: context.host,
      directories: context.directories,
      save: (change) => this.#write(() => this.#save(change)),
      emit: (drafts) => this.#write(() => this.#emit(drafts)),
    });
    const writer = new EventWriter({
      sessionId: this.#row.session_id,
      sink: stream,
      ids: context.ids,
      clock: context.clock,
      sequence: stream.last,
      nativeSessionId: this.#row.native_session_id,
    });
    this.#scribe = new Scribe(writer, context.log.artifacts.of(stream), {
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
      editsInput: context.agent.capabilities.edit_input,
      connection: () => this.#line.current,
      write: (work) =>
        this.#write(() => {
          work();
          this.#scribe.settle();
        }),
      committed: (options) => context.log.committed(options),
    });
    this.#visible = new CommittedValue<Visible>(context.log, this.#state());
    this.#queueVersion = this.#queue.version;
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

  /** Nothing of it would be lost if this object were let go: the log has it all. */
  get resting(): boolean {
    const idle = !this.#line.alive && !this.#giving && !this.#ending && !this.#scribe.busy && this.#queue.size === 0;
    return idle && this.stream.last === this.stream.lastCommitted;
  }

  /** Messages that wait, committed or not. */
  get queued(): number {
    return this.#queue.size;
  }

  /** [D1] What is committed, and nothing else. */
  view(): SessionView {
    const { row, queued, pending } = this.#visible.get();
    return sessionOf(
      row,
      { created_at: this.stream.created_at, updated_at: this.stream.updatedAt, last_sequence: this.stream.lastCommitted },
      {
        queued,
        pending: { permissions: pending.permissions.length, questions: pending.questions.length },
        trusted: this.#line.current ? this.#startedTrusted : isTrusted(row, this.#context.directories),
      },
    );
  }

  /** Which files of the directory its agent loads: the one that runs, or the next one that is started. */
  directorySettings(): Promise<DirectorySettings> {
    return this.#gate.settings(this.#line.current ? this.#startedTrusted : this.#gate.trusted);
  }

  /** Whether this open request asks for trust in the directory, which a person alone may give. */
  asksForTrust(permissionId: string): boolean {
    const request = this.#scribe.requests.find(permissionId);
    return request?.kind === "permission" && request.native instanceof DaemonRequest;
  }

  /** [D1] What is committed, and nothing else. */
  pending(): Pending {
    return this.#visible.get().pending;
  }

  /** First event of a new session. */
  begin(): void {
    const { agent, agent_version, directory, model, variant, agent_mode, permission_mode, title, forked_from, created_by } =
      this.#row;
    this.#scribe.begin({
      agent,
      agent_version,
      directory,
      model,
      variant,
      agent_mode,
      permission_mode,
      title,
      forked_from,
      ...(created_by ? { created_by } : {}),
    });
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
    const unreadable = this.#queue.takeUnreadable();
    if (unreadable > 0 && this.#row.ended === null) this.#scribe.say(unreadableMessages(unreadable));
    if (this.#row.ended === null && this.#context.agent.capabilities.resume) this.#scribe.dormant();
    else if (this.#row.ended === null) {
      const message = "The daemon was restarted, and this agent cannot resume a session.";
      this.#end({ reason: "error", terminated_by: "daemon", message, actor: BY_THE_DAEMON });
    }
    this.#settled(this.stream.last);
  }

  // Every command names who gives it; without a name it is the program that embeds the session.
  // ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** `command`: the text is one of the agent's own commands, chosen by the person. */
  async send(
    text: string,
    attachments: StoredAttachment[],
    whenBusy: "queue" | "steer" | "reject",
    actor: Actor = EMBEDDED,
    command = false,
  ): Promise<MessageAccepted> {
    this.#mustLive();
    this.#context.log.assertWritable();
    const turn_id = this.#context.ids.next("turn");
    const chosen = command ? { command } : {};
    const message: QueuedMessage = { turn_id, message_id: randomUUID(), text, ...chosen, attachments, actor };
    const turn = this.#scribe.turn;
    const busy = this.#busy;
    if (busy && whenBusy === "reject") throw new ProblemError("session_busy");
    if (turn && whenBusy === "steer" && !command) return this.#steer(message, turn);
    return this.#enqueue(message, busy);
  }

  async #enqueue(message: QueuedMessage, busy: boolean): Promise<MessageAccepted> {
    const { turn_id } = message;
    if (this.#queue.size >= this.#context.limits.queued) throw new ProblemError("queue_full");
    this.#queue.push(message, { atOnce: !busy });
    this.#settled(this.stream.last);
    try {
      await this.#context.log.committed();
    } catch (error) {
      // Refused means not done: it must not run when the log is well again.
      this.#guard(() => void this.#queue.remove(turn_id));
      throw withdrawn(error);
    }
    this.#mustLive();
    this.pump();
    return { turn_id, queued: busy };
  }

  async #steer(message: QueuedMessage, turn: Turn): Promise<MessageAccepted> {
    const connection = this.#line.current;
    if (!connection?.steer) throw new ProblemError("steer_unsupported");
    const prompt = await promptOf(message, this.#context.log.artifacts);
    this.#mustLive();
    if (this.#line.current !== connection) throw new ProblemError("agent_gone");
    // Its turn ended while the attachments were read: it steers nothing any more.
    if (this.#scribe.turn !== turn) return this.#enqueue(message, this.#busy);
    await agentCall(connection.steer(prompt));
    const { actor } = message;
    if (actor)
      this.#emit([{ do: "event", type: "session.updated", data: { metadata: { steered_turn_id: turn.turn_id }, actor } }]);
    await this.#context.log.committed();
    return { turn_id: turn.turn_id, queued: false };
  }

  /** Gives the next queued message to the agent when it can take one. Called whenever that may have become true. */
  pump(): void {
    const message = this.#queue.peek();
    if (!message || this.#giving || this.#stopped || this.#scribe.turn) return;
    this.#giving = this.#give(message)
      .catch((error: unknown) => this.#lose(error))
      .finally(() => {
        this.#giving = null;
        if (this.#queue.size > 0) setImmediate(() => this.pump());
      });
  }

  async #give(message: QueuedMessage): Promise<void> {
    const { turn_id } = message;
    const waits = () => this.#stopped || this.#scribe.turn !== null || this.#queue.peek() !== message;
    try {
      // A wait for a person is no try.
      if (!this.#line.current) {
        await this.#gate.pass();
        await this.#mustBeHonoured();
      }
      const tries = this.#queue.beginTry(turn_id);
      if (tries >= MAX_TRIES) throw parkedMessage(tries);
      await this.#configuring;
      // The count is on disk before the delivery begins; while the log cannot write, nothing is delivered.
      await this.#context.log.committed({ bounded: false });
      const connection = await this.#line.open(() => this.#target());
      const prompt = await promptOf(message, this.#context.log.artifacts);
      // Meanwhile the agent may have begun a turn of its own, or the message may have been dropped: then it waits, or is gone.
      if (waits()) return this.#queue.undoTry(turn_id);
      this.#scribe.promiseTurn(turn_id, message.actor);
      await connection.prompt(prompt);
      if (!waits()) this.#emit([{ do: "turn.start", initiator: "client" }]);
    } catch (error) {
      if (this.#stopped) this.#queue.undoTry(turn_id);
      else if (this.#queue.peek() === message) {
        this.#scribe.promiseTurn(turn_id, message.actor);
        this.#emit(unsentTurn(message, error));
      }
    }
    if (!this.#stopped) this.#queue.remove(turn_id);
    this.#scribe.withdrawTurn(turn_id);
    this.#settled(this.stream.last);
  }

  /** What is loaded is known only now: a repository's rules may break the mode that the session has. */
  async #mustBeHonoured(): Promise<void> {
    const { agent, host } = this.#context;
    const refusal = await agent.refusal?.(configOf(this.#row, this.#gate.trusted), host);
    if (refusal) throw new AgentError("unsupported", refusal);
  }

  /** Stops the running turn, also one whose message is still on its way. Nothing runs: nothing happens. */
  async interrupt(actor: Actor = EMBEDDED): Promise<void> {
    this.#mustLive();
    this.#gate.interrupt(actor);
    if (!this.#scribe.turn && this.#giving) {
      // A delivery waits for a log that cannot write: nothing runs, and nobody can say when something will.
      this.#context.log.assertWritable();
      await this.#giving;
    }
    const turn = this.#scribe.turn;
    const connection = this.#line.current;
    if (!turn || !connection) return;
    this.#scribe.interruptedBy(actor);
    this.#forcing ??= setTimeout(() => this.#forceInterrupt(turn), this.#context.times.interrupt_ms).unref();
    await agentCall(connection.interrupt());
  }

  /** [S5] The agent did not confirm: the turn is over all the same, and the process with it. */
  #forceInterrupt(turn: Turn): void {
    this.#forcing = null;
    this.#guard(() => {
      if (this.#scribe.turn !== turn) return;
      this.#scribe.cut("interrupted");
      this.#settled(this.stream.last);
      void this.rest();
    });
  }

  /**
   * Ends the session. Idempotent. From the first moment nothing new begins, and no process of it is left when this resolves. While the log cannot write the
   * processes are ended all the same, and it rejects.
   */
  terminate(actor: Actor = EMBEDDED): Promise<void> {
    this.#ending ??= this.#terminate(actor).finally(() => {
      this.#ending = null;
    });
    return this.#ending;
  }

  async #terminate(actor: Actor): Promise<void> {
    this.#gate.cancel();
    await this.#line.end();
    if (this.#lost) throw this.#lost.error;
    if (!this.#scribe.ended) this.#write(() => this.#end({ reason: "terminated", terminated_by: "daemon", actor }));
    await this.#context.log.committed();
  }

  /** One change after the other, so that what is stored and what the agent has are the same. */
  configure(patch: UpdateSession, actor: Actor = EMBEDDED): Promise<void> {
    const done = this.#configuring.then(() => this.#configure(patch, actor));
    this.#configuring = done.catch(() => {});
    return done;
  }

  async #configure(patch: UpdateSession, actor: Actor): Promise<void> {
    this.#mustLive();
    this.#context.log.assertWritable();
    const { title, trust, ...config } = patch;
    if (trust !== undefined) await this.#setTrust(trust, actor);
    if (Object.keys(config).length > 0) await this.#configureAgent(config, actor);
    if (title !== undefined) {
      this.#emit([{ do: "event", type: "session.updated", data: { title, actor } }]);
      this.#write(() => this.#save({ named: true }));
    }
    await this.#context.log.committed();
  }

  /** All of it or nothing. Live where the agent can; else between turns, with a new start for the next one. Stored when the agent has agreed. */
  async #configureAgent(config: ConfigPatch, actor: Actor): Promise<void> {
    const { agent, host } = this.#context;
    await mustSupport(agent, host, config, { ...configOf(this.#row, this.#gate.trusted), ...config });
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
    this.#emit([{ do: "event", type: "config.changed", data: { ...config, actor } }]);
    if (restart) await this.rest();
  }

  /** What an agent has loaded cannot be taken back: it is started anew. */
  async #setTrust(trust: SessionRow["trust"], actor: Actor): Promise<void> {
    if (this.#scribe.turn || this.#giving)
      throw new ProblemError(
        "session_busy",
        "Trust can be changed only between turns. Wait for turn.ended or interrupt, then try again.",
      );
    this.#write(() => this.#save({ trust, trust_declined: false }));
    this.#emit([{ do: "event", type: "session.updated", data: { metadata: { trust }, actor } }]);
    if (this.#line.current && this.#startedTrusted !== this.#gate.trusted) await this.rest();
  }

  async replyPermission(id: string, body: PermissionReplyBody, actor: Actor = EMBEDDED): Promise<void> {
    this.#context.log.assertWritable();
    if (body.reply === "always") this.#allowedForGood = true;
    return this.#desk.replyPermission(id, body, actor);
  }

  /** `answers` null: rejected. */
  async replyQuestion(id: string, answers: string[][] | null, actor: Actor = EMBEDDED): Promise<void> {
    this.#context.log.assertWritable();
    return this.#desk.replyQuestion(id, answers, actor);
  }

  /** Starts the agent without a message, for a session whose agent rests or has died. */
  async resume(): Promise<void> {
    this.#mustLive();
    this.#context.log.assertWritable();
    if (this.#line.current || this.#giving) return;
    await this.#gate.mustBeDecided();
    await agentCall(this.#line.open(() => this.#target()));
    this.#mustLive();
    this.#write(() => this.#scribe.settle());
    await this.#context.log.committed();
  }

  /** Puts the agent to rest; the session becomes dormant and the next message resumes it. A message that comes meanwhile waits for that. */
  async rest(): Promise<void> {
    if (!this.#line.current || this.#stopped) return;
    await this.#line.close();
    if (!this.#stopped) this.#guard(() => this.#rested());
  }

  #rested(): void {
    this.#allowedForGood = false;
    if (this.#scribe.busy) this.#scribe.cut("interrupted");
    if (!this.#line.alive) this.#scribe.dormant();
    this.#settled(this.stream.last);
  }

  /** For the daemon's own end: what is open is closed, the session stays resumable. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    this.#gate.cancel();
    await this.#line.end();
    // A delivery in progress puts its message back; one that waits for a log that cannot write has not begun.
    if (this.#context.log.health().state === "ok") await this.#giving;
    this.#guard(() => {
      if (this.#scribe.ended) return;
      this.#scribe.cut("interrupted");
      this.#scribe.dormant();
      this.#settled(this.stream.last);
    });
  }

  /** While true, the agent is not read: it waits for us, instead of us keeping what the log cannot take. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#lastSign = this.#context.now();
    this.#line.setPaused(paused);
  }

  /** Called now and then by the manager: no timer per event, no timer per session. */
  tick(now: number): void {
    if (this.#stopped || this.#paused || !this.#line.current) return;
    this.#guard(() => this.#tick(now));
  }

  #tick(now: number): void {
    const { stall_ms, idle_ms } = this.#context.times;
    const silent = now - this.#lastSign;
    if (this.#scribe.status === "running" && silent > stall_ms) {
      const detail = `No sign of life for ${Math.round(silent / 1000)} s. Interrupt it, or wait.`;
      this.#emit([{ do: "status", status: { status: "stalled", detail } }]);
    }
    const idle = !this.#scribe.busy && this.#queue.size === 0 && silent > idle_ms;
    if (idle && this.#context.agent.capabilities.resume) void this.rest();
  }

  // ── the agent's side ────────────────────────────────────────────────────────────────────────────────────────────────

  attached(freshKeys: boolean): void {
    if (freshKeys) this.#scribe.items.newScope();
  }

  ingest(record: NativeRecord, translations: Translation[]): void {
    if (!this.#scribe.ended) this.#guard(() => this.#ingest(record, translations));
  }

  #ingest(record: NativeRecord, translations: Translation[]): void {
    const { dir, raw } = record;
    const before = this.stream.last;
    this.#lastSign = this.#context.now();
    const t_ms = this.#lastSign - this.stream.created_at;
    const { type, disposition } = dispositionOf(translations);
    const native = this.stream.appendNative({ dir, t_ms, type, disposition, raw });
    this.#scribe.exit = record.exit ?? null;
    for (const translation of translations)
      this.#scribe.translation(
        this.#row.named ? keepTitle(translation) : translation,
        native,
        dir !== "in",
        unparsedOf(translation, this.#row.agent, record),
      );
    this.#scribe.exit = null;
    this.#settled(before);
  }

  say(drafts: Draft[]): void {
    this.#guard(() => this.#emit(drafts));
  }

  closed(info: { exit: ExitInfo | null; message?: string }): void {
    if (this.#line.broke()) this.#guard(() => this.#disconnected(info));
  }

  /** [S1] An agent's death does not end a session that the agent can resume. */
  #disconnected(info: { exit: ExitInfo | null; message?: string }): void {
    if (this.#scribe.ended) return;
    if (!this.#context.agent.capabilities.resume) return this.#end(endOf(info));
    const before = this.stream.last;
    this.#scribe.exit = info.exit;
    if (this.#scribe.turn) this.#scribe.say([lostAgent(info.message)]);
    this.#scribe.exit = null;
    this.#scribe.cut("error", "execution_error");
    this.#scribe.dormant();
    this.#settled(before);
    setImmediate(() => this.pump());
  }

  // ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A message would have to wait. */
  get #busy(): boolean {
    return this.#scribe.turn !== null || this.#queue.size > 0 || this.#giving !== null;
  }

  /** Nothing new begins: it ends, it has ended, the daemon goes, or this object is of no use any more. */
  get #stopped(): boolean {
    return this.#scribe.ended || this.#ending !== null || this.#suspended || this.#lost !== null;
  }

  #mustLive(): void {
    if (this.#lost) throw this.#lost.error;
    if (this.#scribe.ended) throw new ProblemError("session_ended");
    if (this.#ending) throw new ProblemError("session_ended", "The session is being ended. Create a new one, or fork this one.");
  }

  /** The way in from the agent, its connection and timers: whatever goes wrong stays inside. */
  #guard(entry: () => void): void {
    if (this.#lost) return;
    try {
      entry();
    } catch (error) {
      this.#lose(error);
    }
  }

  /** For commands: what was half written makes the object useless, and the command fails. */
  #write(work: () => void): void {
    if (this.#lost) throw this.#lost.error;
    const before = this.stream.last;
    try {
      work();
      this.#settled(before);
    } catch (error) {
      this.#lose(error);
      throw error;
    }
  }

  #emit(drafts: Draft[]): void {
    this.#write(() => this.#scribe.say(drafts));
  }

  /**
   * The last resort: the log refused in the middle of something. What is committed is true; what this object believes may not be. So the agent is stopped and
   * the object given up: whoever asks for the session next gets one that is read from the log and recovered.
   */
  #lose(error: unknown): void {
    if (this.#lost) return;
    this.#lost = { error };
    if (this.#forcing) clearTimeout(this.#forcing);
    const fields = {
      session_id: this.session_id,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
    this.#context.host.log("error", "the session could not be written; it is suspended and read again from the log", fields);
    this.#context.lost(this, this.#line.end());
  }

  #target() {
    const { native_session_id, fork } = this.#row;
    this.#startedTrusted = this.#gate.trusted;
    const config = configOf(this.#row, this.#startedTrusted);
    const own = this.#context.agent.sharesProcess ? {} : this.#context.agentEnvironment(this.session_id);
    const answered = this.#row.answered !== false;
    return {
      config: { ...config, env: { ...config.env, ...own } },
      resume: native_session_id === null ? null : { native_session_id, fork, answered },
    };
  }

  #turnEnded(data: EventDataOf["turn.ended"]): void {
    if (this.#forcing) clearTimeout(this.#forcing);
    this.#forcing = null;
    this.#save(usageAfter(this.#row, data.usage));
    if (data.stop_reason === "end_turn" && this.#row.answered === false) this.#save({ answered: true });
    if (this.#queue.size > 0) setImmediate(() => this.pump());
  }

  #state(): Visible {
    return { row: { ...this.#row }, queued: this.#queue.size, pending: this.#desk.pending() };
  }

  #end(data: SessionEnded): void {
    this.#queue.clear();
    this.#scribe.end(data);
    this.#save({ ended: data, status: "ended", status_detail: null });
    this.stream.setOpenSince(null);
    this.#settled(this.stream.last);
  }

  #save(change: Partial<SessionRow>): void {
    if (Object.keys(change).length === 0) return;
    Object.assign(this.#row, change);
    this.#rowChanged = true;
    this.stream.setState(JSON.stringify(this.#row));
  }

  /**
   * After anything was written; `before` is the last event before it. Remembers from where recovery has to read if the daemon dies now, and sets what clients
   * see as soon as it is committed.
   */
  #settled(before: number): void {
    // A process that may be running is something open, too: after a crash its session is found without looking at all the others.
    const busy = this.#scribe.busy || this.#line.alive;
    const since = this.stream.openSince();
    if (busy && since === null) this.stream.setOpenSince(before + 1);
    else if (!busy && since !== null) this.stream.setOpenSince(null);
    const requests = this.#scribe.requests.size > 0 || this.#hadRequests;
    if (!requests && !this.#rowChanged && this.#queue.version === this.#queueVersion) return;
    this.#hadRequests = this.#scribe.requests.size > 0;
    this.#rowChanged = false;
    this.#queueVersion = this.#queue.version;
    this.#visible.set(this.#state());
  }
}
