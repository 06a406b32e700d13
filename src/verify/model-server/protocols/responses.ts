// OpenAI Responses: requests read (https://platform.openai.com/docs/api-reference/responses). The answers are in `responses-stream.ts`.

import { isObject, type JsonObject, objectOf, objectsOf, stringOf, textOf } from "../json.ts";
import type { HistoryEntry, HttpCall, ModelRequest, OfferedTool } from "../model-request.ts";
import { toolChoice } from "../offered-tools.ts";
import { openaiError } from "./openai-error.ts";
import type { Protocol } from "./protocol.ts";
import { responseBody, responseFailed, responseFrames } from "./responses-stream.ts";

export const responses: Protocol = {
  name: "responses",
  callPrefix: "call",
  replyPrefix: "resp",
  parse,
  frames: responseFrames,
  body: responseBody,
  error: openaiError,
  streamError: (type, message) => [
    { event: "error", data: { type: "error", code: type ?? "server_error", message, param: null, sequence_number: 0 } },
  ],
  failed: responseFailed,
  // codex 0.166: the same code in an HTTP 400 body is not understood as an overflow.
  overflow: (reply) =>
    responseFailed(
      reply,
      "context_length_exceeded",
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
};

function parse(call: HttpCall): ModelRequest {
  const { body } = call;
  const items = typeof body.input === "string" ? [{ type: "message", role: "user", content: body.input }] : objectsOf(body.input);
  const format = objectOf(objectOf(body.text).format);
  const choice = objectOf(body.tool_choice);
  // codex 0.166 with code-mode models offers its tools as an input item, in namespaces.
  const offered = [
    ...objectsOf(body.tools),
    ...items.filter((item) => item.type === "additional_tools").flatMap((item) => objectsOf(item.tools)),
  ];
  return {
    protocol: "responses",
    model: stringOf(body.model) || "scripted-model",
    stream: body.stream === true,
    as_array: false,
    usage_chunk: true,
    system: stringOf(body.instructions),
    history: items.flatMap(entry),
    tools: offered.flatMap((tool) => offeredTools(tool, undefined)),
    forced_tool: choice.type === "function" || choice.type === "custom" ? stringOf(choice.name) : undefined,
    choice: toolChoice(body.tool_choice),
    json_schema: format.type === "json_schema" ? objectOf(format.schema) : undefined,
    session:
      call.headers["thread-id"] ??
      call.headers["session-id"] ??
      call.headers.session_id ??
      (stringOf(body.prompt_cache_key) || undefined),
  };
}

function offeredTools(tool: JsonObject, namespace: string | undefined): OfferedTool[] {
  if (tool.type === "namespace") return objectsOf(tool.tools).flatMap((inner) => offeredTools(inner, stringOf(tool.name)));
  return [{ name: stringOf(tool.name) || stringOf(tool.type), namespace, schema: objectOf(tool.parameters) }];
}

function entry(item: JsonObject): HistoryEntry[] {
  switch (item.type ?? "message") {
    case "message":
      return [message(item)];
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "tool_search_call":
    case "web_search_call":
    case "reasoning": {
      const id = stringOf(item.call_id);
      const args = stringOf(item.arguments) || stringOf(item.input);
      return [{ role: "assistant", text: "", calls: id ? [{ id, name: stringOf(item.name), arguments: args }] : [] }];
    }
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
    case "tool_search_output":
      return [{ role: "tool", call_id: stringOf(item.call_id), text: output(item), is_error: false }];
    case "additional_tools":
      return [];
    case "agent_message":
      return [agentMessage(item)];
    default: {
      const text = textOf(item.content) || stringOf(item.text);
      return text === "" ? [] : [{ role: "user", text, images: 0 }];
    }
  }
}

/**
 * codex 0.166 with code-mode models: agents write to each other in items of this kind. A new task is what a user message is elsewhere;
 * the task itself stands in a part called encrypted. Everything else is news, like the result of a tool.
 */
function agentMessage(item: JsonObject): HistoryEntry {
  const parts = objectsOf(item.content).map((part) => stringOf(part.text) || stringOf(part.encrypted_content));
  const text = parts.join("");
  if (/Message Type: (NEW_TASK|FOLLOW)/.test(text)) return { role: "user", text, images: 0 };
  return { role: "tool", call_id: stringOf(item.author), text, is_error: false };
}

function message(item: JsonObject): HistoryEntry {
  const text = textOf(item.content);
  if (item.role === "assistant") return { role: "assistant", text, calls: [] };
  if (item.role === "system" || item.role === "developer") return { role: "system", text };
  return { role: "user", text, images: objectsOf(item.content).filter((part) => part.type === "input_image").length };
}

function output(item: JsonObject): string {
  if (isObject(item.output)) return textOf(item.output.content) || JSON.stringify(item.output);
  return textOf(item.output);
}
