// Anthropic Messages: requests read, answers written (https://docs.anthropic.com/en/api/messages-streaming).

import type { Stop } from "../../../agents/scenario.ts";
import { type JsonObject, objectOf, objectsOf, stringOf, textOf } from "../json.ts";
import type { HistoryEntry, HttpCall, ModelRequest } from "../model-request.ts";
import type { Reply, ReplyBlock } from "../reply.ts";
import type { Frame, Protocol } from "./protocol.ts";

const STOPS: Record<Stop, string> = {
  end: "end_turn",
  tool: "tool_use",
  max_tokens: "max_tokens",
  refusal: "refusal",
  content_filter: "refusal",
  pause: "pause_turn",
  stop_sequence: "stop_sequence",
  context_window: "model_context_window_exceeded",
  malformed_call: "tool_use",
};

const ERRORS: Readonly<Record<number, readonly [string, string]>> = {
  400: ["invalid_request_error", "The request is not valid."],
  401: ["authentication_error", "invalid x-api-key"],
  402: ["billing_error", "Your credit balance is too low to access the Anthropic API."],
  403: ["permission_error", "Your API key does not have permission to use the specified resource."],
  404: ["not_found_error", "model: no-such-model"],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "This request would exceed your rate limit."],
  500: ["api_error", "Internal server error"],
  503: ["api_error", "Service unavailable"],
  529: ["overloaded_error", "Overloaded"],
};

export const anthropic: Protocol = {
  name: "anthropic",
  callPrefix: "toolu",
  replyPrefix: "msg",
  parse,
  frames,
  body: (reply) => ({
    ...envelope(reply),
    content: reply.blocks.flatMap(wholeBlocks),
    ...stopFields(reply),
    usage: usage(reply),
  }),
  error: (status, message, type) => ({
    type: "error",
    error: { type: type ?? ERRORS[status]?.[0] ?? "api_error", message: message ?? ERRORS[status]?.[1] ?? `HTTP ${status}` },
    request_id: "req_scripted",
  }),
  streamError: (type, message) => [
    { event: "error", data: { type: "error", error: { type: type ?? "overloaded_error", message }, request_id: "req_scripted" } },
  ],
  failed: (_reply, code, message) => anthropic.streamError(code, message),
  overflow: () => ({ status: 400, body: anthropic.error(400, "prompt is too long: 250000 tokens > 200000 maximum") }),
};

function parse(call: HttpCall): ModelRequest {
  const { body } = call;
  const format = objectOf(objectOf(body.output_config).format ?? body.output_format);
  const schema = objectOf(format.schema);
  const choice = objectOf(body.tool_choice);
  return {
    protocol: "anthropic",
    model: stringOf(body.model) || "scripted-model",
    stream: body.stream === true,
    as_array: false,
    usage_chunk: true,
    system: textOf(body.system),
    history: objectsOf(body.messages).flatMap(entries),
    tools: objectsOf(body.tools).map((tool) => ({
      name: stringOf(tool.name),
      namespace: undefined,
      schema: objectOf(tool.input_schema),
    })),
    forced_tool: choice.type === "tool" ? stringOf(choice.name) : undefined,
    json_schema: Object.keys(schema).length > 0 ? schema : undefined,
    session:
      call.headers["x-claude-code-session-id"] ??
      call.headers["x-session-id"] ??
      (stringOf(objectOf(body.metadata).user_id) || undefined),
  };
}

function entries(message: JsonObject): HistoryEntry[] {
  if (message.role === "system") {
    const text = textOf(message.content);
    // claude 2.1.325: a message sent in mid-turn is folded into it so.
    return [text.startsWith("The user sent a new message") ? { role: "user", text, images: 0 } : { role: "system", text }];
  }
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : objectsOf(message.content);
  if (message.role === "assistant") {
    const calls = blocks
      .filter((block) => block.type === "tool_use")
      .map((block) => ({ id: stringOf(block.id), name: stringOf(block.name), arguments: JSON.stringify(block.input ?? {}) }));
    return [{ role: "assistant", text: textOf(blocks.filter((block) => block.type === "text")), calls }];
  }
  const results: HistoryEntry[] = blocks
    .filter((block) => block.type === "tool_result")
    .map((block) => ({
      role: "tool",
      call_id: stringOf(block.tool_use_id),
      text: textOf(block.content),
      is_error: block.is_error === true,
    }));
  const said = blocks.filter((block) => block.type !== "tool_result");
  if (said.length === 0) return results;
  const images = said.filter((block) => block.type === "image" || block.type === "document").length;
  return [...results, { role: "user", text: textOf(said), images }];
}

const envelope = (reply: Reply): JsonObject => ({ id: reply.id, type: "message", role: "assistant", model: reply.model });
const stopFields = (reply: Reply): JsonObject => ({
  stop_reason: reply.native_stop ?? STOPS[reply.stop],
  stop_sequence: reply.stop === "stop_sequence" ? "STOP" : null,
});
const usage = (reply: Reply): JsonObject => ({
  input_tokens: reply.usage.input,
  cache_creation_input_tokens: reply.usage.cache_write,
  cache_read_input_tokens: reply.usage.cache_read,
  output_tokens: reply.usage.output,
  service_tier: "standard",
});

function frames(reply: Reply): Frame[] {
  const out: Frame[] = [];
  const send = (data: JsonObject, content = false): void => {
    out.push({ event: stringOf(data.type), data, content });
  };
  send({
    type: "message_start",
    message: {
      ...envelope(reply),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage(reply), output_tokens: 1 },
    },
  });
  send({ type: "ping" });
  let index = 0;
  for (const block of reply.blocks) {
    if (block.type === "native_event") {
      out.push({ ...(block.event === undefined ? {} : { event: block.event }), data: block.data });
      continue;
    }
    for (const { start, deltas } of streamedBlocks(block)) {
      send({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) send({ type: "content_block_delta", index, delta }, true);
      send({ type: "content_block_stop", index });
      index += 1;
    }
  }
  send({ type: "message_delta", delta: stopFields(reply), usage: usage(reply) });
  send({ type: "message_stop" });
  return out;
}

interface StreamedBlock {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function streamedBlocks(block: ReplyBlock): StreamedBlock[] {
  switch (block.type) {
    case "text":
    case "refusal":
      return [{ start: { type: "text", text: "" }, deltas: block.pieces.map((text) => ({ type: "text_delta", text })) }];
    case "thinking":
      return [
        {
          start: { type: "thinking", thinking: "", signature: "" },
          deltas: [
            ...block.pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
            { type: "signature_delta", signature: SIGNATURE },
          ],
        },
      ];
    case "tool":
      return [
        {
          start: { type: "tool_use", id: block.id, name: block.name, input: {} },
          deltas: ["", ...block.pieces].map((partial_json) => ({ type: "input_json_delta", partial_json })),
        },
      ];
    case "server_tool": {
      const [call, result] = wholeBlocks(block);
      return [
        {
          start: { ...call, input: {} },
          deltas: [{ type: "input_json_delta", partial_json: JSON.stringify({ query: block.query }) }],
        },
        { start: { ...result }, deltas: [] },
      ];
    }
    case "redacted_thinking":
    case "native":
      return wholeBlocks(block).map((start) => ({ start, deltas: [] }));
    case "native_event":
      return [];
    default:
      return block satisfies never;
  }
}

/** Not a real signature: no client checks it, the API alone does. */
const SIGNATURE = Buffer.from("scripted signature of a thinking block").toString("base64");

function wholeBlocks(block: ReplyBlock): JsonObject[] {
  switch (block.type) {
    case "text":
    case "refusal":
      return [{ type: "text", text: block.pieces.join("") }];
    case "thinking":
      return [{ type: "thinking", thinking: block.pieces.join(""), signature: SIGNATURE }];
    case "redacted_thinking":
      return [{ type: "redacted_thinking", data: Buffer.from("scripted hidden thinking").toString("base64") }];
    case "tool":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.input }];
    case "server_tool": {
      const id = block.id.replace(/^toolu/, "srvtoolu");
      const content = block.results.map((result) => ({
        type: "web_search_result",
        ...result,
        encrypted_content: "c2NyaXB0ZWQ=",
        page_age: null,
      }));
      return [
        { type: "server_tool_use", id, name: "web_search", input: { query: block.query } },
        { type: "web_search_tool_result", tool_use_id: id, content },
      ];
    }
    case "native":
      return [block.value];
    case "native_event":
      return [];
    default:
      return block satisfies never;
  }
}
