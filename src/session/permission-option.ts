// Which of the offered options a reply means. Chosen by kind, never by an agent's own ids.
import type { PermissionOption } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { PermissionReplyBody } from "../schema/session.ts";

const KIND_OF = { once: "allow_once", always: "allow_always", reject: "reject_once" } as const;

/** Null when the agent offers no options and only the reply itself counts. */
export function optionFor(options: PermissionOption[], body: PermissionReplyBody): PermissionOption | null {
  if (body.option_id !== undefined) {
    const chosen = options.find((option) => option.id === body.option_id);
    const offered = options.map((option) => option.id).join(", ");
    if (!chosen)
      throw new ProblemError("invalid_option", `There is no option ${JSON.stringify(body.option_id)}; offered are: ${offered}.`);
    if (chosen.kind.startsWith("allow") !== (body.reply !== "reject"))
      throw new ProblemError("invalid_option", `Option ${body.option_id} is ${chosen.kind}, but the reply is ${body.reply}.`);
    return chosen;
  }
  const byKind = options.find((option) => option.kind === KIND_OF[body.reply]);
  if (byKind || options.length === 0) return byKind ?? null;
  if (body.reply === "reject") return options.find((option) => option.kind === "reject_always") ?? null;
  const allowed = options.filter((option) => option.kind.startsWith("allow"));
  const offered = allowed.map((option) => `${option.id} (${option.kind})`).join(", ");
  throw new ProblemError(
    "invalid_option",
    `This request offers no ${KIND_OF[body.reply]}; offered are: ${offered || "only rejections"}.`,
  );
}
