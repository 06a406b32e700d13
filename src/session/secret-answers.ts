/**
 * Answers to questions that ask for a secret. No event holds them, and neither does the ledger: a mark stands in their place (R4). The agent gets them as they
 * are. Kept here only until it has: what goes to the agent is a native message like any other.
 */
import type { QuestionPrompt } from "../schema/event-data.ts";

export const SECRET_ANSWER = "[redacted:answer]";

/** Answers that may be on their way to the agent. */
const MOST = 200;
/** Fields by which a native message is read; none of them holds an answer. */
const NAMES = /^(id|jsonrpc|method|type)$/;

/** What may be shown of them. */
export const shownAnswers = (questions: readonly QuestionPrompt[], answers: readonly (readonly string[])[]): string[][] =>
  answers.map((given, index) => given.map((answer) => (questions[index]?.secret && answer !== "" ? SECRET_ANSWER : answer)));

export class SecretAnswers {
  readonly #values = new Set<string>();

  remember(questions: readonly QuestionPrompt[], answers: readonly (readonly string[])[]): void {
    const secret = answers.flatMap((given, index) => (questions[index]?.secret ? given : []));
    for (const value of secret) if (value !== "" && value !== SECRET_ANSWER) this.#values.add(value);
    for (const value of this.#values) if (this.#values.size > MOST) this.#values.delete(value);
  }

  /** A native message that answers questions, as the ledger keeps it. */
  masked(raw: Buffer | string): Buffer | string {
    if (this.#values.size === 0) return raw;
    try {
      return JSON.stringify(JSON.parse(raw.toString()), (name, value: unknown) => {
        const text = typeof value === "number" ? String(value) : value;
        return typeof text === "string" && !NAMES.test(name) && this.#values.has(text) ? SECRET_ANSWER : value;
      });
    } catch {
      return [...this.#values].reduce((text, value) => text.replaceAll(value, SECRET_ANSWER), raw.toString());
    }
  }
}
