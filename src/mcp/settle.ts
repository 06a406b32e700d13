// Waits until a session needs nobody, or somebody: idle, ended, or with an open request.
import type { SessionHandle } from "../client/session-handle.ts";
import type { Session } from "../schema/session.ts";

const TELLING = ["session.status", "turn.ended", "permission.requested", "question.requested", "session.ended"] as const;

export const isSettled = ({ status, queued, pending }: Session): boolean =>
  pending.permissions + pending.questions > 0 || (queued === 0 && status !== "running" && status !== "starting");

/** The session as it is then, or when the time is over. */
export async function settle(session: SessionHandle, signal: AbortSignal): Promise<Session> {
  let view = await session.get(signal);
  while (!isSettled(view) && !signal.aborted) {
    for await (const _ of session.events({ after: view.last_sequence, types: [...TELLING], signal })) break;
    if (signal.aborted) break;
    view = await session.get(signal);
  }
  return view;
}
