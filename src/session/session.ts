// One live session: takes commands, drives its agent through a connection, and lets the scribe write what happens. It knows the agent only by contract.
import { randomUUID } from "node:crypto";
import {
  type Agent,
  AgentError,
  type AgentHost,
  type ConfigPatch,
  type Connection,
  type ExitInfo,
  type Prompt,
  type SessionPort,
  type Translation,
} from "../agents/contract.ts";
import type { Log, Stream } from "../log/contract.ts";
import type { Draft } from "../schema/draft.ts";
import type { EventDataOf, SessionEnded, SessionStatusData, Usage } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { MessageAccepted, Pending, PermissionReplyBody, Session as SessionView, UpdateSession } from "../schema/session.ts";
import { dispositionOf, type Intake, type NativeRecord } from "./channel.ts";
import { EventWriter } from "./event-writer.ts";
import type { IdSource } from "./ids.ts";
import { MessageQueue, type QueuedMessage, type StoredAttachment } from "./message-queue.ts";
import { readOpenState } from "./open-state.ts";
import { optionFor } from "./permission-option.ts";
import { Scribe, type Turn } from "./scribe.ts";
import { configOf, parseRow, type SessionRow, sessionOf } from "./session-row.ts";

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

type Line = { connection: Connection; closing: boolean };

export class Session implements SessionPort, Intake {
  readonly stream: Stream;
  readonly #context: SessionContext;
  readonly #row: SessionRow;
  readonly #scribe: Scribe;
  readonly #queue: MessageQueue;
  #line: Line | null = null;
  #connecting: Promise<Line> | null = null;
  #pumping = false;
  /** The daemon is going: nothing new begins. */
  #suspended = false;
  #lost = false;
  #lastSign: number;
  #interrupting: NodeJS.Timeout | null = null;

  constructor(stream: Stream, context: SessionContext) {
    this.stream = stream;
    this.#context = context;
    this.#row = parseRow(stream.state());
    this.#queue = new MessageQueue(context.log.documents, this.#row.session_id);
    this.#lastSign = context.now();
    const writer = new EventWriter({
      sessionId: this.#row.session_id,
      sink: stream,
      ids: context.ids,
      clock: context.clock,
      sequence: stream.last,
      nativeSessionId: this.#row.native_session_id,
    });
    this.#scribe = new Scribe(writer, context.log.artifacts, {
      turnStarted: (turn) => this.#turnStarted(turn),
      turnEnded: (_, data) => this.#turnEnded(data),
      nativeSession: (id) => this.#save({ native_session_id: id, fork: false }),
      statusChanged: (status) => this.#statusChanged(status),
      plain: (type, data) => this.#learn(type, data),
    });
    this.#scribe.restore({
      status: this.#row.status === "dormant" ? "dormant" : "idle",
      turn: null,
      steps: [],
      ended: this.#row.ended !== null,
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
    return this.#line !== null || this.#connecting !== null;
  }

  view(): SessionView {
    const open = this.#scribe.requests.open();
    const permissions = open.filter((request) => request.kind === "permission").length;
    return sessionOf(
      this.#row,
      { created_at: this.stream.created_at, updated_at: this.#context.now(), last_sequence: this.stream.last },
      { queued: this.#queue.size, pending: { permissions, questions: open.length - permissions } },
    );
  }

  pending(): Pending {
    const open = this.#scribe.requests.open();
    return {
      permissions: open.flatMap((request) => (request.kind === "permission" ? [request.data] : [])),
      questions: open.flatMap((request) => (request.kind === "question" ? [request.data] : [])),
    };
  }

  /** First event of a new session. */
  begin(): void {
    const { agent, agent_version, directory, model, variant, agent_mode, permission_mode, title, forked_from } = this.#row;
    this.#scribe.begin({ agent, agent_version, directory, model, variant, agent_mode, permission_mode, title, forked_from });
  }

  /** After a daemon's death: closes what was open then, and leaves the session dormant, ready to be resumed. */
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
    if (this.#row.ended === null) {
      if (this.#context.agent.capabilities.resume) this.#scribe.dormant();
      else
        this.#end({
          reason: "error",
          terminated_by: "daemon",
          message: "The daemon was restarted, and this agent cannot resume a session.",
        });
    }
    this.#markOpen(this.stream.last);
  }

  // ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────────

  async send(text: string, attachments: StoredAttachment[], whenBusy: "queue" | "steer" | "reject"): Promise<MessageAccepted> {
    this.#mustLive();
    const message: QueuedMessage = { turn_id: this.#context.ids.next("turn"), message_id: randomUUID(), text, attachments };
    const busy = this.#scribe.turn !== null || this.#queue.size > 0 || this.#pumping;
    if (busy && whenBusy === "reject") throw new ProblemError("session_busy");
    if (busy && whenBusy === "steer" && this.#scribe.turn) return this.#steer(message, this.#scribe.turn);
    if (this.#queue.size >= this.#context.limits.queued) throw new ProblemError("queue_full");
    this.#queue.push(message);
    await this.#context.log.committed();
    void this.pump();
    return { turn_id: message.turn_id, queued: busy };
  }

  async #steer(message: QueuedMessage, turn: Turn): Promise<MessageAccepted> {
    const connection = this.#line?.connection;
    if (!connection?.steer) throw new ProblemError("steer_unsupported");
    await this.#agentCall(connection.steer(await this.#promptOf(message)));
    await this.#context.log.committed();
    return { turn_id: turn.turn_id, queued: false };
  }

  /** Gives the next queued message to the agent when it can take one. Called whenever that may have become true. */
  async pump(): Promise<void> {
    if (this.#pumping || this.#suspended || this.#scribe.ended || this.#scribe.turn) return;
    const message = this.#queue.peek();
    if (!message) return;
    this.#pumping = true;
    try {
      await this.#give(message);
    } finally {
      this.#pumping = false;
    }
    if (this.#queue.size > 0 && !this.#scribe.turn) setImmediate(() => void this.pump());
  }

  async #give(message: QueuedMessage): Promise<void> {
    this.#scribe.promiseTurn(message.turn_id);
    try {
      const { connection } = await this.#connect();
      await connection.prompt(await this.#promptOf(message));
      if (!this.#scribe.ended && this.#queue.peek()?.turn_id === message.turn_id)
        this.say([{ do: "turn.start", initiator: "client" }]);
    } catch (error) {
      this.#failedTurn(message, error);
    }
    this.#queue.remove(message.turn_id);
    this.#scribe.withdrawTurn(message.turn_id);
  }

  /** The message never reached the agent: its turn is told all the same, with the reason. */
  #failedTurn(message: QueuedMessage, error: unknown): void {
    const auth = error instanceof AgentError && error.code === "agent_auth_required";
    const text = error instanceof Error ? error.message : String(error);
    const code = auth ? "provider_auth" : "execution_error";
    const drafts: Draft[] = [
      { do: "turn.start", initiator: "client" },
      {
        do: "item.add",
        item: {
          key: `unsent:${message.turn_id}`,
          kind: "message",
          role: "user",
          content: [{ type: "text", text: message.text }],
        },
        status: "failed",
      },
      ...(auth ? [{ do: "event", type: "auth.status", data: { status: "required", message: text } } as const] : []),
      {
        do: "error",
        error: {
          message: text,
          code,
          details: { error_source: "daemon", native_code: error instanceof AgentError ? error.code : null, retryable: true },
        },
      },
      { do: "turn.end", stop_reason: "error", error_code: code },
    ];
    this.say(drafts);
  }

  async interrupt(): Promise<void> {
    this.#mustLive();
    const turn = this.#scribe.turn;
    if (!turn || !this.#line) return;
    this.#interrupting ??= setTimeout(() => this.#forceInterrupt(turn), this.#context.times.interrupt_ms).unref();
    await this.#agentCall(this.#line.connection.interrupt());
  }

  #forceInterrupt(turn: Turn): void {
    this.#interrupting = null;
    if (this.#scribe.turn !== turn) return;
    this.#scribe.cut("interrupted");
    void this.rest();
  }

  /** Ends the session. Idempotent. No process of it is left when this resolves. */
  async terminate(): Promise<void> {
    if (this.#scribe.ended) return;
    this.#queue.clear();
    await this.#hangUp();
    this.#end({ reason: "terminated", terminated_by: "daemon" });
    await this.#context.log.committed();
  }

  async configure(patch: UpdateSession): Promise<void> {
    this.#mustLive();
    const { title, ...config } = patch;
    if (Object.keys(config).length > 0) await this.#configureAgent(config);
    if (title !== undefined) {
      this.#save({ title });
      this.say([{ do: "event", type: "session.updated", data: { title } }]);
    }
    await this.#context.log.committed();
  }

  async #configureAgent(config: ConfigPatch): Promise<void> {
    const names = Object.keys(config) as (keyof ConfigPatch)[];
    const live = names.every((name) => this.#context.agent.capabilities.live[name]);
    if (this.#line) {
      if (live) await this.#agentCall(this.#line.connection.configure(config));
      else if (this.#scribe.turn)
        throw new ProblemError(
          "session_busy",
          "This agent takes that change only between turns. Wait for turn.ended, then try again.",
        );
      else await this.rest();
    }
    this.#save(config);
    this.say([{ do: "event", type: "config.changed", data: config }]);
  }

  async replyPermission(id: string, body: PermissionReplyBody): Promise<void> {
    const request = this.#scribe.requests.find(id);
    if (request?.kind !== "permission") return this.#answeredBefore(id, body, "permission_not_found");
    const option = optionFor(request.data.metadata.options, body);
    const approved = option ? option.kind.startsWith("allow") : body.reply !== "reject";
    this.#scribe.requests.remember(id, body);
    this.#scribe.requests.resolvePermission(
      id,
      {
        status: approved ? "approved" : "denied",
        resolved_by: "client",
        reply: body.reply,
        ...(option ? { option_id: option.id } : {}),
        ...(body.message === undefined ? {} : { message: body.message }),
        ...(body.updated_input === undefined ? {} : { updated_input: body.updated_input }),
      },
      { source: "daemon", native: null },
    );
    this.#scribe.settle();
    this.#afterWrite(this.stream.last);
    // The decision is on disk before the agent acts on it.
    await this.#context.log.committed();
    await this.#line?.connection.replyPermission(request.native, {
      reply: body.reply,
      option_id: option?.id ?? null,
      message: body.message ?? null,
      updated_input: body.updated_input,
    });
  }

  /** `answers` null: rejected. */
  async replyQuestion(id: string, answers: string[][] | null): Promise<void> {
    const request = this.#scribe.requests.find(id);
    if (request?.kind !== "question") return this.#answeredBefore(id, answers, "question_not_found");
    if (answers && answers.length !== request.data.questions.length)
      throw new ProblemError(
        "invalid_answers",
        `This request has ${request.data.questions.length} question(s); send one list of strings for each.`,
      );
    this.#scribe.requests.remember(id, answers);
    this.#scribe.requests.resolveQuestion(
      id,
      { status: answers ? "answered" : "rejected", resolved_by: "client", ...(answers ? { answers } : {}) },
      { source: "daemon", native: null },
    );
    this.#scribe.settle();
    this.#afterWrite(this.stream.last);
    await this.#context.log.committed();
    await this.#line?.connection.replyQuestion(request.native, answers);
  }

  #answeredBefore(id: string, answer: unknown, missing: "permission_not_found" | "question_not_found"): void {
    const before = this.#scribe.requests.answerOf(id);
    if (before === undefined) throw new ProblemError(missing);
    if (before !== JSON.stringify(answer)) throw new ProblemError("already_answered");
  }

  /** Puts the agent to rest; the session becomes dormant and the next message resumes it. */
  async rest(): Promise<void> {
    if (!this.#line || this.#scribe.ended) return;
    await this.#hangUp();
    this.#scribe.dormant();
    this.#afterWrite(this.stream.last);
  }

  /** For the daemon's own end: what is open is closed, the session stays resumable. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    if (this.#scribe.ended) return;
    await this.#hangUp();
    this.#scribe.cut("interrupted");
    this.#scribe.dormant();
    this.#afterWrite(this.stream.last);
  }

  /** Called now and then by the manager: no timer per event, no timer per session. */
  tick(now: number): void {
    if (this.#scribe.ended || !this.#line) return;
    const silent = now - this.#lastSign;
    if (this.#scribe.status === "running" && silent > this.#context.times.stall_ms)
      this.say([
        {
          do: "status",
          status: { status: "stalled", detail: `No sign of life for ${Math.round(silent / 1000)} s. Interrupt it, or wait.` },
        },
      ]);
    if (
      !this.#scribe.busy &&
      this.#queue.size === 0 &&
      silent > this.#context.times.idle_ms &&
      this.#context.agent.capabilities.resume
    )
      void this.rest();
  }

  // ── the agent's side ────────────────────────────────────────────────────────────────────────────────────────────────

  attached(freshKeys: boolean): void {
    if (freshKeys) this.#scribe.items.newScope();
  }

  ingest(record: NativeRecord, translations: Translation[], rawHash: () => string): void {
    if (this.#scribe.ended || this.#lost) return;
    try {
      this.#ingest(record, translations, rawHash);
    } catch (error) {
      this.#lose(error);
    }
  }

  /**
   * The log takes nothing any more (a disk that stays full). What is committed is true; what this object believes may not be. So the agent is stopped
   * and the object given up: whoever asks for the session next gets one that is read from the log and recovered.
   */
  #lose(error: unknown): void {
    this.#lost = true;
    this.#suspended = true;
    this.#context.host.log("error", "the log refused a message; the session is suspended", {
      session_id: this.session_id,
      error: String(error),
    });
    this.#context.lost(this);
    void this.#hangUp();
  }

  #ingest(record: NativeRecord, translations: Translation[], rawHash: () => string): void {
    const before = this.stream.last;
    this.#lastSign = this.#context.now();
    const { type, disposition } = dispositionOf(translations);
    const native = this.stream.appendNative({
      dir: record.dir,
      t_ms: this.#lastSign - this.stream.created_at,
      type,
      disposition,
      raw: record.raw,
    });
    const fromAgent = record.dir !== "in";
    for (const translation of translations)
      this.#scribe.translation(translation, native, fromAgent, { location: this.#row.agent, rawHash });
    this.#afterWrite(before);
  }

  say(drafts: Draft[]): void {
    const before = this.stream.last;
    this.#scribe.say(drafts);
    this.#afterWrite(before);
  }

  closed(info: { exit: ExitInfo | null; resumable: boolean; message?: string }): void {
    const line = this.#line;
    if (!line || line.closing || this.#scribe.ended) return;
    this.#line = null;
    if (info.resumable) {
      const before = this.stream.last;
      this.#scribe.cut("error", "execution_error");
      this.#scribe.dormant();
      this.#afterWrite(before);
      if (this.#queue.size > 0) setImmediate(() => void this.pump());
      return;
    }
    this.#end(endOf(info));
  }

  // ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  #mustLive(): void {
    if (this.#scribe.ended) throw new ProblemError("session_ended");
  }

  #connect(): Promise<Line> {
    if (this.#line) return Promise.resolve(this.#line);
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #open(): Promise<Line> {
    const { agent, host } = this.#context;
    const { native_session_id, fork } = this.#row;
    const resume = native_session_id === null ? null : { native_session_id, fork };
    // Exit during start-up is the start's failure, told by connect(); the line exists only when it can be used.
    const connection = await agent.connect({ config: configOf(this.#row), resume, port: this, host });
    const line: Line = { connection, closing: false };
    if (this.#scribe.ended) {
      await connection.close();
      throw new ProblemError("session_ended");
    }
    this.#line = line;
    return line;
  }

  async #hangUp(): Promise<void> {
    const line = this.#line ?? (this.#connecting ? await this.#connecting.catch(() => null) : null);
    if (!line) return;
    line.closing = true;
    await line.connection
      .close()
      .catch((error: unknown) =>
        this.#context.host.log("warn", "the connection did not close cleanly", { error: String(error) }),
      );
    if (this.#line === line) this.#line = null;
  }

  #end(data: SessionEnded): void {
    this.#queue.clear();
    this.#scribe.end(data);
    this.#save({ ended: data, status: "ended", status_detail: null });
    this.stream.setOpenSince(null);
  }

  async #promptOf(message: QueuedMessage): Promise<Prompt> {
    const attachments = message.attachments.map(async ({ name, mime, artifact_id, path }) => ({
      name,
      mime,
      path,
      bytes: await readArtifact(this.#context.log, artifact_id),
    }));
    return { message_id: message.message_id, text: message.text, attachments: await Promise.all(attachments) };
  }

  async #agentCall(call: Promise<void>): Promise<void> {
    try {
      await call;
    } catch (error) {
      if (error instanceof AgentError) throw new ProblemError(error.code, error.message, { cause: error });
      throw error;
    }
  }

  #turnStarted(turn: Turn): void {
    this.#queue.remove(turn.turn_id);
  }

  #turnEnded(data: EventDataOf["turn.ended"]): void {
    if (this.#interrupting) clearTimeout(this.#interrupting);
    this.#interrupting = null;
    if (data.usage && !this.#sessionUsage) this.#save({ usage: addUsage(this.#row.usage, data.usage) });
    if (this.#queue.size > 0) setImmediate(() => void this.pump());
  }

  #sessionUsage = false;

  #statusChanged(status: SessionStatusData): void {
    const state = status.status;
    this.#save({
      status: state === "retrying" || state === "compacting" || state === "stalled" ? "running" : state,
      status_detail: state === "retrying" || state === "compacting" || state === "stalled" ? state : null,
    });
  }

  #learn(type: string, data: unknown): void {
    if (type === "config.changed") {
      const { model, variant, agent_mode, permission_mode } = data as EventDataOf["config.changed"];
      const known =
        permission_mode === "default" ||
        permission_mode === "plan" ||
        permission_mode === "accept_edits" ||
        permission_mode === "bypass";
      this.#save({
        ...(model === undefined ? {} : { model }),
        ...(variant === undefined ? {} : { variant }),
        ...(agent_mode === undefined ? {} : { agent_mode }),
        ...(known ? { permission_mode } : {}),
      });
    }
    if (type === "session.updated") {
      const { title } = data as EventDataOf["session.updated"];
      if (title !== undefined) this.#save({ title });
    }
    if (type === "usage.updated") {
      const { scope, ...usage } = data as EventDataOf["usage.updated"];
      if (scope !== "session") return;
      this.#sessionUsage = true;
      this.#save({ usage: { ...this.#row.usage, ...usage } });
    }
  }

  #save(change: Partial<SessionRow>): void {
    Object.assign(this.#row, change);
    this.stream.setState(JSON.stringify(this.#row));
  }

  #afterWrite(before: number): void {
    if (this.stream.last !== before || this.#scribe.busy !== (this.stream.openSince() !== null)) this.#markOpen(before);
  }

  /** Remembers from where recovery has to read if the daemon dies now. */
  #markOpen(before: number): void {
    const since = this.stream.openSince();
    if (this.#scribe.busy && since === null) this.stream.setOpenSince(before + 1);
    else if (!this.#scribe.busy && since !== null) this.stream.setOpenSince(null);
  }
}

function endOf({ exit, message }: { exit: ExitInfo | null; message?: string }): SessionEnded {
  if (exit?.code === 0) return { reason: "completed", terminated_by: "agent" };
  const how = exit?.signal ? `ended by ${exit.signal}` : `exited with code ${exit?.code ?? "unknown"}`;
  return {
    reason: "error",
    terminated_by: "agent",
    message: message ?? `The agent ${how}.`,
    exit_code: exit?.code ?? null,
    signal: exit?.signal ?? null,
    ...(exit ? { stderr: exit.stderr } : {}),
  };
}

async function readArtifact(log: Log, id: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of log.artifacts.openRead(id) ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const addUsage = (sum: Usage | null, turn: Usage): Usage => {
  const total: Usage = {
    ...turn,
    input_tokens: turn.input_tokens + (sum?.input_tokens ?? 0),
    output_tokens: turn.output_tokens + (sum?.output_tokens ?? 0),
  };
  if (turn.cost_usd !== undefined || sum?.cost_usd !== undefined) total.cost_usd = (turn.cost_usd ?? 0) + (sum?.cost_usd ?? 0);
  return total;
};
