/**
 * The scribe writes one session's story into its stream: drafts go in, events that obey the grammar come out. What the session is now, it asks the writer's
 * projection; it keeps only what no event says, such as the keys translators use. It does no I/O, knows no agent and no clock but the writer's: live
 * sessions, replay and recovery use the same scribe.
 */
import type { ExitInfo, Translation } from "../agents/contract.ts";
import { type Actor, BY_THE_DAEMON } from "../schema/actor.ts";
import type { Draft, DraftOf, DraftPart, ItemDraft, ItemKey, PlainEventDraft } from "../schema/draft.ts";
import type { EventDataOf, SessionEnded, SessionStatusData, SessionStatusName, StopReason } from "../schema/event-data.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { OpenTurn } from "../schema/snapshot.ts";
import { asTold, skillOf, withSnakeKeys } from "./draft-rules.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";
import { argumentsHash, inputHash, knownHash } from "./input-hash.ts";
import { ItemLedger } from "./item-ledger.ts";
import { type ArtifactWriter, INLINE_LIMIT, PartStore } from "./part-store.ts";
import { changedPermission, RequestBook, sameCall } from "./request-book.ts";

/** A message whose turn is about to start. */
export type PromisedTurn = { turn_id: string; message_id: string; actor?: Actor; text?: string; command?: boolean };

/** Where a message nobody understood came from, and its hash. */
export type UnparsedMessage = { location: string; raw_hash: string };

/** What the live session wants to know while the story is written. Called in order, after the event was emitted. */
export interface ScribeListener {
  turnStarted?(): void;
  turnEnded?(data: EventDataOf["turn.ended"]): void;
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
  readonly requests: RequestBook;
  readonly #parts: PartStore;
  readonly #listener: ScribeListener;
  /** The translator's names of open steps. */
  readonly #stepKeys = new Map<string, string>();
  readonly #promised: PromisedTurn[] = [];
  /** The message of the open turn, until it stands in the transcript. */
  #untold: PromisedTurn | null = null;
  /** The agent's own id of the open turn. */
  #nativeTurn: string | null = null;
  /** Who asked for the interruption of the open turn. */
  #interruptedBy: Actor | undefined;
  /** A status the agent said that does not follow from turns and requests. */
  #aside: SessionStatusData | null = null;
  #lastError = "";
  /** Error codes told in the open turn, and whether it was told that a sign-in is needed. */
  readonly #errors = new Set<string>();
  #authTold = false;
  /** Calls whose skill was told. */
  readonly #skills = new Set<ItemKey>();

  constructor(writer: EventWriter, artifacts: ArtifactWriter, listener: ScribeListener = silent) {
    this.writer = writer;
    this.projection = writer.projection;
    this.#listener = listener;
    this.#parts = new PartStore(artifacts, (data) => this.writer.emit("artifact.written", data, BY_DAEMON));
    this.items = new ItemLedger(writer, this.#parts);
    this.requests = new RequestBook(writer, (itemId, ms) => this.items.waited(itemId, ms));
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

  readonly #isAnswer = (key: ItemKey): boolean => this.items.isAnswer(key);

  begin(metadata: Record<string, unknown>): void {
    this.writer.emit("session.started", { metadata }, BY_DAEMON);
  }

  /** The next turn of a client is the one of this queued message, and takes it out of the queue. */
  promiseTurn(message: PromisedTurn): void {
    this.#promised.push(message);
  }

  /** If the running turn ends as interrupted, it was this one's doing. The first one counts. */
  interruptedBy(actor: Actor): void {
    if (this.turn) this.#interruptedBy ??= actor;
  }

  withdrawTurn(turnId: string): void {
    const at = this.#promised.findIndex((each) => each.turn_id === turnId);
    if (at >= 0) this.#promised.splice(at, 1);
  }

  /** Errors of the message that is being written are about the end of this process. */
  exit: ExitInfo | null = null;
  /** The native message that told the end of the last process. */
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
        this.#beforeItem(draft.item, origin);
        this.items.start(draft.item, origin);
        this.#tellSkill(draft.item.key, origin);
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
        return this.items.complete(draft, origin);
      case "item.add":
        this.#beforeItem(draft.item, origin);
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
        return this.#saidStatus(draft.status, origin);
      case "permission.request":
        this.items.sealFor(draft.item);
        return this.#askPermission(draft, this.items.itemId(draft.item), origin);
      case "permission.resolve": {
        const { do: _, key, synthetic: __, ...answer } = draft;
        this.requests.resolvePermission(key, answer, origin);
        return;
      }
      case "question.request":
        this.items.sealFor(draft.item);
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
        return this.#plainEvent(draft, origin);
      default:
        draft satisfies never;
    }
  }

  #plainEvent(draft: PlainEventDraft, origin: Origin): void {
    if (draft.type === "auth.status") {
      if (draft.data.status === "required" && this.#authTold && draft.data.url === undefined) return;
      this.#authTold = draft.data.status === "required";
    }
    this.writer.emit(draft.type, withSnakeKeys(draft).data, origin);
  }

  /** U11: a call of a skill tool is told as the use of that skill, when its name is known. */
  #tellSkill(key: ItemKey, origin: Origin, content: readonly DraftPart[] = this.items.callOf(key)): void {
    const skill = skillOf(content);
    if (!skill || this.#skills.has(key)) return;
    this.#skills.add(key);
    this.writer.emit("skill.invoked", { ...skill, mode: "auto" }, { ...origin, source: "daemon" });
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

  #startTurn(initiator: OpenTurn["initiator"], nativeId: string | null, origin: Origin): void {
    if (this.turn) {
      if (nativeId === null || this.#nativeTurn === null || this.#nativeTurn === nativeId) {
        this.#nativeTurn ??= nativeId;
        return;
      }
      this.#endTurn("interrupted", { source: "daemon", native: origin.native });
    }
    const promised = initiator === "client" ? this.#promised.shift() : undefined;
    const turn_id = promised?.turn_id ?? this.writer.ids.next("turn");
    this.#nativeTurn = nativeId;
    this.#interruptedBy = undefined;
    this.#newTurn();
    this.#untold = promised ?? null;
    this.writer.emit(
      "turn.started",
      {
        turn_id,
        initiator,
        ...(promised ? { message_id: promised.message_id } : {}),
        ...(promised?.actor ? { actor: promised.actor } : {}),
      },
      origin,
    );
    this.#listener.turnStarted?.();
  }

  /** U2: a command of the agent, of which it shows no message, is told before what it does. */
  #beforeItem(item: ItemDraft, origin: Origin): void {
    if (!this.#untold || (item.parent ?? null) !== null) return;
    if (item.role === "user") this.#untold = null;
    else if (this.#untold.command) this.#tellMessage("completed", origin);
  }

  /** U2: what a person sent is told in its turn, also when the agent never showed it. */
  #tellMessage(status: "completed" | "failed", { native }: Origin): void {
    const message = this.#untold;
    this.#untold = null;
    if (message?.text === undefined) return;
    const content = [{ type: "text", text: message.text } as const];
    const item: ItemDraft = { key: `sent:${message.turn_id}`, kind: "message", role: "user", content };
    this.items.add({ do: "item.add", item, status }, { source: "daemon", native });
  }

  #newTurn(): void {
    this.#lastError = "";
    this.#authTold = false;
    this.#errors.clear();
    this.#skills.clear();
  }

  #endTurn(
    stop_reason: StopReason,
    origin: Origin,
    more?: Pick<EventDataOf["turn.ended"], "error_code" | "usage" | "actor">,
  ): void {
    const { turn } = this;
    if (!turn) return;
    const cut = stop_reason !== "end_turn";
    const actor = stop_reason === "interrupted" ? (this.#interruptedBy ?? more?.actor) : undefined;
    if (this.#untold) this.#tellMessage(stop_reason === "error" ? "failed" : "completed", origin);
    if (stop_reason === "output_length" && !this.#errors.has("output_length")) this.#error(OUTPUT_LIMIT, BY_DAEMON);
    // An interrupted or failed turn cannot be answered any more; one that came to its end may leave a background task asking.
    if (cut) this.requests.closeAll("agent");
    for (const [step_id, turn_id] of this.projection.steps) this.writer.emit("step.ended", { step_id, turn_id }, BY_DAEMON);
    this.#stepKeys.clear();
    this.items.closeTurn(turn.turn_id, cut);
    const data: EventDataOf["turn.ended"] = {
      turn_id: turn.turn_id,
      stop_reason,
      ...(more?.error_code ? { error_code: more.error_code } : {}),
      ...(more?.usage ? { usage: more.usage } : {}),
      ...(actor ? { actor } : {}),
    };
    this.#aside = null;
    this.writer.emit("turn.ended", data, origin);
    this.#listener.turnEnded?.(data);
  }

  #startStep(key: string, origin: Origin): void {
    if (!this.turn || this.#stepKeys.has(key)) return;
    const step_id = this.writer.ids.next("stp");
    this.#stepKeys.set(key, step_id);
    this.writer.emit("step.started", { step_id, turn_id: this.turn.turn_id }, origin);
  }

  #endStep({ key, finish_reason, usage, cost_usd }: DraftOf<"step.end">, origin: Origin): void {
    const step_id = this.#stepKeys.get(key);
    if (step_id === undefined || !this.turn) return;
    this.#stepKeys.delete(key);
    this.writer.emit(
      "step.ended",
      {
        step_id,
        turn_id: this.turn.turn_id,
        ...(finish_reason === undefined ? {} : { finish_reason }),
        ...(usage === undefined ? {} : { usage }),
        ...(cost_usd === undefined ? {} : { cost_usd }),
      },
      origin,
    );
  }

  /** A failure is reported once: the same code and text again in the same turn is a repetition. */
  #error(error: EventDataOf["error"], origin: Origin): void {
    // U13: an interrupt is how the turn ends, not a failure.
    if (error.code === "aborted") return;
    const name = `${error.code} ${error.message}`;
    if (name === this.#lastError) return;
    this.#lastError = name;
    this.#errors.add(error.code);
    // U14: whoever must sign in is told so, whatever the agent says beside the error.
    if (error.code === "provider_auth" && !this.#authTold) {
      this.#authTold = true;
      this.writer.emit("auth.status", { status: "required", message: error.message }, { ...origin, source: "daemon" });
    }
    this.writer.emit("error", this.exit ? withExit(error, this.exit) : error, origin);
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
    const repeated = status.status === this.status && status.attempt === undefined;
    if (!repeated) this.writer.emit("session.status", status, origin);
  }

  /** Closes the open turn as cut short, with everything in it. For a lost agent, a restart, an interrupt nobody confirmed. */
  cut(stop_reason: "interrupted" | "error", error_code?: EventDataOf["turn.ended"]["error_code"]): void {
    this.requests.closeAll("session_end");
    this.#endTurn(stop_reason, BY_DAEMON, { actor: BY_THE_DAEMON, ...(error_code ? { error_code } : {}) });
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
    if (data.reason === "error") this.#endTurn("error", BY_DAEMON, { error_code: "execution_error" });
    else this.#endTurn("interrupted", BY_DAEMON, by);
    this.items.closeAll();
    for (const { message_id } of this.projection.queue)
      this.writer.emit("message.removed", { message_id, reason: "session_ended", ...by }, BY_DAEMON);
    this.writer.emit("session.ended", data, BY_DAEMON);
  }
}

/** What a person needs to find out why the process ended. The next message goes on: it can be tried again with every agent. */
const withExit = (error: EventDataOf["error"], { code, signal, stderr }: ExitInfo): EventDataOf["error"] => ({
  ...error,
  details: { ...error.details, error_source: "agent", retryable: true, exit_code: code, signal, stderr },
});

const OUTPUT_LIMIT: EventDataOf["error"] = {
  message: "The answer reached the limit of output tokens and was cut.",
  code: "output_length",
  details: { error_source: "provider", native_code: null, retryable: false },
};
