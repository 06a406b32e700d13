/**
 * `fetch` through a unix socket, as far as the client needs it: headers, a body of text, a Blob or a stream, a streamed answer, an abort signal. Node's own fetch cannot.
 */
import type { ClientRequest, IncomingMessage } from "node:http";

// Asked for at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { Agent, request: httpRequest } = process.getBuiltinModule("node:http");
const { Readable } = process.getBuiltinModule("node:stream");

const EMPTY = new Set([204, 205, 304]);

/** The address says path and query; where it goes is the socket. */
export function socketFetch(socketPath: string): typeof fetch {
  const agent = new Agent({ keepAlive: true });
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const signal = init.signal ?? undefined;
      const request: ClientRequest = httpRequest(
        {
          agent,
          socketPath,
          path: `${pathname}${search}`,
          method: init.method ?? "GET",
          headers: { ...Object.fromEntries(new Headers(init.headers)), host: "localhost" },
          ...(signal ? { signal } : {}),
        },
        (answer) => resolve(responseOf(answer)),
      );
      request.on("error", (error) => reject(signal?.aborted ? signal.reason : error));
      send(request, init.body, (error) => {
        request.destroy();
        reject(error);
      });
    });
}

/** What is sent is read no faster than it can be sent. A daemon that answers early gets no more of it. */
function send(request: ClientRequest, body: RequestInit["body"], failed: (error: unknown) => void): void {
  if (body === undefined || body === null || typeof body === "string") return void request.end(body ?? undefined);
  const stream = body instanceof Blob ? body.stream() : body;
  if (!(stream instanceof ReadableStream)) return failed(new TypeError("This kind of body cannot be sent."));
  const source = Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
  source.on("error", failed);
  request.on("close", () => source.destroy());
  source.pipe(request);
}

function responseOf(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 500;
  const headers = new Headers();
  for (let i = 0; i < answer.rawHeaders.length; i += 2)
    headers.append(answer.rawHeaders[i] ?? "", answer.rawHeaders[i + 1] ?? "");
  if (EMPTY.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}
