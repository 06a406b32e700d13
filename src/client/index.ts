// dragoman/client: drive a daemon from Node, a browser, Bun or Deno. Needs fetch and nothing else of its surroundings.

export type { UnifiedContent, UnifiedMessage, UnifiedMessageType } from "../dialects/unified-message.ts";
export type * from "../schema/index.ts";
export { foldItems, ItemProjection, SessionProjection } from "../schema/projection/index.ts";
export { choosesCommand } from "./chosen-command.ts";
export {
  type AgentQuery,
  type AllEventsOptions,
  type ArtifactOptions,
  type AuditOptions,
  type ConnectOptions,
  connect,
  Dragoman,
  type Identity,
  type ListOptions,
  type MadeLink,
  type MintedToken,
  type MintOptions,
  type NodeFilter,
  type Scope,
  type TokenInfo,
  type TokenKind,
  type WatchNodesOptions,
} from "./dragoman.ts";
export { type ClientErrorCode, DragomanError, type DragomanErrorCode } from "./error.ts";
export type { StreamState } from "./event-stream.ts";
export type { Call, HttpOptions } from "./http.ts";
export type { PermissionRequest, QuestionRequest } from "./requests.ts";
export type { SessionFile } from "./session-file.ts";
export { SessionFiles } from "./session-files.ts";
export {
  type DiffOptions,
  type EventsOptions,
  type EventsPage,
  type ItemsOptions,
  type PageOptions,
  type SendOptions,
  SessionHandle,
} from "./session-handle.ts";
export { SessionSocket, type SocketOptions, type WebSocketConstructor, type WebSocketLike } from "./session-socket.ts";
export type { SessionListeners } from "./session-watch.ts";
export { type StartedDaemon, type StartOptions, start } from "./start.ts";
export { TaskHandle } from "./task-handle.ts";
export { TaskSocket, type TaskSocketOptions } from "./task-socket.ts";
export { finalText, type TurnOutcome } from "./turn-outcome.ts";
