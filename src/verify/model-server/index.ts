// What the rest of the program uses of the scripted model server.

export { LIKENESSES } from "./likeness.ts";
export type { HistoryEntry, OfferedTool, ProtocolName, SeenCall } from "./model-request.ts";
export { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server.ts";
export type { Position } from "./position.ts";
export type { RecordedRequest } from "./recorded-request.ts";
export type { SideCall } from "./side-call.ts";
