// The book of permissions and questions: who asked, what was answered, and that each is resolved exactly once (G6). First answer wins.
import type { DraftOf } from "../schema/draft.ts";
import type { PermissionData, QuestionData, ResolvedBy } from "../schema/event-data.ts";
import { BoundedMap } from "./bounded-memory.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";

/** How many resolved requests stay known, so that a repeated answer can be told from another one. */
const REMEMBERED = 1_000;

export type PermissionAnswer = {
  status: "approved" | "denied";
  resolved_by: ResolvedBy;
  reply?: "once" | "always" | "reject";
  option_id?: string;
  message?: string;
  updated_input?: unknown;
};

export type QuestionAnswer = { status: "answered" | "rejected"; resolved_by: ResolvedBy; answers?: string[][] };

export type OpenPermission = { kind: "permission"; key: string; data: PermissionData; native: unknown };
export type OpenQuestion = { kind: "question"; key: string; data: QuestionData; native: unknown };
export type OpenRequest = OpenPermission | OpenQuestion;

export class RequestBook {
  readonly #writer: EventWriter;
  readonly #byKey = new Map<string, OpenRequest>();
  readonly #byId = new Map<string, OpenRequest>();
  /** id → the answer as JSON. */
  readonly #answered = new BoundedMap<string, string>(REMEMBERED);

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  get size(): number {
    return this.#byId.size;
  }

  open(): OpenRequest[] {
    return [...this.#byId.values()];
  }

  find(id: string): OpenRequest | undefined {
    return this.#byId.get(id);
  }

  /** The answer a resolved request got, for telling a repetition from a contradiction. */
  answerOf(id: string): string | undefined {
    return this.#answered.get(id);
  }

  remember(id: string, answer: unknown): void {
    this.#answered.set(id, JSON.stringify(answer));
  }

  askPermission(draft: DraftOf<"permission.request">, itemId: string | null, origin: Origin): void {
    if (this.#byKey.has(`permission ${draft.key}`)) return;
    const data: PermissionData = {
      permission_id: this.#writer.ids.next("prm"),
      action: draft.action,
      status: "requested",
      metadata: {
        tool_name: draft.tool_name,
        input: draft.input,
        call_id: draft.call_id ?? null,
        item_id: itemId,
        options: draft.options,
        ...(draft.reason === undefined ? {} : { reason: draft.reason }),
        ...(draft.diff === undefined ? {} : { diff: draft.diff }),
        ...(draft.paths === undefined ? {} : { paths: draft.paths }),
      },
    };
    this.#put({ kind: "permission", key: draft.key, data, native: draft.native });
    this.#writer.emit("permission.requested", data, origin);
  }

  askQuestion(draft: DraftOf<"question.request">, itemId: string | null, origin: Origin): void {
    if (this.#byKey.has(`question ${draft.key}`)) return;
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
      ...(draft.metadata === undefined ? {} : { metadata: draft.metadata }),
    };
    this.#put({ kind: "question", key: draft.key, data, native: draft.native });
    this.#writer.emit("question.requested", data, origin);
  }

  /** False when no such permission is open: it was answered before, or never asked. */
  resolvePermission(keyOrId: string, answer: PermissionAnswer, origin: Origin): boolean {
    const request = this.#take("permission", keyOrId);
    if (request?.kind !== "permission") return false;
    const { status, ...resolution } = answer;
    this.#writer.emit(
      "permission.resolved",
      { ...request.data, status, metadata: { ...request.data.metadata, ...resolution } },
      origin,
    );
    return true;
  }

  resolveQuestion(keyOrId: string, answer: QuestionAnswer, origin: Origin): boolean {
    const request = this.#take("question", keyOrId);
    if (request?.kind !== "question") return false;
    const { status, resolved_by, answers } = answer;
    this.#writer.emit(
      "question.resolved",
      { ...request.data, status, resolved_by, response: answers?.[0]?.join(", ") ?? null, ...(answers ? { answers } : {}) },
      origin,
    );
    return true;
  }

  /** Denies and rejects everything that is still open. */
  closeAll(resolved_by: ResolvedBy): void {
    for (const request of this.open()) {
      if (request.kind === "permission")
        this.resolvePermission(request.data.permission_id, { status: "denied", resolved_by }, BY_DAEMON);
      else this.resolveQuestion(request.data.question_id, { status: "rejected", resolved_by }, BY_DAEMON);
    }
  }

  /** Takes up a request that was open when the daemon died; its agent is gone, so it can only be closed. */
  restore(request: { kind: "permission"; data: PermissionData } | { kind: "question"; data: QuestionData }): void {
    const id = request.kind === "permission" ? request.data.permission_id : request.data.question_id;
    this.#put({ ...request, key: `restored:${id}`, native: null });
  }

  #put(request: OpenRequest): void {
    this.#byKey.set(`${request.kind} ${request.key}`, request);
    this.#byId.set(idOf(request), request);
  }

  #take(kind: OpenRequest["kind"], keyOrId: string): OpenRequest | undefined {
    const request = this.#byId.get(keyOrId) ?? this.#byKey.get(`${kind} ${keyOrId}`);
    if (request?.kind !== kind) return undefined;
    this.#byKey.delete(`${kind} ${request.key}`);
    this.#byId.delete(idOf(request));
    return request;
  }
}

const idOf = (request: OpenRequest): string =>
  request.kind === "permission" ? request.data.permission_id : request.data.question_id;
