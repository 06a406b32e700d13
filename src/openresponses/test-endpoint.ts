/** For tests only: an endpoint on loopback that answers as the test says, byte for byte, and events of a conforming stream. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "./json.ts";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The port of the client: the same for two requests over one connection. */
  readonly port: number | undefined;
}

export interface TestEndpoint {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

export type Answer = (response: ServerResponse, request: SeenRequest, nth: number) => void;

export async function startEndpoint(answer: Answer): Promise<TestEndpoint> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const seen = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(parts).toString("utf8"),
        port: request.socket.remotePort,
      };
      requests.push(seen);
      answer(response, seen, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

export const sendStream = (response: ServerResponse, text: string | Buffer): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(text);
};

export const block = (data: unknown, name?: string): string => {
  const type = typeof data === "object" && data !== null && "type" in data ? String(data.type) : "message";
  return `event: ${name ?? type}\ndata: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
};

/** A response resource with every key of the specification. */
export const resource = (status: string, more: JsonObject = {}): JsonObject => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  completed_at: status === "completed" ? 2 : null,
  status,
  incomplete_details: null,
  model: "m",
  previous_response_id: null,
  instructions: null,
  output: [],
  error: null,
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  usage: null,
  max_output_tokens: null,
  max_tool_calls: null,
  store: false,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
  ...more,
});

export const message = (text: string, status = "completed"): JsonObject => ({
  type: "message",
  id: "msg_1",
  status,
  role: "assistant",
  content: text === "" ? [] : [{ type: "output_text", text, annotations: [] }],
});

/** The events of a conforming answer with one message and one function call. */
export function conformingEvents(): JsonObject[] {
  const text = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "", status: "in_progress" };
  const done = { ...call, arguments: '{"path":"a"}', status: "completed" };
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens_details: { reasoning_tokens: 2 },
  };
  const events: JsonObject[] = [
    { type: "response.created", response: resource("in_progress") },
    { type: "response.in_progress", response: resource("in_progress") },
    { type: "response.output_item.added", output_index: 0, item: message("", "in_progress") },
    { type: "response.content_part.added", ...text, part: { type: "output_text", text: "", annotations: [] } },
    { type: "response.output_text.delta", ...text, delta: "Grüße " },
    { type: "response.output_text.delta", ...text, delta: "🐉" },
    { type: "response.output_text.done", ...text, text: "Grüße 🐉" },
    { type: "response.content_part.done", ...text, part: { type: "output_text", text: "Grüße 🐉", annotations: [] } },
    { type: "response.output_item.done", output_index: 0, item: message("Grüße 🐉") },
    { type: "response.output_item.added", output_index: 1, item: call },
    { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 1, delta: '{"path":' },
    { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 1, delta: '"a"}' },
    { type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 1, arguments: '{"path":"a"}' },
    { type: "response.output_item.done", output_index: 1, item: done },
    { type: "response.completed", response: resource("completed", { output: [message("Grüße 🐉"), done], usage }) },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

export const streamOf = (events: readonly unknown[], done = true): string =>
  `${events.map((event) => block(event)).join("")}${done ? "data: [DONE]\n\n" : ""}`;

let serial = 0;

/** An item of an answer, as short as a test can write it. */
export type ShortItem =
  | { readonly text: string }
  | { readonly call: string; readonly args: unknown; readonly id?: string }
  | { readonly custom: string; readonly input: string };

/** A whole conforming answer. */
export function answerStream(
  short: readonly ShortItem[],
  tokens: { readonly input: number; readonly output: number } = { input: 0, output: 0 },
): string {
  serial += 1;
  const id = `resp_${serial}`;
  const items = short.map((item, at): JsonObject => {
    if ("text" in item) return { ...message(item.text), id: `msg_${serial}_${at}` };
    const call_id = "id" in item && item.id !== undefined ? item.id : `call_${serial}_${at}`;
    const base = { id: `fc_${serial}_${at}`, call_id, status: "completed" };
    if ("custom" in item) return { type: "custom_tool_call", ...base, name: item.custom, input: item.input };
    const args = typeof item.args === "string" ? item.args : JSON.stringify(item.args);
    return { type: "function_call", ...base, name: item.call, arguments: args };
  });
  const usage = {
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const events = [
    { type: "response.created", response: resource("in_progress", { id }) },
    ...items.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: resource("completed", { id, output: items, usage }) },
  ];
  return streamOf(events.map((event, sequence_number) => ({ ...event, sequence_number })));
}
