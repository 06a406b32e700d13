/**
 * The scribe writes one session's story into its stream: drafts go in, events that obey the grammar come out. What the session is now, it asks the writer's
 * projection; it keeps only what no event says, such as the keys translators use. It does no I/O, knows no agent and no clock but the writer's: live
 * sessions, replay and recovery use the same scribe.
 */
import type { Translation } from "../agents/contract.ts";
import { BY_THE_DAEMON } from "../schema/actor.ts";
import type { Draft, DraftOf, DraftPart, ItemKey, PlainEventDraft } from "../schema/draft.ts";
import type { EventDataOf, SessionEnded, SessionStatusData, SessionStatusName } from "../schema/event-data.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { OpenTurn } from "../schema/snapshot.ts";
import { asTold, resultsIn, skillCalls, skillOf, skillsGiven, withSnakeKeys } from "./draft-rules.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";
import { argumentsHash, inputHash, knownHash } from "./input-hash.ts";
import { ItemLedger } from "./item-ledger.ts";
import { changedPermission, OpenRequests, sameCall } from "./open-requests.ts";
import { type ArtifactWriter, INLINE_LIMIT, PartStore } from "./part-store.ts";
import { type TurnListener, TurnWriter } from "./turn-writer.ts";

/** Where a message nobody understood came from, and its hash. */
export type UnparsedMessage = { location: string; raw_hash: string };

export interface ScribeListener extends TurnListener {
  nativeSession?(id: string): void;
}

const silent: ScribeListener = {};

const WAITING: SessionStatusData = { status: "waiting" };
const RUNNING: SessionStatusData = { status: "running" };
const IDLE: SessionStatusData = { status: "idle" };

export class Scribe {
  readonly writer: EventWriter;
  /** The session after everything that was written. */
  readonly projection: SessionProjection;
  readonly items: ItemLedger;
  readonly requests: OpenRequests;
  readonly turns: TurnWriter;
  readonly #parts: PartStore;
  readonly #listener: ScribeListener;
  /** A status the agent said that does not follow from turns and requests. */
  #aside: SessionStatusData | null = null;
  /** What was said with the last status. */
  #detail: string | undefined;
  /** Calls whose skill was reported. */
  readonly #skills = new Set<ItemKey>();
  /** Calls of the tool for skills that did not say which. */
  readonly #unnamed = new Set<string>();

  constructor(writer: EventWriter, artifacts: ArtifactWriter, listener: ScribeListener = silent) {
    this.writer = writer;
    this.projection = writer.projection;
    this.#listener = listener;
    this.#parts = new PartStore(artifacts, (data) => this.writer.emit("artifact.written", data, BY_DAEMON));
    this.items = new ItemLedger(writer, this.#parts);
    this.requests = new OpenRequests(writer, (itemId, ms) => this.items.waited(itemId, ms));
    this.turns = new TurnWriter(writer, this.items, this.requests, {
      turnStarted: () => {
        this.#skills.clear();
        this.#unnamed.clear();
        listener.turnStarted?.();
      },
      turnEnded: (data) => {
        this.#aside = null;
        listener.turnEnded?.(data);
      },
    });
  }

  get turn(): OpenTurn | null {
    return this.projection.turn;
  }

  get status(): SessionStatusName {
    return this.projection.facts.status;
  }

  get ended(): boolean {
    return this.projection.ended;
  }

  /** True when something would have to be closed if the agent were gone. Messages that wait stay. */
  get busy(): boolean {
    const { turn, items, requests } = this.projection;
    return turn !== null || items.size > 0 || requests.size > 0;
  }

  readonly #isAnswer = (key: ItemKey): boolean => this.items.open.isAnswer(key);

  begin(metadata: Record<string, unknown>): void {
    this.writer.emit("session.started", { metadata }, BY_DAEMON);
  }

  /** The native message that reported the end of the last process. */
  exited: number | null = null;

  /** Writes what follows from the end of the process: it has that as its raw message. */
  afterExit(work: () => void): void {
    this.writer.cause = this.exited;
    work();
    this.writer.cause = null;
  }

  /** Writes what one native message means. `fromAgent` is false for messages we sent ourselves. */
  translation(translation: Translation, native: number | null, fromAgent: boolean, unparsed: UnparsedMessage | null): void {
    if (this.ended) return;
    this.writer.cause = native;
    if (this.requests.size > 0) this.requests.withdraw(resultsIn(translation.drafts), native);
    for (const draft of asTold(translation.drafts, this.#isAnswer)) this.#write(draft, fromAgent, native);
    this.items.settle();
    if (unparsed)
      this.writer.emit(
        "agent.unparsed",
        { error: translation.error ?? "not understood", ...unparsed },
        { source: "daemon", native },
      );
    this.settle();
    this.writer.cause = null;
  }

  /** Drafts that no native message carries. */
  say(drafts: Draft[]): void {
    if (this.ended) return;
    for (const draft of drafts) this.#write(draft, false, null);
    this.items.settle();
    this.settle();
  }

  #write(draft: Draft, fromAgent: boolean, native: number | null): void {
    const origin: Origin = { source: fromAgent && !draft.synthetic ? "agent" : "daemon", native };
    switch (draft.do) {
      case "item.start":
        this.#backToWork();
        this.turns.beforeItem(draft.item, origin);
        this.items.start(draft.item, origin);
        this.#tellSkill(draft.item.key, origin);
        this.#tellGivenSkill(draft.item.content, origin);
        return this.#askAgain(draft.item.key, origin);
      case "item.delta":
        this.#backToWork();
        this.items.delta(draft, origin);
        return draft.part_type === "tool_arguments" ? this.#askAgain(draft.key, origin) : undefined;
      case "item.update":
        this.items.update(draft, origin);
        this.#tellSkill(draft.key, origin);
        return this.#askAgain(draft.key, origin);
      case "item.complete":
        this.#tellSkill(draft.key, origin, draft.content);
        this.#tellGivenSkill(draft.content, origin);
        return this.items.complete(draft, origin);
      case "item.add":
        this.#tellGivenSkill(draft.item.content, origin);
        this.turns.beforeItem(draft.item, origin);
        return this.items.add(draft, origin);
      case "item.remove":
        return this.items.remove(draft, origin);
      case "turn.start":
        return this.turns.start(draft.initiator, draft.native_turn_id ?? null, origin);
      case "turn.end":
        return this.turns.end(draft.stop_reason, origin, draft);
      case "step.start":
        return this.turns.startStep(draft.key, origin);
      case "step.end":
        return this.turns.endStep(draft, origin);
      case "error":
        return this.turns.error(draft.error, origin);
      case "status":
        return this.#saidStatus(draft.status, origin);
      case "permission.request":
        this.items.sealFor(draft.item);
        return this.#askPermission(draft, this.items.open.itemId(draft.item), origin);
      case "permission.resolve": {
        const { do: _, key, synthetic: __, ...answer } = draft;
        this.requests.resolvePermission(key, answer, origin);
        return;
      }
      case "question.request":
        this.items.sealFor(draft.item);
        return this.requests.askQuestion(draft, this.items.open.itemId(draft.item), origin);
      case "question.resolve": {
        const { do: _, key, synthetic: __, ...answer } = draft;
        this.requests.resolveQuestion(key, answer, origin);
        return;
      }
      // A stream of its own reports it, see agent-tasks.ts.
      case "task.start":
      case "task.output":
      case "task.end":
        return;
      case "native_session":
        if (draft.id === this.writer.nativeSessionId) return;
        this.writer.nativeSessionId = draft.id;
        this.#listener.nativeSession?.(draft.id);
        return;
      case "event":
        if (draft.type === "session.compacted") this.#aside = null;
        return this.#plainEvent(draft, origin);
      default:
        draft satisfies never;
    }
  }

  #plainEvent(draft: PlainEventDraft, origin: Origin): void {
    if (draft.type === "auth.status" && !this.turns.newAuthStatus(draft.data)) return;
    this.writer.emit(draft.type, withSnakeKeys(draft).data, origin);
  }

  /** U11: a call of a skill tool is reported as the use of that skill, when its name is known. */
  #tellSkill(key: ItemKey, origin: Origin, content: readonly DraftPart[] = this.items.open.callOf(key)): void {
    const skill = skillOf(content);
    if (!skill) for (const call of skillCalls(content)) this.#unnamed.add(call);
    if (!skill || this.#skills.has(key)) return;
    for (const call of skillCalls(content)) this.#unnamed.delete(call);
    this.#skills.add(key);
    this.writer.emit("skill.invoked", { ...skill, mode: "auto" }, { ...origin, source: "daemon" });
  }

  /** U11: the same, for a call that did not name it. */
  #tellGivenSkill(content: readonly DraftPart[] | undefined, origin: Origin): void {
    if (this.#unnamed.size === 0 || content === undefined) return;
    for (const { call_id, name } of skillsGiven(content))
      if (this.#unnamed.delete(call_id))
        this.writer.emit("skill.invoked", { name, mode: "auto" }, { ...origin, source: "daemon" });
  }

  #askPermission(draft: DraftOf<"permission.request">, itemId: string | null, origin: Origin): void {
    const call = draft.item ? this.items.open.argumentsOf(draft.item) : null;
    const hashes = { input: inputHash(draft.input), call: call === null ? null : knownHash(call) };
    this.requests.askPermission({ ...draft, input: this.#bounded(draft.input) }, itemId, hashes, origin);
  }

  /**
   * A call whose permission is open got other arguments: what was asked is not what would run, so it is asked again with what would. Arguments that
   * are not complete yet, or become known only now and contradict nothing that was asked, are no change.
   */
  #askAgain(key: ItemKey, origin: Origin): void {
    if (this.requests.size === 0) return;
    const itemId = this.items.open.itemId(key);
    const call = itemId === null ? null : this.items.open.argumentsOf(key);
    const hash = call === null ? null : argumentsHash(call);
    if (call === null || hash === null) return;
    for (const request of this.requests.open()) {
      if (request.kind !== "permission" || request.data.metadata.item_id !== itemId) continue;
      if (sameCall(request, call, hash)) continue;
      this.#askPermission(changedPermission(request, key, JSON.parse(call)), itemId, { ...origin, source: "daemon" });
    }
  }

  #bounded(input: unknown): unknown {
    const text = JSON.stringify(input);
    return text === undefined || text.length <= INLINE_LIMIT ? input : this.#parts.json(text);
  }

  #saidStatus(status: SessionStatusData, origin: Origin): void {
    this.#aside = status.status === "idle" || status.status === "running" || status.status === "waiting" ? null : status;
    if (this.#aside && this.requests.size === 0) this.#emitStatus(this.#aside, origin);
  }

  /** Output after a retry or a silence means that work goes on. */
  #backToWork(): void {
    if (this.#aside && (this.#aside.status === "retrying" || this.#aside.status === "stalled")) this.#aside = null;
  }

  /** Emits the session's status when it is another than before. Called after each native message, so that it is said once for all its drafts. */
  settle(): void {
    if (this.ended) return;
    const { requests, turn, facts } = this.projection;
    const status = requests.size > 0 ? WAITING : (this.#aside ?? (turn ? RUNNING : IDLE));
    if (status.status !== facts.status) this.#emitStatus(status);
  }

  #emitStatus(status: SessionStatusData, origin = BY_DAEMON): void {
    const { detail } = status;
    const repeated =
      status.status === this.status && status.attempt === undefined && (detail === undefined || detail === this.#detail);
    this.#detail = detail;
    if (!repeated) this.writer.emit("session.status", status, origin);
  }

  /** Closes the open turn as cut short, with everything in it. For a lost agent, a restart, an interrupt nobody confirmed. */
  cut(stop_reason: "interrupted" | "error", error_code?: EventDataOf["turn.ended"]["error_code"]): void {
    this.requests.closeAll("session_end");
    this.turns.end(stop_reason, BY_DAEMON, { actor: BY_THE_DAEMON, ...(error_code ? { error_code } : {}) });
    this.items.closeAll();
    this.#aside = null;
  }

  dormant(): void {
    if (this.ended) return;
    this.#emitStatus({ status: "dormant" });
  }

  end(data: SessionEnded): void {
    if (this.ended) return;
    const by = data.actor ? { actor: data.actor } : {};
    this.requests.closeAll("session_end", data.actor);
    if (data.reason === "error") this.turns.end("error", BY_DAEMON, { error_code: "execution_error" });
    else this.turns.end("interrupted", BY_DAEMON, by);
    this.items.closeAll();
    for (const { message_id } of this.projection.queue)
      this.writer.emit("message.removed", { message_id, reason: "session_ended", ...by }, BY_DAEMON);
    this.writer.emit("session.ended", data, BY_DAEMON);
  }
}
