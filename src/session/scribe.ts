// The scribe writes one session's story into its stream: drafts go in, events that obey the grammar come out. It owns turns, steps, items and requests.
// It does no I/O, knows no agent and no clock but the writer's: live sessions, replay and recovery use the same scribe.
import type { ExitInfo, Translation } from "../agents/contract.ts";
import { type Actor, BY_THE_DAEMON } from "../schema/actor.ts";
import type { Draft, DraftOf, ItemKey } from "../schema/draft.ts";
import type { EventDataOf, SessionEnded, SessionStatusData, SessionStatusName, StopReason } from "../schema/event-data.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";
import { argumentsHash, inputHash, knownHash } from "./input-hash.ts";
import { ItemLedger } from "./item-ledger.ts";
import { type ArtifactWriter, INLINE_LIMIT, PartStore } from "./part-store.ts";
import { changedPermission, RequestBook, sameCall } from "./request-book.ts";

export type Turn = {
  turn_id: string;
  native_turn_id: string | null;
  initiator: "client" | "agent";
  /** Who asked for its interruption. */
  interrupted_by?: Actor;
};

/** Where a message nobody understood came from, and its hash. */
export type UnparsedMessage = { location: string; raw_hash: string };

/** What the live session wants to know while the story is written. Called in order, after the event was emitted. */
export interface ScribeListener {
  turnStarted?(turn: Turn): void;
  turnEnded?(turn: Turn, data: EventDataOf["turn.ended"]): void;
  nativeSession?(id: string): void;
  statusChanged?(status: SessionStatusData): void;
  plain?(type: string, data: unknown): void;
}

const silent: ScribeListener = {};

export class Scribe {
  readonly writer: EventWriter;
  readonly items: ItemLedger;
  readonly requests: RequestBook;
  readonly #parts: PartStore;
  readonly #listener: ScribeListener;
  readonly #steps = new Map<string, string>();
  /** Ids promised to clients for turns that are about to start, and who sent their messages. */
  readonly #promised: { turn_id: string; actor: Actor | undefined }[] = [];
  #turn: Turn | null = null;
  #status: SessionStatusName = "idle";
  /** A status the agent said that does not follow from turns and requests. */
  #aside: SessionStatusData | null = null;
  #ended = false;
  #lastError = "";

  constructor(writer: EventWriter, artifacts: ArtifactWriter, listener: ScribeListener = silent) {
    this.writer = writer;
    this.#listener = listener;
    this.#parts = new PartStore(artifacts, (data) => this.writer.emit("artifact.written", data, BY_DAEMON));
    this.items = new ItemLedger(writer, this.#parts);
    this.requests = new RequestBook(writer);
  }

  get turn(): Turn | null {
    return this.#turn;
  }

  get status(): SessionStatusName {
    return this.#status;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** True when anything would have to be closed if the session ended now. */
  get busy(): boolean {
    return this.#turn !== null || this.items.openCount > 0 || this.requests.size > 0;
  }

  begin(metadata: Record<string, unknown>): void {
    this.writer.emit("session.started", { metadata }, BY_DAEMON);
  }

  /** The id the next client's turn will have, and who sent its message. */
  promiseTurn(turnId: string, actor: Actor | undefined): void {
    this.#promised.push({ turn_id: turnId, actor });
  }

  /** If the running turn ends as interrupted, it was this one's doing. The first one counts. */
  interruptedBy(actor: Actor): void {
    if (this.#turn) this.#turn.interrupted_by ??= actor;
  }

  withdrawTurn(turnId: string): void {
    const at = this.#promised.findIndex((each) => each.turn_id === turnId);
    if (at >= 0) this.#promised.splice(at, 1);
  }

  /** Errors of the message that is being written are about the end of this process. */
  exit: ExitInfo | null = null;

  /** Writes what one native message means. `fromAgent` is false for messages we sent ourselves. */
  translation(translation: Translation, native: number | null, fromAgent: boolean, unparsed: UnparsedMessage | null): void {
    if (this.#ended) return;
    for (const draft of translation.drafts) this.#write(draft, fromAgent, native);
    if (unparsed)
      this.writer.emit(
        "agent.unparsed",
        { error: translation.error ?? "not understood", ...unparsed },
        { source: "daemon", native },
      );
    this.settle();
  }

  /** Drafts that no native message carries. */
  say(drafts: Draft[]): void {
    if (this.#ended) return;
    for (const draft of drafts) this.#write(draft, false, null);
    this.settle();
  }

  #write(draft: Draft, fromAgent: boolean, native: number | null): void {
    const origin: Origin = { source: fromAgent && !draft.synthetic ? "agent" : "daemon", native };
    switch (draft.do) {
      case "item.start":
        this.#backToWork();
        this.items.start(draft.item, origin);
        return this.#askAgain(draft.item.key, origin);
      case "item.delta":
        this.#backToWork();
        this.items.delta(draft, origin);
        return draft.part_type === "tool_arguments" ? this.#askAgain(draft.key, origin) : undefined;
      case "item.update":
        this.items.update(draft, origin);
        return this.#askAgain(draft.key, origin);
      case "item.complete":
        return this.items.complete(draft, origin);
      case "item.add":
        return this.items.add(draft, origin);
      case "item.remove":
        return this.items.remove(draft.key, draft.reason, origin);
      case "turn.start":
        return this.#startTurn(draft.initiator, draft.native_turn_id ?? null, origin);
      case "turn.end":
        return this.#endTurn(draft.stop_reason, origin, draft);
      case "step.start":
        return this.#startStep(draft.key, origin);
      case "step.end":
        return this.#endStep(draft, origin);
      case "error":
        return this.#error(draft.error, origin);
      case "status":
        return this.#saidStatus(draft.status);
      case "permission.request":
        return this.#askPermission(draft, this.items.itemId(draft.item), origin);
      case "permission.resolve": {
        const { do: _, key, synthetic: __, ...answer } = draft;
        this.requests.resolvePermission(key, answer, origin);
        return;
      }
      case "question.request":
        return this.requests.askQuestion(draft, this.items.itemId(draft.item), origin);
      case "question.resolve": {
        const { do: _, key, synthetic: __, ...answer } = draft;
        this.requests.resolveQuestion(key, answer, origin);
        return;
      }
      case "native_session":
        if (draft.id === this.writer.nativeSessionId) return;
        this.writer.nativeSessionId = draft.id;
        this.#listener.nativeSession?.(draft.id);
        return;
      case "event":
        if (draft.type === "session.compacted") this.#aside = null;
        this.writer.emit(draft.type, draft.data, origin);
        this.#listener.plain?.(draft.type, draft.data);
        return;
      default:
        draft satisfies never;
    }
  }

  #askPermission(draft: DraftOf<"permission.request">, itemId: string | null, origin: Origin): void {
    const call = draft.item ? this.items.argumentsOf(draft.item) : null;
    const hashes = { input: inputHash(draft.input), call: call === null ? null : knownHash(call) };
    this.requests.askPermission({ ...draft, input: this.#bounded(draft.input) }, itemId, hashes, origin);
  }

  /**
   * A call whose permission is open got other arguments: what was asked is not what would run, so it is asked again with what would. Arguments that
   * are not complete yet, or become known only now and contradict nothing that was asked, are no change.
   */
  #askAgain(key: ItemKey, origin: Origin): void {
    if (this.requests.size === 0) return;
    const itemId = this.items.itemId(key);
    const call = itemId === null ? null : this.items.argumentsOf(key);
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

  #startTurn(initiator: Turn["initiator"], nativeId: string | null, origin: Origin): void {
    const open = this.#turn;
    if (open) {
      if (nativeId === null || open.native_turn_id === null || open.native_turn_id === nativeId) {
        open.native_turn_id ??= nativeId;
        return;
      }
      this.#endTurn("interrupted", { source: "daemon", native: origin.native });
    }
    const promised = initiator === "client" ? this.#promised.shift() : undefined;
    const turn: Turn = { turn_id: promised?.turn_id ?? this.writer.ids.next("turn"), native_turn_id: nativeId, initiator };
    this.#turn = turn;
    this.#lastError = "";
    this.items.turnId = turn.turn_id;
    const { turn_id } = turn;
    this.writer.emit("turn.started", { turn_id, initiator, ...(promised?.actor ? { actor: promised.actor } : {}) }, origin);
    this.#listener.turnStarted?.(turn);
  }

  #endTurn(
    stop_reason: StopReason,
    origin: Origin,
    more?: Pick<EventDataOf["turn.ended"], "error_code" | "usage" | "actor">,
  ): void {
    const turn = this.#turn;
    if (!turn) return;
    const cut = stop_reason !== "end_turn";
    const actor = stop_reason === "interrupted" ? (turn.interrupted_by ?? more?.actor) : undefined;
    // An interrupted or failed turn cannot be answered any more; one that came to its end may leave a background task asking.
    if (cut) this.requests.closeAll("agent");
    for (const key of [...this.#steps.keys()]) this.#endStep({ key }, BY_DAEMON);
    this.items.closeTurn(turn.turn_id, cut);
    const data: EventDataOf["turn.ended"] = {
      turn_id: turn.turn_id,
      stop_reason,
      ...(more?.error_code ? { error_code: more.error_code } : {}),
      ...(more?.usage ? { usage: more.usage } : {}),
      ...(actor ? { actor } : {}),
    };
    this.#aside = null;
    this.#turn = null;
    this.items.turnId = null;
    this.writer.emit("turn.ended", data, origin);
    this.#listener.turnEnded?.(turn, data);
  }

  #startStep(key: string, origin: Origin): void {
    if (!this.#turn || this.#steps.has(key)) return;
    const step_id = this.writer.ids.next("stp");
    this.#steps.set(key, step_id);
    this.writer.emit("step.started", { step_id, turn_id: this.#turn.turn_id }, origin);
  }

  #endStep(draft: { key: string } & Partial<EventDataOf["step.ended"]>, origin: Origin): void {
    const step_id = this.#steps.get(draft.key);
    if (step_id === undefined || !this.#turn) return;
    this.#steps.delete(draft.key);
    this.writer.emit(
      "step.ended",
      {
        step_id,
        turn_id: this.#turn.turn_id,
        ...(draft.finish_reason === undefined ? {} : { finish_reason: draft.finish_reason }),
        ...(draft.usage === undefined ? {} : { usage: draft.usage }),
        ...(draft.cost_usd === undefined ? {} : { cost_usd: draft.cost_usd }),
      },
      origin,
    );
  }

  /** A failure is reported once: the same code and text again in the same turn is a repetition. */
  #error(error: EventDataOf["error"], origin: Origin): void {
    const name = `${error.code} ${error.message}`;
    if (name === this.#lastError) return;
    this.#lastError = name;
    this.writer.emit("error", this.exit ? withExit(error, this.exit) : error, origin);
  }

  #saidStatus(status: SessionStatusData): void {
    this.#aside = status.status === "idle" || status.status === "running" || status.status === "waiting" ? null : status;
    if (this.#aside && (this.#aside.status === this.#status || status.status === "retrying")) this.#emitStatus(this.#aside);
  }

  /** Output after a retry or a silence means that work goes on. */
  #backToWork(): void {
    if (this.#aside && (this.#aside.status === "retrying" || this.#aside.status === "stalled")) this.#aside = null;
  }

  /** Emits the session's status when it is another than before. Called after each native message, so that it is said once for all its drafts. */
  settle(): void {
    if (this.#ended) return;
    const status: SessionStatusData =
      this.requests.size > 0 ? { status: "waiting" } : (this.#aside ?? { status: this.#turn ? "running" : "idle" });
    if (status.status !== this.#status) this.#emitStatus(status);
  }

  #emitStatus(status: SessionStatusData): void {
    const repeated = status.status === this.#status && status.attempt === undefined;
    if (repeated) return;
    this.#status = status.status;
    this.writer.emit("session.status", status, BY_DAEMON);
    this.#listener.statusChanged?.(status);
  }

  /** Closes the open turn as cut short, with everything in it. For a lost agent, a restart, an interrupt nobody confirmed. */
  cut(stop_reason: "interrupted" | "error", error_code?: EventDataOf["turn.ended"]["error_code"]): void {
    this.requests.closeAll("session_end");
    this.#endTurn(stop_reason, BY_DAEMON, { actor: BY_THE_DAEMON, ...(error_code ? { error_code } : {}) });
    this.items.closeAll();
    this.#aside = null;
  }

  dormant(): void {
    if (this.#ended) return;
    this.#emitStatus({ status: "dormant" });
  }

  end(data: SessionEnded): void {
    if (this.#ended) return;
    const by = data.actor ? { actor: data.actor } : {};
    this.requests.closeAll("session_end", data.actor);
    if (data.reason === "error") this.#endTurn("error", BY_DAEMON, { error_code: "execution_error" });
    else this.#endTurn("interrupted", BY_DAEMON, by);
    this.items.closeAll();
    this.writer.emit("session.ended", data, BY_DAEMON);
    this.#ended = true;
  }

  /** Takes up the state of a stream that was written before. */
  restore(state: {
    status: SessionStatusName;
    turn: Turn | null;
    steps: { key: string; step_id: string }[];
    ended: boolean;
  }): void {
    this.#status = state.status;
    this.#turn = state.turn;
    this.items.turnId = state.turn?.turn_id ?? null;
    for (const { key, step_id } of state.steps) this.#steps.set(key, step_id);
    this.#ended = state.ended;
  }
}

/** What a person needs to find out why the process ended. */
const withExit = (error: EventDataOf["error"], { code, signal, stderr }: ExitInfo): EventDataOf["error"] => ({
  ...error,
  details: { ...error.details, exit_code: code, signal, stderr },
});
