/**
 * The turns of one session's story: when one starts and ends, its steps, the message that began it, and what was said in it only once. It asks the item ledger
 * and the request book to close what a turn leaves open. Statuses are not here: they follow from turns and requests, and the scribe writes them.
 */
import type { ExitInfo } from "../agents/contract.ts";
import type { Actor } from "../schema/actor.ts";
import type { DraftOf, ItemDraft } from "../schema/draft.ts";
import type { EventDataOf, StopReason } from "../schema/event-data.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { OpenTurn } from "../schema/snapshot.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";
import type { ItemLedger } from "./item-ledger.ts";
import type { OpenRequests } from "./open-requests.ts";

/** A message whose turn is about to start. */
export type PromisedTurn = { turn_id: string; message_id?: string; actor?: Actor; text?: string; command?: boolean };

/** What the live session wants to know while the story is written. Called in order, after the event was emitted. */
export interface TurnListener {
  turnStarted?(): void;
  turnEnded?(data: EventDataOf["turn.ended"]): void;
}

type TurnEnd = Pick<EventDataOf["turn.ended"], "error_code" | "usage" | "actor">;

export class TurnWriter {
  readonly #writer: EventWriter;
  readonly #projection: SessionProjection;
  readonly #items: ItemLedger;
  readonly #requests: OpenRequests;
  readonly #listener: TurnListener;
  /** The translator's names of open steps. */
  readonly #stepKeys = new Map<string, string>();
  readonly #promised: PromisedTurn[] = [];
  /** The message of the open turn, until it stands in the transcript. */
  #untold: PromisedTurn | null = null;
  /** The agent's own id of the open turn. */
  #nativeTurn: string | null = null;
  /** Who asked for the interruption of the open turn. */
  #interruptedBy: Actor | undefined;
  #lastError = "";
  /** Error codes reported in the open turn, and whether it was reported that a sign-in is needed. */
  readonly #errors = new Set<string>();
  #authTold = false;
  /** Errors of the message that is being written are about the end of this process. */
  exit: ExitInfo | null = null;

  constructor(writer: EventWriter, items: ItemLedger, requests: OpenRequests, listener: TurnListener) {
    this.#writer = writer;
    this.#projection = writer.projection;
    this.#items = items;
    this.#requests = requests;
    this.#listener = listener;
  }

  /** The next turn of a client is the one of this queued message, and takes it out of the queue. */
  promise(message: PromisedTurn): void {
    this.#promised.push(message);
  }

  withdraw(turnId: string): void {
    const at = this.#promised.findIndex((each) => each.turn_id === turnId);
    if (at >= 0) this.#promised.splice(at, 1);
  }

  /** If the running turn ends as interrupted, it was this one's doing. The first one counts. */
  interruptedBy(actor: Actor): void {
    if (this.#projection.turn) this.#interruptedBy ??= actor;
  }

  start(initiator: OpenTurn["initiator"], nativeId: string | null, origin: Origin): void {
    if (this.#projection.turn) {
      if (nativeId === null || this.#nativeTurn === null || this.#nativeTurn === nativeId) {
        this.#nativeTurn ??= nativeId;
        return;
      }
      this.end("interrupted", { source: "daemon", native: origin.native });
    }
    const promised = initiator === "client" ? this.#promised.shift() : undefined;
    const turn_id = promised?.turn_id ?? this.#writer.ids.next("turn");
    this.#nativeTurn = nativeId;
    this.#interruptedBy = undefined;
    this.#lastError = "";
    this.#authTold = false;
    this.#errors.clear();
    this.#untold = promised ?? null;
    this.#writer.emit(
      "turn.started",
      {
        turn_id,
        initiator,
        ...(promised?.message_id ? { message_id: promised.message_id } : {}),
        ...(promised?.actor ? { actor: promised.actor } : {}),
      },
      origin,
    );
    this.#listener.turnStarted?.();
  }

  /** U2: a command of the agent, of which it shows no message, is reported before what it does. */
  beforeItem(item: ItemDraft, origin: Origin): void {
    if (!this.#untold || (item.parent ?? null) !== null) return;
    if (item.role === "user") this.#untold = null;
    else if (this.#untold.command) this.#tellMessage("completed", origin);
  }

  /** U2: what a person sent is reported in its turn, also when the agent never showed it. */
  #tellMessage(status: "completed" | "failed", { native }: Origin): void {
    const message = this.#untold;
    this.#untold = null;
    if (message?.text === undefined) return;
    const content = [{ type: "text", text: message.text } as const];
    const item: ItemDraft = { key: `sent:${message.turn_id}`, kind: "message", role: "user", content };
    this.#items.add({ do: "item.add", item, status }, { source: "daemon", native });
  }

  end(stop_reason: StopReason, origin: Origin, more?: TurnEnd): void {
    const { turn } = this.#projection;
    if (!turn) return;
    const cut = stop_reason !== "end_turn";
    const actor = stop_reason === "interrupted" ? (this.#interruptedBy ?? more?.actor) : undefined;
    if (this.#untold) this.#tellMessage(stop_reason === "error" ? "failed" : "completed", origin);
    if (stop_reason === "output_length" && !this.#errors.has("output_length")) this.error(OUTPUT_LIMIT, BY_DAEMON);
    // An interrupted or failed turn cannot be answered any more, one that came to its end may leave something asking; what runs in the background asks on.
    if (cut) this.#requests.closeAllBut(this.#items.open.outliving(turn.turn_id));
    else this.#requests.withdraw(this.#items.open.callsEndingWith(turn.turn_id), origin.native);
    for (const [step_id, turn_id] of this.#projection.steps) this.#writer.emit("step.ended", { step_id, turn_id }, BY_DAEMON);
    this.#stepKeys.clear();
    this.#items.closeTurn(turn.turn_id, cut);
    const data: EventDataOf["turn.ended"] = {
      turn_id: turn.turn_id,
      stop_reason,
      ...(more?.error_code ? { error_code: more.error_code } : {}),
      ...(more?.usage ? { usage: more.usage } : {}),
      ...(actor ? { actor } : {}),
    };
    this.#writer.emit("turn.ended", data, origin);
    this.#listener.turnEnded?.(data);
  }

  startStep(key: string, origin: Origin): void {
    if (!this.#projection.turn || this.#stepKeys.has(key)) return;
    const step_id = this.#writer.ids.next("stp");
    this.#stepKeys.set(key, step_id);
    this.#writer.emit("step.started", { step_id, turn_id: this.#projection.turn.turn_id }, origin);
  }

  endStep({ key, finish_reason, usage, cost_usd }: DraftOf<"step.end">, origin: Origin): void {
    const step_id = this.#stepKeys.get(key);
    if (step_id === undefined || !this.#projection.turn) return;
    this.#stepKeys.delete(key);
    this.#writer.emit(
      "step.ended",
      {
        step_id,
        turn_id: this.#projection.turn.turn_id,
        ...(finish_reason === undefined ? {} : { finish_reason }),
        ...(usage === undefined ? {} : { usage }),
        ...(cost_usd === undefined ? {} : { cost_usd }),
      },
      origin,
    );
  }

  /** A failure is reported once: the same code and text again in the same turn is a repetition. */
  error(error: EventDataOf["error"], origin: Origin): void {
    // U13: an interrupt is how the turn ends, not a failure.
    if (error.code === "aborted") return;
    const name = `${error.code} ${error.message}`;
    if (name === this.#lastError) return;
    this.#lastError = name;
    this.#errors.add(error.code);
    // U14: whoever must sign in is informed, whatever the agent says beside the error.
    if (error.code === "provider_auth" && !this.#authTold) {
      this.#authTold = true;
      this.#writer.emit("auth.status", { status: "required", message: error.message }, { ...origin, source: "daemon" });
    }
    this.#writer.emit("error", this.exit ? withExit(error, this.exit) : error, origin);
  }

  /** False: it was reported in this turn that a sign-in is needed, and this adds nothing. */
  newAuthStatus({ status, url }: EventDataOf["auth.status"]): boolean {
    if (status === "required" && this.#authTold && url === undefined) return false;
    this.#authTold = status === "required";
    return true;
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
