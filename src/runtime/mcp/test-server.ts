/** For tests only: an MCP server made with the official library, as a program or behind an address. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** The program, as the text of a module. `$SDK` is the library's address. */
export const PROGRAM = `
import { Server } from "$SDK/server/index.js";
import { StdioServerTransport } from "$SDK/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "$SDK/types.js";
import { appendFileSync } from "node:fs";
const server = new Server({ name: "lab", version: "1" }, { capabilities: { tools: { listChanged: true } } });
const object = (properties = {}) => ({ type: "object", properties });
let tools = ["add", "picture", "ask", "die", "hang", "grow", "fail", "long", "file"].map((name) => ({
  name, description: "The tool " + name, inputSchema: object({ a: { type: "number" }, b: { type: "number" } }),
}));
server.setRequestHandler(ListToolsRequestSchema, async ({ params }) =>
  params?.cursor ? { tools: tools.slice(5) } : { tools: tools.slice(0, 5), nextCursor: "more" });
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }) => {
  if (process.env.CALLS) appendFileSync(process.env.CALLS, name + "\\n");
  switch (name) {
    case "add": return text(args.a + args.b);
    case "picture": return { content: [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }] };
    case "file": return { content: [{ type: "audio", mimeType: "audio/wav", data: "UklGRg==" }, { type: "resource", resource: { uri: "lab://note", text: "a note" } }] };
    case "ask": {
      const answer = await server.elicitInput({ message: "Who are you?", requestedSchema: { type: "object", properties: { name: { type: "string" }, age: { type: "integer" } }, required: ["name"] } });
      return text(JSON.stringify(answer));
    }
    case "die": console.error("the lab is on fire"); process.exit(3);
    case "hang": return new Promise(() => {});
    case "fail": return { isError: true, ...text("no such thing") };
    case "long": return text("x".repeat(200_000));
    case "grow":
      tools = [...tools, { name: "grown", inputSchema: object() }];
      await server.sendToolListChanged();
      return text("grown");
    default: return text("new");
  }
});
await server.connect(new StdioServerTransport());
`;

/** Streamable HTTP with sessions, on loopback. `key`: what its header must be. */
export async function startHttpServer(key: string): Promise<{ url: string; close(): Promise<void> }> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    const refused = request.headers.authorization !== `Bearer ${key}`;
    if (refused) return void response.writeHead(401).end("no key");
    void (async () => {
      const known = transports.get(String(request.headers["mcp-session-id"]));
      if (known !== undefined) return known.handleRequest(request, response);
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
      const server = new Server({ name: "remote", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, async () => ({
        tools: [{ name: "echo back", description: "Says it again", inputSchema: { type: "object" as const } }],
      }));
      server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
        content: [{ type: "text" as const, text: `heard ${JSON.stringify(params.arguments)}` }],
      }));
      await server.connect(transport as unknown as Parameters<typeof server.connect>[0]);
      await transport.handleRequest(request, response);
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, close };
}

/** The address of the library. */
export const sdkAddress = (): string => import.meta.resolve("@modelcontextprotocol/sdk/types.js").replace(/\/types\.js$/, "");
