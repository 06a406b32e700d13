/** How a JSON-RPC call can fail, on either side. Not for errors of the transport underneath. */

export const JSON_RPC_INVALID_REQUEST = -32600;
export const JSON_RPC_METHOD_NOT_FOUND = -32601;
export const JSON_RPC_INTERNAL_ERROR = -32603;
export const JSON_RPC_REQUEST_CANCELLED = -32800;

/** The peer answered with an error; or, thrown by a handler, the error to answer with. */
export class JsonRpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "JsonRpcError";
    this.code = code;
    this.data = data;
  }

  static methodNotFound(method: string): JsonRpcError {
    return new JsonRpcError(JSON_RPC_METHOD_NOT_FOUND, `Method not found: ${method}`);
  }
}

/** The channel closed before the answer came. Whether the peer did the work is unknown. */
export class JsonRpcClosed extends Error {
  readonly code = "closed";
  readonly method: string;

  constructor(method: string, reason: string) {
    super(`No answer to ${method}: ${reason}. Start the peer again before asking again.`);
    this.name = "JsonRpcClosed";
    this.method = method;
  }
}

/** No answer in time. The peer may still be at work, and its late answer goes to `onUnmatched`. */
export class JsonRpcTimeout extends Error {
  readonly code = "timeout";
  readonly method: string;

  constructor(method: string, timeoutMs: number) {
    super(`No answer to ${method} within ${timeoutMs} ms: check that the peer is alive, or allow it more time.`);
    this.name = "JsonRpcTimeout";
    this.method = method;
  }
}

/** The error member of a response, from whatever a handler threw. */
export function toErrorMember(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof JsonRpcError)) {
    return { code: JSON_RPC_INTERNAL_ERROR, message: error instanceof Error ? error.message : String(error) };
  }
  const { code, message, data } = error;
  return data === undefined ? { code, message } : { code, message, data };
}

/** From the error member of a response, whatever its shape. */
export function fromErrorMember(member: unknown): JsonRpcError {
  if (typeof member !== "object" || member === null) return new JsonRpcError(JSON_RPC_INTERNAL_ERROR, String(member), member);
  const code = "code" in member && typeof member.code === "number" ? member.code : JSON_RPC_INTERNAL_ERROR;
  const message = "message" in member && typeof member.message === "string" ? member.message : JSON.stringify(member);
  return new JsonRpcError(code, message, "data" in member ? member.data : undefined);
}
