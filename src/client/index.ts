// dragoman/client: drive a daemon from Node, a browser, Bun or Deno. Needs fetch and nothing else of its surroundings.

export type { UnifiedContent, UnifiedMessage, UnifiedMessageType } from "../dialects/unified-message.ts";
export type * from "../schema/index.ts";
export { foldItems, ItemProjection, SessionProjection } from "../schema/projection/index.ts";
export { choosesCommand } from "./chosen-command.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export {
  type AgentQuery,
  type AllEventsOptions,
  type ArtifactOptions,
  type AuditOptions,
  Dragoman,
  type ListOptions,
  type NodeFilter,
  type WatchNodesOptions,
} from "./dragoman.ts";
export { type ClientErrorCode, DragomanError, type DragomanErrorCode } from "./error.ts";
export type { StreamState } from "./event-stream.ts";
export type { Call, HttpOptions } from "./http.ts";
export type { PermissionRequest, QuestionRequest } from "./requests.ts";
export type { SendOptions } from "./sent-message.ts";
export type { SessionFile } from "./session-file.ts";
export { SessionFiles } from "./session-files.ts";
export {
  type DiffOptions,
  type EventsPage,
  type ItemsOptions,
  type PageOptions,
  SessionHandle,
} from "./session-handle.ts";
export { SessionSocket, type SocketOptions, type WebSocketConstructor, type WebSocketLike } from "./session-socket.ts";
export type { EventsOptions } from "./session-stream.ts";
export type { SessionListeners } from "./session-watch.ts";
export { type StartedDaemon, type StartOptions, start } from "./start.ts";
export { TaskHandle } from "./task-handle.ts";
export { TaskSocket, type TaskSocketOptions } from "./task-socket.ts";
export type { Identity, MadeLink, MintedToken, MintOptions, Scope, TokenInfo, TokenKind } from "./tokens.ts";
export { finalText, type TurnOutcome } from "./turn-outcome.ts";
