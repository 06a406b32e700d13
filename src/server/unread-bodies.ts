/**
 * A large body that nobody wants: the request was answered (401, 404, 413) before it had come. Only a little of it is read to be thrown away. The
 * connection stays open for a moment, so that the client can read its answer, and is then closed.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Less than this is read: then the connection can go on. */
const SMALL_BYTES = 64 * 1024;
/** So much of a larger one is read away: a client that had sent all of it already may use the connection for its next request at once. */
const REST_BYTES = 1024 * 1024;
const LINGER_MS = 1_000;

export function leaveUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers, socket } = request;
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) <= SMALL_BYTES) return;
  response.once("finish", () => {
    if (request.complete || socket.destroyed) return;
    // Node has just begun to read it away.
    const enough = socket.bytesRead + REST_BYTES;
    const stop = (): void => {
      if (request.complete || socket.bytesRead < enough) return;
      request.pause();
      socket.pause();
    };
    request.on("data", stop);
    const timer = setTimeout(() => request.complete || socket.destroy(), LINGER_MS).unref();
    socket.once("close", () => clearTimeout(timer));
  });
}
