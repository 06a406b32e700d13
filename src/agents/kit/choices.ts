/**
 * The options of a permission and what each one says to the agent, as a table: the options are shown, the answers travel with the request and come back with
 * the reply. Chosen by kind and never by an agent's own ids. Pure.
 */
import type { DraftOf } from "../../schema/draft.ts";
import type { PermissionOption, PlainReply } from "../../schema/event-data.ts";
import type { PermissionReply } from "../contract.ts";
import { toJson } from "../json.ts";

/** One option and the native answer that says it. `unoffered`: other clients may choose it; it is never shown here. */
export type Choice<Answer> = PermissionOption & { answer: Answer; unoffered?: true };

/** Plain data. */
export type ChoiceTable<Answer> = { offered: PermissionOption[]; unoffered: PermissionOption[]; answers: Record<string, Answer> };

export const choice = <Answer>(id: string, label: string, kind: PermissionOption["kind"], answer: Answer): Choice<Answer> => ({
  id,
  label,
  kind,
  answer,
});

const shown = ({ id, label, kind }: PermissionOption): PermissionOption => ({ id, label, kind });

export function choiceTable<Answer>(choices: readonly Choice<Answer>[]): ChoiceTable<Answer> {
  const offered = choices.filter(({ unoffered }) => !unoffered);
  return {
    offered: offered.map(shown),
    unoffered: choices.filter(({ unoffered }) => unoffered).map(shown),
    answers: Object.fromEntries(offered.map(({ id, answer }) => [id, answer])),
  };
}

const KINDS: Record<PlainReply, PermissionOption["kind"][]> = {
  once: ["allow_once"],
  always: ["allow_always", "allow_once"],
  reject: ["reject_once", "reject_always"],
};

/** The option a reply means: the one it names, else the first of its kind (several may share one). Never a broader one than asked for. */
export function optionFor(
  options: readonly PermissionOption[],
  { reply, option_id }: Pick<PermissionReply, "reply" | "option_id">,
): PermissionOption | undefined {
  const named = option_id === null ? undefined : options.find(({ id }) => id === option_id);
  return named ?? KINDS[reply].flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0];
}

/** The native answer for a reply; undefined when nothing that is offered means it. */
export function answerFor<Answer>(table: ChoiceTable<Answer>, reply: PermissionReply): Answer | undefined {
  const option = optionFor(table.offered, reply);
  return option && table.answers[option.id];
}

/** The option whose answer went over the wire, word for word. */
export const optionOf = <Answer>(table: ChoiceTable<Answer>, answer: unknown): PermissionOption | undefined => {
  const given = toJson(answer);
  return table.offered.find(({ id }) => toJson(table.answers[id]) === given);
};

/** What choosing this option means. None: the answer was not understood, which no agent takes for a yes. */
export function resolutionOf(
  option: PermissionOption | undefined,
): Pick<DraftOf<"permission.resolve">, "status" | "reply" | "option_id"> {
  if (option === undefined) return { status: "denied", reply: "reject" };
  const allowed = option.kind.startsWith("allow");
  const reply = option.kind === "allow_always" ? "always" : allowed ? "once" : "reject";
  return { status: allowed ? "approved" : "denied", reply, option_id: option.id };
}
