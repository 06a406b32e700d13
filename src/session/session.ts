/**
 * One live session: its parts put together, what clients see of it, and their commands. It knows the agent only by contract. Readers see committed state only.
 * Not here: what comes from the agent (agent-intake.ts), what is written (session-record.ts), messages and their queue (message-delivery.ts), changes of the
 * configuration (session-settings.ts).
 */
import type { StreamWriter } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import { type Actor, EMBEDDED } from "../schema/actor.ts";
import type { Draft } from "../schema/draft.ts";
import type { EventDataOf, StoredAttachment } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type {
  DirectorySettings,
  MessageAccepted,
  Pending,
  PermissionReplyBody,
  Session as SessionView,
  UpdateQueuedMessage,
  UpdateSession,
} from "../schema/session.ts";
import type { MessageQueueList, QueuedMessage } from "../schema/snapshot.ts";
import { AgentConnection, agentCall } from "./agent-connection.ts";
import { AgentIntake } from "./agent-intake.ts";
import { AgentStart } from "./agent-start.ts";
import { AgentTasks } from "./agent-tasks.ts";
import { AgentWatch } from "./agent-watch.ts";
import { CarriedMemory, mustCarry } from "./carried-memory.ts";
import { MessageDelivery, type NewMessage } from "./message-delivery.ts";
import { recoverSession } from "./recover-session.ts";
import { RequestAnswers } from "./request-answers.ts";
import { SessionCheckpoints } from "./session-checkpoints.ts";
import type { SessionContext } from "./session-context.ts";
import { SessionRecord } from "./session-record.ts";
import { type SessionRow, startMetadata } from "./session-row.ts";
import { SessionSettings } from "./session-settings.ts";
import { SessionSkills } from "./session-skills.ts";
import { DaemonRequest, TrustGate } from "./trust-gate.ts";
import { TurnInterrupt } from "./turn-interrupt.ts";

export class Session {
  readonly stream: StreamWriter;
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #row: SessionRow;
  readonly #delivery: MessageDelivery;
  readonly #answers: RequestAnswers;
  readonly #connection: AgentConnection;
  readonly #gate: TrustGate;
  readonly #settings: SessionSettings;
  readonly #checkpoints: SessionCheckpoints | null;
  readonly #tasks: AgentTasks | null;
  readonly #carried: CarriedMemory | null;
  readonly #start: AgentStart;
  readonly #watch: AgentWatch;
  readonly #interrupt: TurnInterrupt;
  /** Where what comes from the agent enters. */
  readonly #intake: AgentIntake;
  /** It is being ended: nothing new begins. */
  #ending: Promise<void> | null = null;
  /** A request was answered with `always` since the agent started. */
  #allowedForGood = false;
  /** The daemon is going: nothing new begins. */
  #suspended = false;
  #movedEpoch = 0;

  constructor(stream: StreamWriter, context: SessionContext) {
    const { log, ids, clock, agent, host, directories, projection } = context;
    this.stream = stream;
    this.#context = context;
    const record = new SessionRecord({
      ...{ stream, log, ids, clock, host, projection },
      listener: {
        turnStarted: () => this.#checkpoints?.turnStarted(),
        turnEnded: (data) => this.#turnEnded(data),
        nativeSession: (id) => record.save({ native_session_id: id, fork: false }),
      },
      alive: () => this.#connection.alive,
      onLost: () => this.#lost(),
    });
    const row = record.row;
    this.#record = record;
    this.#row = row;
    const { session_id, directory } = row;
    const { documents } = stream;
    const [pump, rest] = [() => this.pump(), () => this.rest()];
    const mustLive = () => this.#mustLive();
    this.#checkpoints = context.checkpoints
      ? new SessionCheckpoints({ port: context.checkpoints, record, documents, directory })
      : null;
    this.#tasks = context.adoptTask
      ? new AgentTasks({ session_id, directory, adopt: context.adoptTask, connection: () => this.#connection.current })
      : null;
    this.#watch = new AgentWatch({ record, context, tasks: this.#tasks, rest });
    this.#intake = new AgentIntake({
      ...{ record, stream, watch: this.#watch, checkpoints: this.#checkpoints, tasks: this.#tasks, pump },
      resumable: agent.capabilities.resume,
      broke: () => this.#connection.broke(),
    });
    const connection = new AgentConnection(agent, host, this.#intake, context.predecessor);
    this.#connection = connection;
    const carry = mustCarry(agent, context.carry, row);
    this.#carried = carry
      ? new CarriedMemory({
          ...{ carry, host, log, node: context.carry?.node ?? null, row, documents },
          save: (carried) => record.write(() => record.save({ carried })),
          committed: () => stream.committed(),
        })
      : null;
    const gate = new TrustGate({
      ...{ row, agent, host, directories },
      save: (change) => record.write(() => record.save(change)),
      emit: (drafts) => record.emit(drafts),
    });
    this.#gate = gate;
    const skills = new SessionSkills({ record, context, trusted: () => this.#start.trusted() });
    const start = new AgentStart({ row, gate, connection, skills, carried: this.#carried, context });
    this.#start = start;
    this.#settings = new SessionSettings({
      ...{ record, log, agent, host, connection, gate, start, mustLive, rest },
      busy: () => record.projection.turn !== null || this.#delivery.running !== null,
      allowedForGood: () => this.#allowedForGood,
    });
    this.#delivery = new MessageDelivery({
      ...{ record, log, stream, start, skills, checkpoints: this.#checkpoints, mustLive },
      limit: context.limits.queued,
      newTurnId: () => ids.next("turn"),
      connection: () => connection.current,
      settled: () => this.#settings.settled,
      stopped: () => this.#stopped,
    });
    this.#interrupt = new TurnInterrupt({ record, gate, delivery: this.#delivery, connection, context, rest });
    this.#answers = new RequestAnswers({
      requests: record.scribe.requests,
      editsInput: agent.capabilities.edit_input,
      connection: () => connection.current,
      say: (drafts) => record.emit(drafts),
      committed: (options) => stream.committed(options),
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
    return this.#connection.alive;
  }

  /** The state after everything that was written, committed or not. It is exact, also when this object was given up: what was not appended is not in it. */
  get projection(): SessionProjection {
    return this.#record.projection;
  }

  /** Nothing of it would be lost if this object were let go: the log has it all. */
  get resting(): boolean {
    const idle = !this.#connection.alive && !this.#delivery.running && !this.#ending && !this.projection.open;
    return idle && this.stream.last === this.stream.lastCommitted;
  }

  /** Messages that wait, committed or not. */
  get queued(): number {
    return this.projection.queue.length;
  }

  /** [D1] What is committed, and nothing else. */
  view(): SessionView {
    return { ...this.#record.view((row) => this.#start.trusted(row)), ...this.#context.whereabouts?.(this.session_id) };
  }

  /** Which files of the directory its agent loads: the one that runs, or the next one that is started. */
  directorySettings(): Promise<DirectorySettings> {
    return this.#gate.settings(this.#start.trusted());
  }

  /** Whether this open request asks for trust in the directory, which a person alone may give. */
  asksForTrust(permissionId: string): boolean {
    const request = this.#record.scribe.requests.find(permissionId);
    return request?.kind === "permission" && request.side.native instanceof DaemonRequest;
  }

  /** [D1] What is committed, and nothing else. */
  pending(): Pending {
    return this.#record.pending();
  }

  /** [D1] What is committed, and nothing else. */
  queue(): MessageQueueList {
    return this.#record.queue();
  }

  /** First event of a new session. */
  begin(): void {
    this.#record.scribe.begin(startMetadata(this.#row));
  }

  /** [S2] After a daemon's death: closes what was open then, and leaves the session dormant, ready to be resumed. */
  recover(): void {
    const { agent } = this.#context;
    recoverSession(this.#record, { documents: this.stream.documents, wasOpen: this.stream.openSince() !== null, agent });
  }

  /** Another node owned it until now. Once for an epoch, however often it is tried. */
  moved(data: EventDataOf["session.moved"]): void {
    if (this.projection.ended || this.#movedEpoch === data.epoch) return;
    this.#record.append("session.moved", data);
    this.#movedEpoch = data.epoch;
  }

  /** Nothing new begins; what runs goes on. Messages that come are queued, for whoever has the session next. */
  hold(): void {
    this.#suspended = true;
  }

  /** Another node owns it: its agent is ended, and nothing of it is written here any more. */
  abandon(): void {
    this.#record.lose(new LogError("fenced", `Session ${this.session_id} is another node's now.`));
  }

  // ── commands: each names who gives it; without a name it is the program that embeds the session ─────────────────────

  /** `command`: the text is one of the agent's own commands, chosen by the person. */
  send(
    text: string,
    attachments: StoredAttachment[],
    when_busy: "queue" | "steer" | "reject",
    actor: Actor = EMBEDDED,
    { command = false, key }: Partial<Pick<NewMessage, "command" | "key">> = {},
  ): Promise<MessageAccepted> {
    return this.#delivery.send({ text, attachments, when_busy, actor, command, key });
  }

  /** Gives the next queued message to the agent when it can take one. */
  pump(): void {
    this.#delivery.pump();
  }

  updateQueued(messageId: string, change: UpdateQueuedMessage, actor: Actor = EMBEDDED): Promise<QueuedMessage> {
    return this.#delivery.update(messageId, change, actor);
  }

  removeQueued(messageId: string, actor: Actor = EMBEDDED): Promise<void> {
    return this.#delivery.remove(messageId, actor);
  }

  sendQueued(messageId: string, actor: Actor = EMBEDDED): Promise<MessageAccepted> {
    return this.#delivery.sendNow(messageId, actor);
  }

  /** Stops the running turn, also one whose message is still on its way. Nothing runs: nothing happens. */
  async interrupt(actor: Actor = EMBEDDED): Promise<void> {
    this.#mustLive();
    await this.#interrupt.interrupt(actor);
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
    await this.#connection.end();
    this.#tasks?.lost("its session was ended");
    if (this.#record.lost) throw this.#record.lost.error;
    if (!this.projection.ended)
      this.#record.write(() => this.#record.end({ reason: "terminated", terminated_by: "daemon", actor }));
    await this.stream.committed();
  }

  configure(patch: UpdateSession, actor: Actor = EMBEDDED): Promise<void> {
    return this.#settings.configure(patch, actor);
  }

  async replyPermission(id: string, body: PermissionReplyBody, actor: Actor = EMBEDDED): Promise<void> {
    this.#context.log.assertWritable();
    await this.#checkpointFor(id, body);
    if (body.reply === "always") this.#allowedForGood = true;
    return this.#answers.replyPermission(id, body, actor);
  }

  /** The state before what a person is about to allow. */
  async #checkpointFor(id: string, { reply }: PermissionReplyBody): Promise<void> {
    const request = reply === "reject" ? undefined : this.#record.scribe.requests.find(id);
    if (request?.kind !== "permission" || request.side.native instanceof DaemonRequest) return;
    const { tool_name, paths = [] } = request.data.metadata;
    await this.#checkpoints?.beforePermission(tool_name, paths);
  }

  get hasCheckpoints(): boolean {
    return this.#checkpoints !== null;
  }

  /** Throws `checkpoints_off` when the configuration switched them off. */
  get checkpoints(): SessionCheckpoints {
    if (!this.#checkpoints) throw new ProblemError("checkpoints_off");
    return this.#checkpoints;
  }

  /** `answers` null: rejected. */
  async replyQuestion(id: string, answers: string[][] | null, actor: Actor = EMBEDDED): Promise<void> {
    this.#context.log.assertWritable();
    return this.#answers.replyQuestion(id, answers, actor);
  }

  /** The agent's own memory ends in the middle of a turn that it can go on with. */
  async unfinished(): Promise<boolean> {
    const { agent, host } = this.#context;
    const { native_session_id } = this.#row;
    if (this.projection.ended || native_session_id === null || !agent.unfinished) return false;
    await this.#carried?.bring();
    return agent.unfinished(native_session_id, host);
  }

  /** Starts the agent without a message, for a session whose agent rests or has died. */
  async resume(): Promise<void> {
    this.#mustLive();
    this.#context.log.assertWritable();
    if (this.#connection.current || this.#delivery.running) return;
    await this.#start.permittedWithoutMessage();
    await agentCall(this.#start.open());
    this.#mustLive();
    this.#record.write(() => this.#record.scribe.settle());
    await this.stream.committed();
  }

  /** Puts the agent to rest; the session becomes dormant and the next message resumes it. A message that comes meanwhile waits for that. */
  async rest(): Promise<void> {
    if (!this.#connection.current || this.#stopped) return;
    await this.#connection.close();
    this.#tasks?.lost("its agent was put to rest");
    if (!this.#stopped) this.#record.guard(() => this.#rested());
  }

  #rested(): void {
    this.#allowedForGood = false;
    this.#record.cut({ dormant: !this.#connection.alive });
    void this.#carried?.rested();
  }

  /** For the daemon's own end: what is open is closed, the session stays resumable. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    this.#gate.cancel();
    await this.#connection.end();
    this.#tasks?.lost("the daemon is stopping");
    if (this.#context.log.health().state === "ok") {
      await this.#carried?.rested();
      // A delivery in progress puts its message back; one that waits for a log that cannot write has not begun.
      await this.#delivery.running;
    }
    this.#record.guard(() => this.#record.cut({ dormant: true }));
  }

  /** While true, the agent is not read: it waits for us, instead of us keeping what the log cannot take. */
  setPaused(paused: boolean): void {
    this.#watch.setPaused(paused);
    this.#connection.setPaused(paused);
  }

  /** Called now and then by the manager: no timer per event, no timer per session. */
  tick(now: number): void {
    if (!this.#stopped && this.#connection.current) this.#watch.tick(now);
  }

  /** What the daemon itself reports in this session. */
  say(drafts: Draft[]): void {
    this.#intake.say(drafts);
  }

  // ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Nothing new begins: it ends, it has ended, the daemon goes, or this object is of no use any more. */
  get #stopped(): boolean {
    return this.projection.ended || this.#ending !== null || this.#suspended || this.#record.lost !== null;
  }

  #mustLive(): void {
    if (this.#record.lost) throw this.#record.lost.error;
    if (this.projection.ended) throw new ProblemError("session_ended");
    if (this.#ending) throw new ProblemError("session_ended", "The session is being ended. Create a new one, or fork this one.");
  }

  /** The log refused in the middle of something, see `SessionRecord.lose`. */
  #lost(): void {
    this.#interrupt.over();
    this.#tasks?.lost("its events could not be stored");
    this.#carried?.close();
    this.#context.lost(this.#connection.end());
  }

  #turnEnded(data: EventDataOf["turn.ended"]): void {
    this.#interrupt.over();
    this.#checkpoints?.turnEnded(data.turn_id);
    this.#carried?.turnEnded();
    if (data.stop_reason === "end_turn" && this.#row.answered === false) this.#record.save({ answered: true });
    if (this.projection.queue.length > 0) setImmediate(() => this.pump());
  }
}
