/** Folds of a session's events: the state of the session, and its transcript. Needs no platform and no schema library. */
export type { ProjectedEvent } from "./event.ts";
export { foldItems, ItemProjection } from "./item-projection.ts";
export type { Queue } from "./queue.ts";
export { SessionProjection } from "./session-projection.ts";
