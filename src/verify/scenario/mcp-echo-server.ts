// A small MCP server on stdio for scenarios that need one: `echo`, `fail` and `image`. Run it with node; it ends with its stdin.
// It is a whole program, not a library: only the verify runner starts it, under the name a scenario gives it.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

type Message = Record<string, unknown>;

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const isObject = (value: unknown): value is Message => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: string): Message => ({ type: "text", text: value });

const TOOLS = ["echo", "fail", "image"].map((name) => ({
  name,
  description: `The ${name} tool of a test server.`,
  inputSchema: { type: "object", properties: { message: { type: "string" } } },
}));

/** The answer to one message; undefined when none is due. */
export function answer(message: unknown): Message | undefined {
  if (!isObject(message) || message.id === undefined || typeof message.method !== "string") return undefined;
  const params = isObject(message.params) ? message.params : {};
  const result = resultOf(message.method, params);
  const reply = { jsonrpc: "2.0", id: message.id };
  return result ? { ...reply, result } : { ...reply, error: { code: -32601, message: `No method ${message.method}.` } };
}

function resultOf(method: string, params: Message): Message | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion ?? "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "1.0.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call":
      return call(params);
    default:
      return undefined;
  }
}

function call(params: Message): Message {
  const given = isObject(params.arguments) ? String(params.arguments.message ?? "") : "";
  switch (params.name) {
    case "echo":
      return { content: [text(`echo: ${given}`)] };
    case "image":
      return { content: [text("a dot"), { type: "image", data: DOT, mimeType: "image/png" }] };
    default:
      return { content: [text(`failed: ${given}`)], isError: true };
  }
}

function serve(): void {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const reply = answer(parse(line));
    if (reply) process.stdout.write(`${JSON.stringify(reply)}\n`);
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) serve();
