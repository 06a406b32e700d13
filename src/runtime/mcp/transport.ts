/** How messages of the Model Context Protocol travel to one server and back. Not here: what they mean. */
import type { JsonObject } from "../../openresponses/json.ts";

export interface McpHandlers {
  onMessage(message: JsonObject): void;
  /** The server is gone. Said once; `why` is a sentence that ends without a full stop. */
  onClose(why: string): void;
}

export interface McpTransport {
  /** Rejects when the server cannot be reached. */
  open(handlers: McpHandlers): Promise<void>;
  /** Rejects when the message could not be delivered. */
  send(message: JsonObject, signal?: AbortSignal): Promise<void>;
  /** The version that both sides speak, known after the first answer. */
  negotiated(version: string): void;
  /** Ends the connection; no process of it is left. */
  close(): Promise<void>;
}

/** A larger message is refused: it would have to be kept whole. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
