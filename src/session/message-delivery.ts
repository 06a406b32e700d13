/**
 * Messages on their way to the agent: accepted into the queue, changed and removed while they wait, delivered one after the other. The queue is what the
 * session's projection says. The turn that takes a message names it, in one event, and that event is committed before the agent gets the message: after a
 * crash a message is queued or its turn has begun, never both, never neither, and no agent gets it twice. One that goes into a running turn names that turn before
 * the agent gets it. A delivery that was begun and never came to an end is
 * counted; after MAX_ATTEMPTS it is not tried again.
 */
import { randomUUID } from "node:crypto";
import type { Connection } from "../agents/contract.ts";
import type { Log, Stream } from "../log/contract.ts";
import { withdrawn } from "../log/log-error.ts";
import type { Actor } from "../schema/actor.ts";
import type { MessageQueued, StoredAttachment } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { MessageAccepted, UpdateQueuedMessage } from "../schema/session.ts";
import type { QueuedMessage } from "../schema/snapshot.ts";
import { agentCall } from "./agent-connection.ts";
import type { AgentStart } from "./agent-start.ts";
import { keyedMessage, type MessageKey } from "./keyed-message.ts";
import { parkedMessage, unsentTurn } from "./outcomes.ts";
import { promptOf, readCommand } from "./prompt.ts";
import type { SessionCheckpoints } from "./session-checkpoints.ts";
import type { SessionRecord } from "./session-record.ts";
import type { SessionSkills } from "./session-skills.ts";

/** A message whose delivery was begun this often and never came to an end is not tried again: it may be what stopped the daemon. */
const MAX_ATTEMPTS = 2;

export type NewMessage = {
  text: string;
  attachments: StoredAttachment[];
  when_busy: "queue" | "steer" | "reject";
  actor: Actor;
  /** The text is one of the agent's own commands, chosen by the person. */
  command: boolean;
  /** The client may send it again under this key. */
  key?: MessageKey | undefined;
};

export type DeliveryOptions = {
  record: SessionRecord;
  log: Log;
  stream: Pick<Stream, "read">;
  newTurnId(): string;
  limit: number;
  /** The connection there is now. */
  connection(): Connection | null;
  start: Pick<AgentStart, "permitted" | "open">;
  /** Resolves when no change of the configuration is under way: no agent is started beside one. */
  settled(): Promise<void>;
  skills: Pick<SessionSkills, "used">;
  checkpoints: Pick<SessionCheckpoints, "warm" | "beforePrompt" | "left"> | null;
  /** Nothing new begins. */
  stopped(): boolean;
  mustLive(): void;
};

type Marking = { mark(): void; undo(): void };

export class MessageDelivery {
  readonly #options: DeliveryOptions;
  /** A delivery is running. */
  #running: Promise<void> | null = null;
  /** The message whose delivery this object has begun and counted. */
  #begun: string | null = null;
  /** Messages that the agent is being given: they cannot be changed any more. Several may be sent into a running turn at once. */
  readonly #sending = new Set<string>();
  /** The turn whose start is being committed: the agent has not got its message yet. */
  #starting: Promise<void> | null = null;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  get running(): Promise<void> | null {
    return this.#running;
  }

  /** Not null while a turn has begun whose message the agent has not got yet. Never rejects. */
  get starting(): Promise<void> | null {
    return this.#starting;
  }

  async send({ text, attachments, when_busy, actor, command, key }: NewMessage): Promise<MessageAccepted> {
    const { record, log, mustLive, newTurnId } = this.#options;
    mustLive();
    log.assertWritable();
    // What an earlier attempt left must be in the story before that is asked.
    if (key?.again) await record.committed();
    const keyed = key ? await keyedMessage(this.#options.stream, key) : { messageId: randomUUID() };
    if ("accepted" in keyed) return keyed.accepted;
    mustLive();
    const { turn } = record.projection;
    const message: MessageQueued = {
      message_id: keyed.messageId,
      turn_id: newTurnId(),
      text,
      ...(command ? { command } : {}),
      ...(attachments.length > 0 ? { attachments } : {}),
      actor,
    };
    if (this.#busy && when_busy === "reject") throw new ProblemError("session_busy");
    if (turn && when_busy === "steer" && !command) return this.#sendInto(turn.turn_id, message);
    return this.#enqueue(message);
  }

  /** It waits for a turn of its own when the running one ends before the agent has it. */
  #sendInto(turnId: string, message: MessageQueued): Promise<MessageAccepted> {
    const { record } = this.#options;
    return this.#steer(turnId, message, {
      mark: () => {
        this.#mustHaveRoom();
        record.append("message.queued", { ...message, steering: turnId });
      },
      undo: () => void record.dequeue(message.message_id, "refused"),
    });
  }

  #mustHaveRoom(): void {
    if (this.#options.record.projection.queue.length >= this.#options.limit) throw new ProblemError("queue_full");
  }

  async #enqueue(message: MessageQueued): Promise<MessageAccepted> {
    const { record, mustLive } = this.#options;
    const busy = this.#busy;
    this.#mustHaveRoom();
    // Its first delivery begins right away, and is counted with it.
    record.append("message.queued", busy ? message : { ...message, attempts: 1 });
    if (!busy) this.#begun = message.message_id;
    await this.#accepted(message.message_id);
    mustLive();
    this.pump();
    return { turn_id: message.turn_id, message_id: message.message_id, queued: busy };
  }

  /** A message would have to wait. */
  get #busy(): boolean {
    const { turn, queue } = this.#options.record.projection;
    return turn !== null || queue.length > 0 || this.#running !== null;
  }

  /** Refused means not done: a message that could not be kept must not run when the log is well again. */
  async #accepted(messageId: string): Promise<void> {
    const { record } = this.#options;
    try {
      await record.committed();
    } catch (error) {
      record.guard(() => void record.dequeue(messageId, "refused"));
      throw withdrawn(error);
    }
  }

  /**
   * Gives a message to the agent for its running turn. `mark` lets the story say so, and that is committed before the agent gets anything: whoever takes the session over cannot know
   * whether the agent has it, and must not give it again. `undo`: the agent does not have it, and the sender is informed.
   */
  async #steer(turnId: string, message: MessageQueued, { mark, undo }: Marking): Promise<MessageAccepted> {
    const { record } = this.#options;
    const { message_id, actor } = message;
    if (!this.#options.connection()?.steer || message.command) throw new ProblemError("steer_unsupported");
    mark();
    this.#sending.add(message_id);
    try {
      const steered = await this.#giveTo(turnId, message).catch((error: unknown) => {
        record.guard(undo);
        throw error;
      });
      if (steered) record.dequeue(message_id, "steered", { turn_id: turnId, ...(actor ? { actor } : {}) });
      else this.#unmark(message_id);
      await record.committed();
      return { turn_id: steered ? turnId : message.turn_id, message_id, queued: !steered };
    } finally {
      this.#sending.delete(message_id);
      this.pump();
    }
  }

  #unmark(messageId: string): void {
    if (this.#find(messageId)) this.#options.record.append("message.updated", { message_id: messageId, steering: null });
  }

  /** False: the turn ended before. The message steers nothing any more. */
  async #giveTo(turnId: string, message: MessageQueued): Promise<boolean> {
    const { log, connection, mustLive, record } = this.#options;
    const current = connection();
    await record.committed().catch((error: unknown) => {
      throw withdrawn(error);
    });
    // Before that it would be the message that the agent's turn begins with.
    await this.#starting;
    const prompt = await promptOf(message, log.artifacts);
    mustLive();
    if (!current?.steer || connection() !== current) throw new ProblemError("agent_gone");
    if (record.projection.turn?.turn_id !== turnId) return false;
    return (await agentCall<unknown>(current.steer(prompt))) !== "idle";
  }

  /** Edits or moves a message that waits. */
  async update(messageId: string, change: UpdateQueuedMessage, actor: Actor): Promise<QueuedMessage> {
    const { command } = this.#changeable(messageId);
    if (command && change.text !== undefined && readCommand(change.text) === null)
      throw new ProblemError("unsupported", "This message is a command: write it as /name, with its arguments behind it.");
    const { before, ...rest } = change;
    const moved = before === undefined ? {} : { position: this.#placeBefore(before, messageId, change) };
    this.#options.record.append("message.updated", { message_id: messageId, ...rest, ...moved, actor });
    await this.#options.record.committed();
    this.pump();
    const message = this.#find(messageId);
    if (!message) throw new ProblemError("message_not_found", "It was changed, and has been delivered since.");
    return message;
  }

  async remove(messageId: string, actor: Actor): Promise<void> {
    this.#changeable(messageId);
    this.#options.record.dequeue(messageId, "client", { actor });
    await this.#options.record.committed();
    this.pump();
  }

  /** Before its time: into the running turn where the agent can take it there; next in the queue when nothing runs. */
  async sendNow(messageId: string, actor: Actor): Promise<MessageAccepted> {
    const message = this.#changeable(messageId);
    const { record } = this.#options;
    const { turn, queue } = record.projection;
    if (turn) {
      const steering = turn.turn_id;
      return this.#steer(
        steering,
        { ...message, actor },
        {
          mark: () => record.append("message.updated", { message_id: messageId, steering }),
          undo: () => this.#unmark(messageId),
        },
      );
    }
    if (queue[0] !== message) record.append("message.updated", { message_id: messageId, position: 0, actor });
    await record.committed();
    this.pump();
    return { turn_id: message.turn_id, message_id: messageId, queued: this.#begun !== messageId && this.#begun !== null };
  }

  #placeBefore(other: string, messageId: string, { position }: UpdateQueuedMessage): number {
    if (position !== undefined)
      throw new ProblemError("invalid_request", "Say either `position` or `before`: each names another place.");
    const { queue } = this.#options.record.projection;
    const place = queue.filter(({ message_id }) => message_id !== messageId).findIndex(({ message_id }) => message_id === other);
    if (place === -1)
      throw new ProblemError("message_not_found", "The message that it is to stand before does not wait, or is itself.");
    return place;
  }

  #find(messageId: string): QueuedMessage | undefined {
    return this.#options.record.projection.queue.find(({ message_id }) => message_id === messageId);
  }

  #changeable(messageId: string): QueuedMessage {
    this.#options.mustLive();
    this.#options.log.assertWritable();
    const message = this.#find(messageId);
    if (!message) throw new ProblemError("message_not_found");
    if (this.#sending.has(messageId)) throw new ProblemError("message_sending");
    return message;
  }

  /** Gives the next queued message to the agent when it can take one. Called whenever that may have become true. */
  pump(): void {
    const { record, stopped } = this.#options;
    const next = record.projection.queue[0];
    if (!next || this.#running || this.#sending.size > 0 || stopped() || record.projection.turn) return;
    this.#running = this.#deliver(next.message_id)
      .catch((error: unknown) => record.lose(error))
      .finally(() => {
        this.#running = null;
        if (record.projection.queue.length > 0) setImmediate(() => this.pump());
      });
  }

  async #deliver(messageId: string): Promise<void> {
    const { record, log, connection, start, skills, settled, stopped, checkpoints } = this.#options;
    const { projection } = record;
    const waits = (): boolean => stopped() || projection.turn !== null || projection.queue[0]?.message_id !== messageId;
    let begun: QueuedMessage | null = null;
    try {
      // A wait for a person is no attempt.
      if (!connection()) await start.permitted();
      if (waits()) return this.#undo(messageId);
      const attempts = this.#begin(messageId);
      if (attempts >= MAX_ATTEMPTS) throw parkedMessage(attempts);
      await settled();
      // The count is on disk before the delivery begins; while the log cannot write, nothing is delivered.
      await record.committed({ bounded: false });
      if (!connection()) checkpoints?.warm();
      const agent = await start.open();
      const turnId = this.#find(messageId)?.turn_id;
      if (turnId !== undefined && !waits()) await checkpoints?.beforePrompt(turnId);
      const message = this.#find(messageId);
      const prompt = message && (await promptOf(message, log.artifacts));
      // Meanwhile the agent may have begun a turn of its own, or the message may have been changed or removed.
      if (!prompt || waits() || this.#find(messageId) !== message) return this.#undo(messageId);
      this.#sending.add(messageId);
      const given = await skills.used(prompt);
      if (waits()) return this.#undo(messageId);
      begun = message;
      await this.#startTurn(message);
      // Somebody may have cut the turn meanwhile; the agent may be another one.
      if (projection.turn?.turn_id !== message.turn_id) return;
      if (connection() !== agent) throw new ProblemError("agent_gone");
      await agent.prompt(given);
    } catch (error) {
      const message = begun ?? this.#find(messageId);
      // While the agent has begun a turn of its own, the message waits for the end of that.
      const other = projection.turn !== null && projection.turn.turn_id !== begun?.turn_id;
      if (stopped() || other || (begun && !projection.turn)) return this.#undo(messageId);
      if (message) {
        if (!begun) this.#promise(message);
        record.emit(unsentTurn(message, error));
      }
    } finally {
      this.#sending.delete(messageId);
      if (!projection.turn) checkpoints?.left();
    }
    this.#delivered(messageId);
  }

  /** Stands in the ledger: an agent may show no message of its turn. */
  #promise({ turn_id, message_id, actor, text, command }: QueuedMessage): void {
    const { record } = this.#options;
    const by = actor === undefined ? {} : { actor };
    const message = { turn_id, message_id, ...by, text, ...(command ? { command } : {}) };
    record.write(() => record.decide({ do: "promise", message }));
  }

  /** Takes the message out of the queue. Nothing of it reaches the agent before this is on disk: another daemon must not give it to another agent. */
  #startTurn(message: QueuedMessage): Promise<void> {
    const { record } = this.#options;
    this.#promise(message);
    record.emit([{ do: "turn.start", initiator: "client" }]);
    const committed = record.committed({ bounded: false });
    const starting = committed
      .catch(() => {})
      .finally(() => {
        if (this.#starting === starting) this.#starting = null;
      });
    this.#starting = starting;
    return committed;
  }

  /** The agent has it. One that went into a turn of the agent's own has no turn of its own. */
  #delivered(messageId: string): void {
    const { record, stopped } = this.#options;
    const message = this.#find(messageId);
    this.#begun = this.#begun === messageId ? null : this.#begun;
    if (!message || stopped()) return;
    record.scribe.turns.withdraw(message.turn_id);
    const turn_id = record.projection.turn?.turn_id;
    record.dequeue(messageId, "steered", turn_id === undefined ? {} : { turn_id });
  }

  /** Counts an attempt before it begins. Returns how many were begun before it and came to no end. */
  #begin(messageId: string): number {
    const begun = this.#find(messageId)?.attempts ?? 0;
    if (this.#begun === messageId) return begun - 1;
    this.#options.record.append("message.updated", { message_id: messageId, attempts: begun + 1 });
    this.#begun = messageId;
    return begun;
  }

  /** The attempt ended without fault and without delivery: it does not count. */
  #undo(messageId: string): void {
    const { record } = this.#options;
    if (this.#begun !== messageId) return;
    this.#begun = null;
    const attempts = this.#find(messageId)?.attempts ?? 0;
    if (attempts > 0 && !record.lost) record.append("message.updated", { message_id: messageId, attempts: attempts - 1 });
  }
}
