/** Whether a session stands where an error left it: lists say so, whoever shows them. */
import type { Session } from "./session.ts";

/** Nothing runs, and this error ended the last turn or came after it; null: there is none. */
export const failureOf = ({ status, last_error }: Pick<Session, "status" | "last_error">): Session["last_error"] =>
  status === "idle" || status === "dormant" ? last_error : null;
