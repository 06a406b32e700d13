/** The state of a session: a fold of its journal, and nothing else. The loop never changes it but by applying a record that is in the journal. */
import type { JsonObject } from "../openresponses/json.ts";
import { sha256 } from "./digest.ts";
import { type Entry, keptItems, type OutcomeOf } from "./input-items.ts";
import type { Effect, FileChange, JournalRecord, RecordOf, TokenCount } from "./records.ts";
import type { Settings } from "./settings.ts";
import { estimateTokens } from "./token-estimate.ts";

const KEPT_OUTPUT = 8 * 1024;

/** A call and how far it is. */
export interface CallState {
  readonly key: string;
  readonly call_id: string;
  readonly name: string;
  readonly args_digest: string;
  status: "accepted" | "approved" | "started" | "finished";
  approved: string | null;
  effect: Effect | null;
  changes: readonly FileChange[];
  /** What the model gets when the changes are found to be done. */
  result: string | null;
  /** The end of what it printed. */
  output: string;
  finished: RecordOf<"call.finished"> | null;
}

/** A turn that runs. */
export interface TurnState {
  readonly id: string;
  readonly startedAt: number;
  steps: number;
  tokens: TokenCount;
  /** Digests of (name, arguments, result), oldest first. */
  signatures: string[];
  /** Calls in a row whose arguments were wrong. */
  badArguments: number;
  /** Overflows answered with a compaction. */
  overflows: number;
  /** Notes about a loop. */
  loopNotes: number;
  /** Tools that need no question, by skills used in this turn. */
  allowed: readonly string[];
}

export interface QueuedMessage {
  readonly message_id: string;
  readonly steer: boolean;
  readonly items: readonly JsonObject[];
}

const NO_TOKENS: TokenCount = { input: 0, output: 0, cached: 0, reasoning: 0 };

export class RuntimeState {
  sessionId = "";
  entries: Entry[] = [];
  turn: TurnState | null = null;
  /** The last finished turn. */
  lastEnd: RecordOf<"turn.ended"> | null = null;
  /** The number of the last request. */
  requests = 0;
  /** Attempts at the last request. */
  attempts = 0;
  /** What the request was sent for whose end is not known. */
  inFlight: RecordOf<"request.sent">["purpose"] | null = null;
  /** The last answer that is part of the conversation. */
  lastAnswer: RecordOf<"response.ended"> | null = null;
  readonly calls = new Map<string, CallState>();
  queue: QueuedMessage[] = [];
  plan: readonly JsonObject[] = [];
  /** Skills in use, by name: each as it was read last. */
  readonly skills = new Map<string, RecordOf<"skill.used">>();
  usage: TokenCount = NO_TOKENS;
  /** Records so far, those of received bytes left out. */
  records = 0;
  /** Why the last request was sent. */
  #purpose: RecordOf<"request.sent">["purpose"] = "step";
  #settings: Settings | null = null;
  /** What the provider counted for everything up to its last answer; null before it. */
  #counted: number | null = null;
  #uncounted = 0;
  /** Counted once for the same settings. */
  #fixed: { settings: Settings; tokens: number } | null = null;

  static from(records: readonly JournalRecord[]): RuntimeState {
    const state = new RuntimeState();
    for (const record of records) state.apply(record);
    return state;
  }

  get opened(): boolean {
    return this.#settings !== null;
  }

  get settings(): Settings {
    if (this.#settings === null) throw new Error("The journal has no session.opened record: open the session first.");
    return this.#settings;
  }

  /** The outcome of a call. */
  readonly outcomeOf: OutcomeOf = (key) => this.calls.get(key)?.finished ?? undefined;

  /** Tokens the next request will have: what was counted, and an estimate of what came since. */
  get contextTokens(): number {
    return (this.#counted ?? this.#fixedTokens()) + this.#uncounted;
  }

  /** Instructions and tools. */
  #fixedTokens(): number {
    const { settings } = this;
    if (this.#fixed?.settings !== settings) {
      const tokens = estimateTokens(settings.instructions) + estimateTokens(JSON.stringify(settings.tools));
      this.#fixed = { settings, tokens };
    }
    return this.#fixed.tokens;
  }

  get lastResponse(): Extract<Entry, { kind: "response" }> | null {
    const last = this.entries.findLast((entry) => entry.kind === "response");
    return last?.kind === "response" ? last : null;
  }

  apply(record: JournalRecord): void {
    if (record.type !== "received") this.records += 1;
    switch (record.type) {
      case "session.opened":
        this.sessionId = record.session_id;
        this.#settings = record.settings;
        break;
      case "settings.changed":
        this.#settings = record.settings;
        break;
      case "turn.started":
        this.#startTurn(record);
        break;
      case "input.added":
        this.#add(record.items);
        if (record.why === "note") this.#noted();
        break;
      case "message.queued":
        this.queue.push({ message_id: record.message_id, steer: record.steer, items: record.items });
        break;
      case "message.removed":
        this.queue = this.queue.filter((message) => message.message_id !== record.message_id);
        break;
      case "request.sent":
        this.#requestSent(record);
        break;
      case "received":
        break;
      case "response.failed":
        this.inFlight = null;
        if (record.code === "context_overflow" && this.turn) this.turn.overflows += 1;
        break;
      case "response.ended":
        this.#responseEnded(record);
        break;
      case "call.accepted":
      case "call.approved":
      case "call.started":
      case "call.output":
      case "call.finished":
        this.#call(record);
        break;
      case "call.file":
        break;
      case "child.ended":
        if (record.usage) this.#count(record.usage);
        break;
      case "skill.used":
        this.skills.set(record.name, record);
        if (this.turn) this.turn.allowed = [...this.turn.allowed, ...record.allowed];
        break;
      case "plan.updated":
        this.plan = record.entries;
        break;
      case "compacted":
        this.entries = [{ kind: "input", items: record.items }];
        this.#counted = null;
        this.#uncounted = estimateTokens(JSON.stringify(record.items));
        break;
      case "turn.ended":
        this.turn = null;
        this.inFlight = null;
        this.lastEnd = record;
        break;
      default:
        record satisfies never;
    }
  }

  #startTurn(record: RecordOf<"turn.started">): void {
    this.turn = {
      id: record.turn_id,
      startedAt: record.time,
      steps: 0,
      tokens: NO_TOKENS,
      signatures: [],
      badArguments: 0,
      overflows: 0,
      loopNotes: 0,
      allowed: [],
    };
    this.#add(record.items);
  }

  /** After a note about a loop, the same call counts anew. */
  #noted(): void {
    if (this.turn === null) return;
    this.turn.loopNotes += 1;
    this.turn.signatures = [];
  }

  #add(items: readonly JsonObject[]): void {
    this.entries.push({ kind: "input", items });
    this.#uncounted += estimateTokens(JSON.stringify(items));
  }

  #requestSent(record: RecordOf<"request.sent">): void {
    if (record.n !== this.requests && this.turn && record.purpose === "step") this.turn.steps += 1;
    this.requests = record.n;
    this.attempts = record.attempt;
    this.#purpose = record.purpose;
    this.inFlight = record.purpose;
  }

  #responseEnded(record: RecordOf<"response.ended">): void {
    this.inFlight = null;
    if (record.usage) this.#count(record.usage);
    // The answer to a request for a summary is no part of the conversation.
    if (this.#purpose !== "step") return;
    this.lastAnswer = record;
    this.entries.push({ kind: "response", n: record.n, attempt: record.attempt, items: keptItems(record.items, record.n) });
    // An endpoint that counts nothing sends zeros or no usage at all.
    if (record.usage && record.usage.input > 0) {
      this.#counted = record.usage.input + record.usage.output;
      this.#uncounted = 0;
    } else this.#uncounted += estimateTokens(JSON.stringify(record.items));
  }

  #count(usage: TokenCount): void {
    this.usage = sum(this.usage, usage);
    if (this.turn) this.turn.tokens = sum(this.turn.tokens, usage);
  }

  #call(record: Extract<JournalRecord, { type: `call.${string}` }>): void {
    if (record.type === "call.accepted") {
      const { call: key, call_id, name, args_digest } = record;
      const fresh = { approved: null, effect: null, changes: [], result: null, output: "", finished: null };
      this.calls.set(key, { key, call_id, name, args_digest, status: "accepted", ...fresh });
      return;
    }
    const call = this.calls.get(record.call);
    if (call === undefined) return;
    switch (record.type) {
      case "call.approved":
        call.status = "approved";
        call.approved = record.input_digest;
        break;
      case "call.started":
        call.status = "started";
        call.effect = record.effect;
        call.changes = record.changes;
        call.result = record.result;
        break;
      case "call.output":
        call.output = (call.output + record.chunk).slice(-KEPT_OUTPUT);
        break;
      case "call.finished":
        this.#callFinished(call, record);
        break;
      case "call.file":
        break;
      default:
        record satisfies never;
    }
  }

  #callFinished(call: CallState, record: RecordOf<"call.finished">): void {
    call.status = "finished";
    call.finished = record;
    const text = typeof record.output === "string" ? record.output : JSON.stringify(record.output);
    this.#uncounted += estimateTokens(text);
    if (this.turn === null) return;
    this.turn.badArguments = record.note === "bad_arguments" ? this.turn.badArguments + 1 : 0;
    this.turn.signatures = [...this.turn.signatures, sha256(`${call.name}\n${call.args_digest}\n${text}`)].slice(-10);
  }
}

const sum = (a: TokenCount, b: TokenCount): TokenCount => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
  reasoning: a.reasoning + b.reasoning,
});
