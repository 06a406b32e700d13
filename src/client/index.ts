// dragoman/client: drive a daemon from Node, a browser, Bun or Deno. Needs fetch and nothing else of its surroundings.

export { foldItems, ItemFold } from "../schema/fold-items.ts";
export type * from "../schema/index.ts";
export { type ConnectOptions, connect, Dragoman, type ListOptions } from "./dragoman.ts";
export { type ClientErrorCode, DragomanError } from "./error.ts";
export type { StreamState } from "./event-stream.ts";
export type { HttpOptions } from "./http.ts";
export {
  type EventsOptions,
  type EventsPage,
  type PermissionRequest,
  type QuestionRequest,
  type SendOptions,
  SessionHandle,
  type TurnOutcome,
} from "./session-handle.ts";
