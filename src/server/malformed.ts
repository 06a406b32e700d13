/**
 * What never becomes a request: bytes that are no HTTP, headers that are too long or do not end, a wish for a tunnel. There is no response object then: the
 * problem is written to the socket, in the form of every other one.
 */
import type { Server } from "node:http";
import { type ProblemCode, ProblemError } from "../schema/problem-codes.ts";
import { closeWithProblem } from "./problems.ts";

/** Node's names for them; everything else is bytes that cannot be read. */
const codes: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

export function refuseMalformed(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const { _httpMessage: answering } = socket as { _httpMessage?: { headersSent: boolean } };
    // Into an answer that has begun nothing can be written: the connection ends.
    if (error.code === "ECONNRESET" || answering?.headersSent) socket.destroy();
    else closeWithProblem(socket, new ProblemError(codes[error.code ?? ""] ?? "malformed_request"));
  });
  server.on("connect", (_, socket) =>
    closeWithProblem(socket, new ProblemError("method_not_allowed", "There are no tunnels here.")),
  );
  // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1): the request is answered like any other.
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response));
}
