/**
 * What is written of one session: its row, its events through the scribe, its snapshots, and which state of them clients may see. The rest of a session
 * writes through here, so that a log that refuses is met in one place. Not here: when something is written, and the agent.
 */
import type { AgentHost } from "../agents/contract.ts";
import type { Log, StreamWriter } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import type { Actor } from "../schema/actor.ts";
import type { Draft } from "../schema/draft.ts";
import type { EventDataOf, EventType, SessionEnded } from "../schema/event-data.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { Pending, Session as SessionView } from "../schema/session.ts";
import type { MessageQueueList, SessionFacts } from "../schema/snapshot.ts";
import { CommittedValue } from "./committed-value.ts";
import { carryOut, DECIDED, type Decision, decisionJson } from "./decision.ts";
import { BY_DAEMON, EventWriter } from "./event-writer.ts";
import type { IdSource } from "./ids.ts";
import { Scribe, type ScribeListener } from "./scribe.ts";
import { rowChange } from "./session-facts.ts";
import { parseRow, type SessionRow, sessionOf } from "./session-row.ts";
import { SNAPSHOT_EVERY, SnapshotTaker, snapshotsOf } from "./snapshots.ts";

export type RecordOptions = {
  stream: StreamWriter;
  log: Log;
  ids: IdSource;
  clock: () => string;
  host: AgentHost;
  /** The state after all that is in the stream. */
  projection: SessionProjection;
  listener: ScribeListener;
  /** A process may be running: after a crash the session must be found without looking at all the others. */
  alive(): boolean;
  /** It can be written no more; see `lose`. */
  onLost(): void;
};

/** What clients see of a session beside its events. */
type Visible = { row: SessionRow; pending: Pending; queue: MessageQueueList };

export class SessionRecord {
  readonly row: SessionRow;
  readonly scribe: Scribe;
  readonly #options: RecordOptions;
  readonly #visible: CommittedValue<Visible>;
  /** Facts and queue when they were last looked at. */
  #facts: SessionFacts;
  #queue: SessionProjection["queue"];
  #rowChanged = false;
  #hadRequests = false;
  #lost: { error: unknown } | null = null;

  constructor(options: RecordOptions) {
    const { stream, ids, clock, projection, listener } = options;
    this.#options = options;
    this.row = parseRow(stream.state());
    const taker = new SnapshotTaker(snapshotsOf(stream), projection.sequence - (projection.sequence % SNAPSHOT_EVERY));
    const writer = new EventWriter({
      sessionId: this.row.session_id,
      sink: stream,
      ids,
      clock,
      projection,
      nativeSessionId: this.row.native_session_id,
      onMilestone: () => taker.take(projection),
    });
    this.scribe = new Scribe(writer, stream.artifacts, listener);
    this.#facts = projection.facts;
    this.#queue = projection.queue;
    this.#visible = new CommittedValue<Visible>(stream, this.#state());
  }

  /** Resolves when everything written so far is committed. Rejects like the stream's writer. */
  committed(options?: { bounded?: boolean }): Promise<void> {
    return this.#options.stream.committed(options);
  }

  get projection(): SessionProjection {
    return this.scribe.projection;
  }

  /** Why it can be written no more. */
  get lost(): { error: unknown } | null {
    return this.#lost;
  }

  /** [D1] What is committed, and nothing else. */
  pending(): Pending {
    return this.#visible.get().pending;
  }

  /** [D1] What is committed, and nothing else. */
  queue(): MessageQueueList {
    return this.#visible.get().queue;
  }

  /** [D1] What is committed, and nothing else. */
  view(trusted: (row: SessionRow) => boolean): SessionView {
    const { row, queue, pending } = this.#visible.get();
    const { created_at, updatedAt: updated_at, lastCommitted: last_sequence } = this.#options.stream;
    return sessionOf(
      row,
      { created_at, updated_at, last_sequence },
      {
        queued: queue.messages.length,
        pending: { permissions: pending.permissions.length, questions: pending.questions.length },
        trusted: trusted(row),
      },
    );
  }

  /** One event that no draft carries. Nothing has happened when it throws. */
  append<T extends EventType>(type: T, data: EventDataOf[T]): void {
    if (this.#lost) throw this.#lost.error;
    const before = this.#options.stream.last;
    try {
      this.scribe.writer.emit(type, data, BY_DAEMON);
    } catch (error) {
      // Another writer has the stream, for good.
      if (isFenced(error)) this.lose(error);
      throw error;
    }
    this.settled(before);
  }

  /** The way in from the agent, its connection and timers: whatever goes wrong stays inside. */
  guard(entry: () => void): void {
    if (this.#lost) return;
    try {
      entry();
    } catch (error) {
      this.lose(error);
    }
  }

  /** For commands: what was half written makes the object useless, and the command fails. */
  write(work: () => void): void {
    if (this.#lost) throw this.#lost.error;
    const before = this.#options.stream.last;
    try {
      work();
      this.settled(before);
    } catch (error) {
      this.lose(error);
      throw error;
    }
  }

  emit(drafts: Draft[]): void {
    this.write(() => this.decide({ do: "say", drafts }));
  }

  /** Into the ledger, and then done: what nobody but the daemon knows is reported by the ledger all the same. */
  decide(decision: Decision): void {
    if (this.scribe.ended) return;
    const { stream, clock } = this.#options;
    const t_ms = Math.max(0, Date.parse(clock()) - stream.created_at);
    stream.appendNative({
      dir: "daemon",
      t_ms,
      type: `${DECIDED}${decision.do}`,
      disposition: "mapped",
      raw: decisionJson(decision),
    });
    carryOut(this.scribe, decision);
  }

  /**
   * The last resort: the log refused in the middle of something. What is committed is true; what this object believes may not be. So the agent is stopped and
   * the object given up: whoever asks for the session next gets one that is read from the log and recovered.
   */
  lose(error: unknown): void {
    if (this.#lost) return;
    this.#lost = { error };
    const { session_id } = this.row;
    const { host } = this.#options;
    // That another has it now is no fault of this one.
    if (isFenced(error)) host.log("warn", "another has this session now; its agent is ended here", { session_id });
    else
      host.log("error", "the session could not be written; it is suspended and read again from the log", {
        session_id,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    this.#options.onLost();
  }

  save(change: Partial<SessionRow>): void {
    if (Object.keys(change).length === 0) return;
    Object.assign(this.row, change);
    this.#rowChanged = true;
    this.#options.stream.setState(JSON.stringify(this.row));
  }

  /**
   * After anything was written; `before` is the last event before it. The row takes over what events changed, it is remembered from where something is open,
   * and clients see it all as soon as it is committed.
   */
  settled(before = this.#options.stream.last): void {
    const { stream, alive } = this.#options;
    const { facts, queue } = this.projection;
    if (facts !== this.#facts) {
      this.save(rowChange(this.#facts, facts));
      this.#facts = facts;
    }
    const open = this.projection.open || (!this.projection.ended && alive());
    const since = stream.openSince();
    if (open && since === null) stream.setOpenSince(before + 1);
    else if (!open && since !== null) stream.setOpenSince(null);
    const requests = this.projection.requests.size > 0 || this.#hadRequests;
    if (!requests && !this.#rowChanged && queue === this.#queue) return;
    this.#hadRequests = this.projection.requests.size > 0;
    this.#rowChanged = false;
    this.#queue = queue;
    this.#visible.set(this.#state());
  }

  /** Closes what is open as cut short. Messages that wait stay. */
  cut({ dormant }: { dormant: boolean }): void {
    if (this.scribe.ended) return;
    this.decide({ do: "cut", dormant });
    this.settled();
  }

  end(data: SessionEnded): void {
    this.decide({ do: "end", data });
    this.settled();
  }

  /** Takes a message out of the queue that will have no turn. False when it is not there. */
  dequeue(
    messageId: string,
    reason: EventDataOf["message.removed"]["reason"],
    more: { turn_id?: string; actor?: Actor } = {},
  ): boolean {
    if (!this.projection.queue.some(({ message_id }) => message_id === messageId)) return false;
    this.append("message.removed", { message_id: messageId, reason, ...more });
    return true;
  }

  #state(): Visible {
    const requests = [...this.projection.requests.values()];
    return {
      row: { ...this.row },
      pending: {
        permissions: requests.flatMap((request) => (request.kind === "permission" ? [request.data] : [])),
        questions: requests.flatMap((request) => (request.kind === "question" ? [request.data] : [])),
      },
      queue: { messages: [...this.projection.queue], last_sequence: this.projection.sequence },
    };
  }
}

const isFenced = (error: unknown): boolean => error instanceof LogError && error.code === "fenced";
