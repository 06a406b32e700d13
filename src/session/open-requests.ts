/**
 * Permissions and questions: asked, answered, each resolved exactly once (G6). First answer wins. Which are open, the projection knows; this keeps what no
 * event says: the translator's key, what the agent's answer has to quote, and past answers.
 */
import { type Actor, BY_THE_DAEMON } from "../schema/actor.ts";
import type { DraftOf } from "../schema/draft.ts";
import type { PermissionData, PermissionOption, PlainReply, QuestionData, ResolvedBy } from "../schema/event-data.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import { OPTION_ORDER } from "../schema/sameness.ts";
import { snakeRecord } from "../schema/snake-case.ts";
import { BoundedMap } from "./bounded-map.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";
import { canonicalJson } from "./input-hash.ts";
import { SecretAnswers, shownAnswers } from "./secret-answers.ts";

/** How many resolved requests stay known, so that a repeated answer can be distinguished from another one. */
const REMEMBERED = 1_000;

export type PermissionAnswer = {
  status: "approved" | "denied";
  resolved_by: ResolvedBy;
  reply?: PlainReply;
  option_id?: string;
  message?: string;
  updated_input?: unknown;
  actor?: Actor;
};

export type QuestionAnswer = {
  status: "answered" | "rejected";
  resolved_by: ResolvedBy;
  answers?: string[][];
  actor?: Actor;
};

/**
 * What no event says of an open request. `callHash`: of the arguments the tool call had when it was asked; null while it had none. `asked`: number of the
 * native message that asked.
 */
type Side = { key: string; native: unknown; callHash: string | null; asked: number | null };

export type OpenPermission = { kind: "permission"; data: PermissionData; side: Side };
export type OpenQuestion = { kind: "question"; data: QuestionData; side: Side };
export type OpenRequest = OpenPermission | OpenQuestion;

export class OpenRequests {
  readonly #writer: EventWriter;
  readonly #projection: SessionProjection;
  /** `kind key` → id. */
  readonly #ids = new Map<string, string>();
  readonly #sides = new Map<string, Side>();
  /** id → the answer as JSON. */
  readonly #answered = new BoundedMap<string, string>(REMEMBERED);
  /** id → the id of the request that took its place because the input changed. */
  readonly #replaced = new BoundedMap<string, string>(REMEMBERED);

  readonly secrets = new SecretAnswers();
  readonly #onWait: (itemId: string, ms: number) => void;

  /** `onWait`: called with how long a person was asked about an item. */
  constructor(writer: EventWriter, onWait: (itemId: string, ms: number) => void) {
    this.#writer = writer;
    this.#projection = writer.projection;
    this.#onWait = onWait;
  }

  get size(): number {
    return this.#projection.requests.size;
  }

  open(): OpenRequest[] {
    return Array.from(this.#projection.requests.keys(), (id) => this.find(id)).filter((request) => request !== undefined);
  }

  /** One that was open when the daemon died has no agent that waits for it: its side is empty, and it can only be closed. */
  find(id: string): OpenRequest | undefined {
    const request = this.#projection.requests.get(id);
    const side = this.#sides.get(id) ?? { key: id, native: null, callHash: null, asked: null };
    return request && { ...request, side };
  }

  /** The answer a resolved request got, to distinguish a repetition from a contradiction. */
  answerOf(id: string): string | undefined {
    return this.#answered.get(id);
  }

  remember(id: string, answer: unknown): void {
    this.#answered.set(id, JSON.stringify(answer));
  }

  /** The request that is asked instead of this one. */
  replacementOf(id: string): string | undefined {
    return this.#replaced.get(id);
  }

  /**
   * `draft.input` may be a bounded stand-in of the input; `hashes.input` is always that of the whole. The same key again with the same input is a
   * repetition; with another input the open request is denied and a new one takes its place: an answer never reaches an input it was not meant for.
   */
  askPermission(
    draft: DraftOf<"permission.request">,
    itemId: string | null,
    hashes: { input: string; call: string | null },
    origin: Origin,
  ): void {
    const open = this.#named("permission", draft.key);
    if (open?.kind === "permission") {
      if (open.data.metadata.input_hash === hashes.input) return;
      this.resolvePermission(draft.key, SUPERSEDED, { ...origin, source: "daemon" });
    }
    const data: PermissionData = {
      permission_id: this.#writer.ids.next("prm"),
      action: draft.action,
      status: "requested",
      metadata: {
        tool_name: draft.tool_name,
        input: draft.input,
        input_hash: hashes.input,
        call_id: draft.call_id ?? null,
        item_id: itemId,
        options: inOrder(draft.options),
        ...(draft.reason === undefined ? {} : { reason: draft.reason }),
        ...(draft.diff === undefined ? {} : { diff: draft.diff }),
        ...(draft.paths === undefined ? {} : { paths: draft.paths }),
      },
    };
    if (open?.kind === "permission") this.#replaced.set(open.data.permission_id, data.permission_id);
    const side = { key: draft.key, native: draft.native, callHash: hashes.call, asked: origin.native };
    this.#note("permission", data.permission_id, side);
    this.#writer.emit("permission.requested", data, origin);
  }

  askQuestion(draft: DraftOf<"question.request">, itemId: string | null, origin: Origin): void {
    if (this.#named("question", draft.key)) return;
    const [first] = draft.questions;
    const data: QuestionData = {
      question_id: this.#writer.ids.next("qst"),
      prompt: first?.prompt ?? "",
      options: first?.options.map((option) => option.label) ?? [],
      response: null,
      status: "requested",
      questions: draft.questions,
      call_id: draft.call_id ?? null,
      item_id: itemId,
      ...(draft.metadata === undefined ? {} : { metadata: snakeRecord(draft.metadata) }),
    };
    this.#note("question", data.question_id, { key: draft.key, native: draft.native, callHash: null, asked: origin.native });
    this.#writer.emit("question.requested", data, origin);
  }

  /** False when no such permission is open: it was answered before, or never asked. */
  resolvePermission(keyOrId: string, answer: PermissionAnswer, origin: Origin): boolean {
    const request = this.#take("permission", keyOrId);
    if (request?.kind !== "permission") return false;
    const { status, actor, ...resolution } = answer;
    const metadata = { ...request.data.metadata, ...resolution, ...byWhom(answer) };
    this.#writer.emit("permission.resolved", { ...request.data, status, metadata }, because(origin, request));
    return true;
  }

  resolveQuestion(keyOrId: string, answer: QuestionAnswer, origin: Origin): boolean {
    const request = this.#take("question", keyOrId);
    if (request?.kind !== "question") return false;
    const { status, resolved_by } = answer;
    const answers = answer.answers && shownAnswers(request.data.questions, answer.answers);
    this.#writer.emit(
      "question.resolved",
      {
        ...request.data,
        status,
        resolved_by,
        response: answers?.[0]?.join(", ") ?? null,
        ...(answers ? { answers } : {}),
        ...byWhom(answer),
      },
      because(origin, request),
    );
    return true;
  }

  /** Calls that have their results wait for nobody: what was asked about them is resolved before (U6). */
  withdraw(ended: ReadonlySet<string>, native: number | null): void {
    const by: Origin = { source: "daemon", native };
    for (const { kind, data } of this.open()) {
      if (kind === "permission" && ended.has(data.metadata.call_id ?? ""))
        this.resolvePermission(data.permission_id, { status: "denied", resolved_by: "agent" }, by);
      if (kind === "question" && ended.has(data.call_id ?? ""))
        this.resolveQuestion(data.question_id, { status: "rejected", resolved_by: "agent" }, by);
    }
  }

  /** A turn was cut: what was asked in it cannot be answered any more. What an item asked that goes on waits for its answer all the same. */
  closeAllBut(outliving: ReadonlySet<string>): void {
    const goesOn = ({ kind, data }: OpenRequest): boolean =>
      outliving.has((kind === "permission" ? data.metadata.item_id : data.item_id) ?? "");
    this.#close(
      this.open().filter((request) => !goesOn(request)),
      { resolved_by: "agent" },
    );
  }

  /** Denies and rejects everything that is still open. `by`: who made that happen, when somebody did. */
  closeAll(resolved_by: ResolvedBy, by?: Actor): void {
    this.#close(this.open(), { resolved_by, ...(by ? { actor: by } : {}) });
  }

  #close(requests: readonly OpenRequest[], how: { resolved_by: ResolvedBy; actor?: Actor }): void {
    for (const request of requests) {
      if (request.kind === "permission")
        this.resolvePermission(request.data.permission_id, { status: "denied", ...how }, BY_DAEMON);
      else this.resolveQuestion(request.data.question_id, { status: "rejected", ...how }, BY_DAEMON);
    }
  }

  #note(kind: OpenRequest["kind"], id: string, side: Side): void {
    this.#ids.set(`${kind} ${side.key}`, id);
    this.#sides.set(id, side);
  }

  #named(kind: OpenRequest["kind"], key: string): OpenRequest | undefined {
    const id = this.#ids.get(`${kind} ${key}`);
    return id === undefined ? undefined : this.find(id);
  }

  #take(kind: OpenRequest["kind"], keyOrId: string): OpenRequest | undefined {
    const request = this.find(keyOrId) ?? this.#named(kind, keyOrId);
    if (request?.kind !== kind) return undefined;
    this.#waited(request);
    this.#ids.delete(`${kind} ${request.side.key}`);
    this.#sides.delete(request.kind === "permission" ? request.data.permission_id : request.data.question_id);
    return request;
  }

  #waited({ kind, data }: OpenRequest): void {
    const id = kind === "permission" ? data.permission_id : data.question_id;
    const item = kind === "permission" ? data.metadata.item_id : data.item_id;
    const since = this.#projection.requests.get(id)?.requested_at;
    if (item && since !== undefined) this.#onWait(item, Date.parse(this.#writer.now()) - Date.parse(since));
  }
}

/** U9: with every agent in the same order. */
const inOrder = (options: readonly PermissionOption[]): PermissionOption[] =>
  OPTION_ORDER.flatMap((kind) => options.filter((option) => option.kind === kind));

/** An answer that no native message says is about the one that asked. */
const because = (origin: Origin, { side }: OpenRequest): Origin => ({ ...origin, native: origin.native ?? side.asked });

/**
 * True when the arguments a call has now are those its permission was asked for. opencode 1.18 asks before it says the arguments, and asks for less
 * than it then says: the first arguments are the call's own unless they contradict what was asked.
 */
export function sameCall(request: OpenPermission, json: string, hash: string): boolean {
  if (hash === request.side.callHash || hash === request.data.metadata.input_hash) return true;
  if (request.side.callHash !== null || contradicts(request.data.metadata.input, JSON.parse(json))) return false;
  request.side.callHash = hash;
  return true;
}

const contradicts = (asked: unknown, told: unknown): boolean =>
  isObject(asked) && isObject(told)
    ? Object.entries(asked).some(([name, value]) => name in told && canonicalJson(told[name]) !== canonicalJson(value))
    : !isObject(asked);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The request for a call whose arguments changed while it was open. Its words are made from the input alone: the agent's own described the old one. */
export function changedPermission(
  { data, side: { key, native } }: OpenPermission,
  item: string,
  input: unknown,
): DraftOf<"permission.request"> {
  const { tool_name, call_id, options } = data.metadata;
  const reason = "The agent changed this call after it had asked. This is what it would do now.";
  return {
    do: "permission.request",
    key,
    action: actionOf(tool_name, input),
    tool_name,
    input,
    call_id,
    item,
    reason,
    options,
    native,
  };
}

const LONGEST_ACTION = 300;

function actionOf(tool: string, input: unknown): string {
  const command = typeof input === "object" && input !== null && "command" in input ? input.command : undefined;
  const text = typeof command === "string" ? `Run: ${command}` : `${tool}: ${JSON.stringify(input)}`;
  return text.length > LONGEST_ACTION ? `${text.slice(0, LONGEST_ACTION)}…` : text;
}

/** The input changed while the question was open: the agent took the old question back by asking another. */
const SUPERSEDED = {
  status: "denied",
  resolved_by: "agent",
  message: "The agent changed the input after it asked. Answer the new request.",
} as const;

/** What the daemon resolves without being asked carries the daemon; what the agent resolves carries nobody. */
function byWhom({ actor, resolved_by }: PermissionAnswer | QuestionAnswer): { actor?: Actor } {
  if (actor) return { actor };
  return resolved_by === "policy" || resolved_by === "session_end" ? { actor: BY_THE_DAEMON } : {};
}
