/**
 * A large body that nobody wants: the request was answered (401, 404, 413) before it had come. One of a moderate size is read away, so that the connection can
 * go on. Of a larger one, or one of unknown size, nothing more is read: the connection stays open for a moment, so that the client can read its answer, and is
 * then closed.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Node sees to these. */
const SMALL_BYTES = 64 * 1024;
/** As much is read away: a client that had sent all of it already may use the connection for its next request at once. */
const MODERATE_BYTES = 1024 * 1024;
const LINGER_MS = 1_000;

export function leaveUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers, socket } = request;
  const bytes = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : Number.POSITIVE_INFINITY;
  if (bytes <= SMALL_BYTES) return;
  // Reads nothing, but counts as reading. The rest of a request that was never read Node reads away after its answer, all of it, past every pause.
  request.read(0);
  response.once("finish", () => {
    if (socket.destroyed) return;
    if (request.complete || bytes <= MODERATE_BYTES) request.resume();
    if (request.complete) return;
    const timer = setTimeout(() => request.complete || socket.destroy(), LINGER_MS).unref();
    socket.once("close", () => clearTimeout(timer));
  });
}
