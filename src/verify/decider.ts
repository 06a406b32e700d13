// Answers permissions and questions as a scenario says. It chooses; the runner sends.
import type { PermissionData, PlainReply, QuestionData } from "../schema/event-data.ts";
import type { PermissionReplyBody } from "../schema/session.ts";
import type { PermissionReply, QuestionReply, Scenario } from "./scenario/index.ts";

export type PermissionDecision = { reply: PermissionReplyBody | null; interrupt: boolean };

/** `answers` null: rejected. Undefined: left open. */
export type QuestionDecision = { answers: string[][] | null } | undefined;

export class Decider {
  readonly #permissions: readonly PermissionReply[];
  readonly #questions: readonly QuestionReply[];
  #asked = 0;
  #questioned = 0;

  constructor(replies: Scenario["replies"]) {
    this.#permissions = replies?.permissions ?? [];
    this.#questions = replies?.questions ?? [];
  }

  permission(request: PermissionData): PermissionDecision {
    const chosen = this.#matching(request) ?? this.#inOrder() ?? { reply: "once" };
    const { reply, message, updated_input, interrupt } = chosen;
    if (reply === "none") return { reply: null, interrupt: interrupt === true };
    return {
      reply: {
        reply: offered(reply, request),
        ...(message === undefined ? {} : { message }),
        ...(updated_input === undefined ? {} : { updated_input }),
      },
      interrupt: interrupt === true,
    };
  }

  #matching(request: PermissionData): PermissionReply | undefined {
    const text = JSON.stringify(request);
    return this.#permissions.find((reply) => reply.matching !== undefined && text.includes(reply.matching));
  }

  #inOrder(): PermissionReply | undefined {
    const plain = this.#permissions.filter((reply) => reply.matching === undefined);
    return plain[Math.min(this.#asked++, plain.length - 1)];
  }

  question(request: QuestionData): QuestionDecision {
    const reply = this.#questions[Math.min(this.#questioned++, this.#questions.length - 1)];
    if (reply === undefined) return { answers: request.questions.map((one) => firstOf(one.options)) };
    if ("none" in reply) return undefined;
    if ("reject" in reply) return { answers: null };
    return {
      answers: request.questions.map((one, index) => (reply.answers[index] ?? firstOf(one.options)).map(label(one.options))),
    };
  }
}

/** An agent that offers no rule for good is answered once. */
function offered(reply: PlainReply, request: PermissionData): PlainReply {
  const { options } = request.metadata;
  const always = options.length === 0 || options.some((option) => option.kind === "allow_always");
  const once = options.length === 0 || options.some((option) => option.kind === "allow_once");
  if (reply === "always" && !always) return "once";
  if (reply === "once" && !once && always) return "always";
  return reply;
}

const firstOf = (options: readonly { label: string }[]): string[] => [options[0]?.label ?? "yes"];

/** The offered label that is meant, in its own spelling; anything else is free text. */
const label =
  (options: readonly { label: string }[]) =>
  (meant: string): string => {
    const wanted = meant.toLowerCase();
    const exact = options.find((option) => option.label.toLowerCase() === wanted);
    return (exact ?? options.find((option) => option.label.toLowerCase().startsWith(wanted)))?.label ?? meant;
  };
