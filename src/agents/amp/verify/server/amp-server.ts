// A stand-in of Amp's server on loopback, so that the builds whose loop runs locally work without an account and without a network.
// It keeps threads in memory and hands model requests to the scripted model server. Not for builds whose loop runs on Amp's servers.
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { answerMethod, ThreadStore } from "./methods.ts";

export interface AmpServerOptions {
  /** Where `/api/provider/<name>/…` goes: the scripted model server, without a slash at the end. */
  readonly modelUrl: string;
  readonly port?: number;
  /** Called with each internal method that was called, for diagnosis. */
  readonly log?: (method: string, params: unknown) => void;
}

export interface AmpServer {
  /** For `AMP_URL`: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** What an agent needs to use this server and nothing else. */
  readonly env: Readonly<Record<string, string>>;
  /** Internal methods called so far, in order. */
  readonly methods: readonly string[];
  close(): Promise<void>;
}

const PROVIDER = /^\/api\/provider\/[^/]+(\/.*)$/;
const METHODS_KEPT = 10_000;

export async function startAmpServer(options: AmpServerOptions): Promise<AmpServer> {
  const threads = new ThreadStore();
  const methods: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const provider = PROVIDER.exec(url.pathname)?.[1];
    if (provider !== undefined) return forward(request, response, `${options.modelUrl}${provider}${url.search}`);
    readJson(request).then(
      (body) => {
        if (url.pathname !== "/api/internal") return reply(response, url.pathname.startsWith("/api/") ? 200 : 404, { ok: true });
        const method = String(body.method ?? url.search.slice(1).split("&", 1)[0] ?? "");
        if (methods.length < METHODS_KEPT) methods.push(method);
        options.log?.(method, body.params);
        reply(response, 200, answerMethod(method, body.params, threads));
      },
      (error: unknown) => reply(response, 400, { ok: false, error: { code: "bad-request", message: String(error) } }),
    );
  });
  const port = await listen(server, options.port ?? 0);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    // The look for updates would reach for the network.
    env: { AMP_URL: url, AMP_API_KEY: "sgamp_user_stand-in", AMP_SKIP_UPDATE_CHECK: "1" },
    methods,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Byte for byte in both directions, and a broken connection on one side breaks the other: faults are part of the script. */
function forward(request: IncomingMessage, response: ServerResponse, target: string): void {
  const { host: _, connection: __, ...headers } = request.headers;
  const onward = httpRequest(target, { method: request.method ?? "POST", headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
    answer.on("error", () => response.destroy());
    answer.on("aborted", () => response.destroy());
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString("utf8");
  if (text === "") return {};
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("The stand-in of Amp's server got no port."));
      else resolve(address.port);
    });
  });
}
