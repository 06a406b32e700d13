/** The kinds of streams a log holds, and which event is the last of a stream of each kind. */

export const STREAM_KINDS = ["session", "task", "thread", "artifact"] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** Nothing follows an event of this type in a stream of this kind. `json` is asked for only where the type alone does not say it. */
export function isLastEvent(kind: StreamKind, type: string | undefined, json: () => string | undefined): boolean {
  if (kind === "session") return type === "session.ended";
  if (kind !== "task" || type !== "task.status") return false;
  const { data } = JSON.parse(json() ?? "{}") as { data?: { status?: string } };
  return data?.status === "exited" || data?.status === "cancelled" || data?.status === "failed";
}
