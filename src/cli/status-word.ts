/** How a session stands, in a word for people: the same wherever sessions are listed. */
import type { Session } from "../schema/session.ts";
import { failureOf } from "../schema/session-failure.ts";

export function statusWord(session: Session): string {
  const { pending, status } = session;
  if (pending.permissions + pending.questions > 0) return "waiting for you";
  return failureOf(session) ? "failed" : status;
}
