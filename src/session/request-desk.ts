// Where people answer an agent's requests: the first answer counts, the same again is fine, another is refused (S4). The decision is on disk before the
// agent acts on it.
import type { Connection } from "../agents/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { Pending, PermissionReplyBody } from "../schema/session.ts";
import { BY_DAEMON } from "./event-writer.ts";
import { optionFor } from "./permission-option.ts";
import type { RequestBook } from "./request-book.ts";

export type DeskOptions = {
  book: RequestBook;
  connection(): Connection | null;
  /** After an answer was written: brings the status up to date and resolves when all of it is on disk. */
  written(): Promise<void>;
};

export class RequestDesk {
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  pending(): Pending {
    const open = this.#options.book.open();
    return {
      permissions: open.flatMap((request) => (request.kind === "permission" ? [request.data] : [])),
      questions: open.flatMap((request) => (request.kind === "question" ? [request.data] : [])),
    };
  }

  async replyPermission(id: string, body: PermissionReplyBody): Promise<void> {
    const { book, written, connection } = this.#options;
    const request = book.find(id);
    if (request?.kind !== "permission") return this.#answeredBefore(id, body, "permission_not_found");
    const option = optionFor(request.data.metadata.options, body);
    const approved = option ? option.kind.startsWith("allow") : body.reply !== "reject";
    const { reply, message, updated_input } = body;
    book.remember(id, body);
    book.resolvePermission(
      id,
      {
        status: approved ? "approved" : "denied",
        resolved_by: "client",
        reply,
        ...(option ? { option_id: option.id } : {}),
        ...(message === undefined ? {} : { message }),
        ...(updated_input === undefined ? {} : { updated_input }),
      },
      BY_DAEMON,
    );
    await written();
    await connection()?.replyPermission(request.native, {
      reply,
      option_id: option?.id ?? null,
      message: message ?? null,
      updated_input,
    });
  }

  /** `answers` null: rejected. */
  async replyQuestion(id: string, answers: string[][] | null): Promise<void> {
    const { book, written, connection } = this.#options;
    const request = book.find(id);
    if (request?.kind !== "question") return this.#answeredBefore(id, answers, "question_not_found");
    const asked = request.data.questions.length;
    if (answers && answers.length !== asked)
      throw new ProblemError("invalid_answers", `This request has ${asked} question(s); send one list of strings for each.`);
    book.remember(id, answers);
    const answer = { status: answers ? "answered" : "rejected", resolved_by: "client", ...(answers ? { answers } : {}) } as const;
    book.resolveQuestion(id, answer, BY_DAEMON);
    await written();
    await connection()?.replyQuestion(request.native, answers);
  }

  #answeredBefore(id: string, answer: unknown, missing: "permission_not_found" | "question_not_found"): void {
    const before = this.#options.book.answerOf(id);
    if (before === undefined) throw new ProblemError(missing);
    if (before !== JSON.stringify(answer)) throw new ProblemError("already_answered");
  }
}
