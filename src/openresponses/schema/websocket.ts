/** Messages of the WebSocket transport of Open Responses 2026-04-24. Events from the server are those of `events.ts`. */
import Type from "typebox";
import { Nullable } from "./content.ts";
import { CreateResponse } from "./request.ts";

const Text = Type.String();
const { stream: _stream, stream_options: _options, background: _background, ...rest } = CreateResponse.properties;

/** A client asks for one response. The keys of streaming and background work have no meaning here and must be absent. */
export const WebSocketCreate = Type.Object({ type: Type.Literal("response.create"), ...rest });
export type WebSocketCreate = Type.Static<typeof WebSocketCreate>;

/** An error that belongs to the request or the socket, not to a response. */
export const WebSocketError = Type.Object({
  type: Type.Literal("error"),
  status: Type.Integer(),
  error: Type.Object({ type: Type.Optional(Text), code: Text, message: Text, param: Type.Optional(Nullable(Text)) }),
});
export type WebSocketError = Type.Static<typeof WebSocketError>;

/** The response named as the previous one is not in the memory of this socket. */
export const PREVIOUS_NOT_FOUND = "previous_response_not_found";
/** The socket is too old (60 minutes): open another. */
export const CONNECTION_LIMIT = "websocket_connection_limit_reached";
