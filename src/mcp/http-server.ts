/**
 * The MCP server over streamable HTTP, on this machine only. Its token opens the tools and nothing else: whoever holds it cannot call the daemon itself.
 * Each client gets a server of its own.
 */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Server, StreamableHTTPServerTransport, type Transport } from "./sdk.ts";

/** `newServer` gets who connects: an agent keeps an agent's rights. */
export type McpHttpOptions = { port: number; token: string; newServer(client: Socket): Promise<Server> };
export type McpHttp = { url: string; close(): Promise<void> };

/** Clients at once. Many never say goodbye: the one that was silent longest makes room. */
const MAX_CLIENTS = 100;

export async function serveMcpHttp({ port, token, newServer }: McpHttpOptions): Promise<McpHttp> {
  const clients = new Map<string, { transport: StreamableHTTPServerTransport; server: Server }>();
  const http = createServer((request, response) => {
    void take(request, response).catch(() => refuse(response, 500, "The request failed."));
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = faultOf(request, token);
    if (fault) return refuse(response, ...fault);
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? clients.get(id) : undefined;
    if (typeof id === "string" && known) {
      clients.delete(id);
      clients.set(id, known);
      return known.transport.handleRequest(request, response);
    }
    if (id !== undefined) return refuse(response, 404, "This MCP session is over. Initialize again.");
    const [oldest] = clients;
    if (oldest && clients.size >= MAX_CLIENTS) {
      clients.delete(oldest[0]);
      await oldest[1].server.close();
    }
    const server = await newServer(request.socket);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void clients.set(session, { transport, server }),
      onsessionclosed: (session) => void clients.delete(session),
    });
    // The SDK's own class does not meet its interface under exactOptionalPropertyTypes.
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response);
    if (transport.sessionId === undefined || !clients.has(transport.sessionId)) await server.close();
  }

  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, "127.0.0.1", resolve);
  });
  const address = http.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : port}/mcp`,
    close: async () => {
      await Promise.all([...clients.values()].map(({ server }) => server.close()));
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Pages of the browser are kept out by origin and host, everybody else by the token. */
function faultOf({ url, headers }: IncomingMessage, token: string): [number, string] | undefined {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? "")) return [403, "Call this server as 127.0.0.1 or localhost."];
  if (headers.origin !== undefined) return [403, "Pages may not call this server."];
  if (new URL(url ?? "/", "http://localhost").pathname !== "/mcp") return [404, "The MCP endpoint is /mcp."];
  const shown = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  return sameSecret(shown, token)
    ? undefined
    : [401, "Send the token that `dragoman mcp --http` printed: Authorization: Bearer <token>."];
}

function sameSecret(shown: string, secret: string): boolean {
  const [a, b] = [Buffer.from(shown), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "application/json", ...(status === 401 ? { "www-authenticate": "Bearer" } : {}) });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }));
}
