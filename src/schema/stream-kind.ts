/** The kinds of streams a log holds, and which event is the last of a stream of each kind. */

export const STREAM_KINDS = ["session", "task", "thread", "artifact"] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

const LAST_EVENTS: Readonly<Record<StreamKind, readonly string[]>> = {
  session: ["session.ended"],
  task: ["task.cancelled"],
  thread: [],
  artifact: [],
};

/** Nothing follows an event of this type in a stream of this kind. */
export const isLastEvent = (kind: StreamKind, type: string | undefined): boolean =>
  type !== undefined && LAST_EVENTS[kind].includes(type);
