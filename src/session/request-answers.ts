// Where people answer an agent's requests: the first answer counts, the same again is fine, another is refused (S4). The decision is on disk before the
// agent acts on it.
import type { Connection } from "../agents/contract.ts";
import type { Actor } from "../schema/actor.ts";
import type { Draft } from "../schema/draft.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { PermissionReplyBody } from "../schema/session.ts";
import type { OpenRequests, PermissionAnswer, QuestionAnswer } from "./open-requests.ts";
import { optionFor } from "./permission-option.ts";
import { shownAnswers } from "./secret-answers.ts";
import { DaemonRequest } from "./trust-gate.ts";

export type AnswerOptions = {
  requests: OpenRequests;
  /** Whether the agent runs a call with an input that a person edited. */
  editsInput: boolean;
  connection(): Connection | null;
  /**
   * Reported by the daemon, and by the ledger: the agent hears of an answer only when it is on disk, and what it says meanwhile stands after the answer in the
   * story and before it in the native messages.
   */
  say(drafts: Draft[]): void;
  /** See `Log.committed`. */
  committed(options?: { bounded: boolean }): Promise<void>;
};

export class RequestAnswers {
  readonly #options: AnswerOptions;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  async replyPermission(id: string, { input_hash, ...body }: PermissionReplyBody, actor: Actor): Promise<void> {
    const { requests, say } = this.#options;
    const request = requests.find(id);
    if (request?.kind !== "permission") return this.#answeredBefore(id, body, "permission_not_found");
    const { metadata } = request.data;
    if (input_hash !== undefined && input_hash !== metadata.input_hash)
      throw new ProblemError(
        "precondition_failed",
        `This request asks for an input with the hash ${metadata.input_hash}. Read it again.`,
      );
    const own = request.side.native instanceof DaemonRequest ? request.side.native : null;
    if (own && body.updated_input !== undefined && body.updated_input !== null)
      throw new ProblemError("unsupported", "This request is answered as it stands: leave updated_input out.");
    const updated_input = this.#edited(body);
    const option = optionFor(metadata.options, body);
    const approved = option ? option.kind.startsWith("allow") : body.reply !== "reject";
    const { reply, message } = body;
    requests.remember(id, body);
    const resolution: PermissionAnswer = {
      status: approved ? "approved" : "denied",
      resolved_by: "client",
      reply,
      ...(option ? { option_id: option.id } : {}),
      ...(message === undefined ? {} : { message }),
      ...(updated_input === undefined ? {} : { updated_input }),
      actor,
    };
    say([{ do: "permission.resolve", key: request.side.key, ...resolution }]);
    const answer = { reply, option_id: option?.id ?? null, message: message ?? null, updated_input };
    await this.#whenDurable((agent) => agent.replyPermission(request.side.native, answer), own && (() => own.answered(reply)));
  }

  /** The input to run instead; undefined: the one that was asked for. Refused before anything is written where it would not be run. */
  #edited({ reply, updated_input }: PermissionReplyBody): unknown {
    if (updated_input === undefined || updated_input === null) return undefined;
    if (reply === "reject")
      throw new ProblemError("invalid_request", "A rejection runs nothing, so it takes no updated_input. Leave it out.", {
        errors: [{ path: "/updated_input", message: "must be absent when reply is reject" }],
      });
    if (!this.#options.editsInput)
      throw new ProblemError(
        "unsupported",
        "This agent runs only the input it asked for. Allow it without updated_input, or reject it with a message that says what you want instead.",
      );
    return updated_input;
  }

  /** `answers` null: rejected. */
  async replyQuestion(id: string, answers: string[][] | null, actor: Actor): Promise<void> {
    const { requests, say } = this.#options;
    const request = requests.find(id);
    if (request?.kind !== "question") return this.#answeredBefore(id, answers, "question_not_found");
    const asked = request.data.questions.length;
    if (answers && answers.length !== asked)
      throw new ProblemError("invalid_answers", `This request has ${asked} question(s); send one list of strings for each.`);
    requests.remember(id, answers);
    const status = answers ? "answered" : "rejected";
    const { questions } = request.data;
    if (answers) requests.secrets.remember(questions, answers);
    const shown = answers ? { answers: shownAnswers(questions, answers) } : {};
    const resolution: QuestionAnswer = { status, resolved_by: "client", ...shown, actor };
    say([{ do: "question.resolve", key: request.side.key, ...resolution }]);
    await this.#whenDurable((agent) => agent.replyQuestion(request.side.native, answers));
  }

  /**
   * The agent gets the answer when it is on disk. While the log cannot write the caller is refused after a moment; the answer counts all the same, and the
   * agent gets it when the log is well again.
   */
  async #whenDurable(reply: (agent: Connection) => Promise<void>, own: (() => void) | null = null): Promise<void> {
    const { committed, connection } = this.#options;
    const asker = connection();
    const give = async (): Promise<void> => {
      if (own) return own();
      if (asker && connection() === asker) await reply(asker);
    };
    try {
      await committed();
    } catch (error) {
      void committed({ bounded: false })
        .then(give)
        .catch(() => {});
      throw error;
    }
    await give();
  }

  async #answeredBefore(id: string, answer: unknown, missing: "permission_not_found" | "question_not_found"): Promise<void> {
    const { requests } = this.#options;
    const replacement = requests.replacementOf(id);
    if (replacement !== undefined)
      throw new ProblemError(
        "precondition_failed",
        `The agent changed the input after it asked. Read ${replacement} and answer that.`,
      );
    const before = requests.answerOf(id);
    if (before === undefined) throw new ProblemError(missing);
    if (before !== JSON.stringify(answer)) throw new ProblemError("already_answered");
    await this.#options.committed();
  }
}
