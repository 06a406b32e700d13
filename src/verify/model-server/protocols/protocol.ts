// What each provider's protocol must offer the server. One file a protocol implements it.

import type { JsonObject } from "../json.ts";
import type { HttpCall, ModelRequest, ProtocolName } from "../model-request.ts";
import type { Reply } from "../reply.ts";

/** One server-sent event. `content` marks those that carry a piece of the answer: faults and delays count them. */
export interface Frame {
  readonly event?: string;
  /** A string is sent as it is (`[DONE]`), anything else as JSON. */
  readonly data: unknown;
  readonly content?: boolean;
}

export interface HttpError {
  readonly status: number;
  readonly body: JsonObject;
}

export interface Protocol {
  readonly name: ProtocolName;
  readonly callPrefix: string;
  readonly replyPrefix: string;
  parse(call: HttpCall): ModelRequest;
  frames(reply: Reply, request: ModelRequest): Frame[];
  body(reply: Reply): JsonObject;
  error(status: number, message?: string, type?: string): JsonObject;
  /** How the provider says that something broke inside a stream that had begun. */
  streamError(type: string | undefined, message: string): Frame[];
  /** A failure with a code, as early in the stream as the protocol allows. */
  failed(reply: Reply, code: string, message: string): Frame[];
  /** The conversation does not fit: an HTTP error, or frames where only frames are understood. */
  overflow(reply: Reply): HttpError | Frame[];
}
