// Gemini generateContent and streamGenerateContent: requests read, answers written (https://ai.google.dev/api/generate-content).

import type { Stop } from "../../../agents/scenario.ts";
import { isObject, type JsonObject, objectOf, objectsOf, stringOf, textOf } from "../json.ts";
import type { HistoryEntry, HttpCall, ModelRequest } from "../model-request.ts";
import type { Reply, ReplyBlock } from "../reply.ts";
import type { Frame, Protocol } from "./protocol.ts";

const STOPS: Record<Stop, string> = {
  end: "STOP",
  tool: "STOP",
  max_tokens: "MAX_TOKENS",
  refusal: "SAFETY",
  content_filter: "PROHIBITED_CONTENT",
  pause: "STOP",
  stop_sequence: "STOP",
  context_window: "MAX_TOKENS",
  malformed_call: "MALFORMED_FUNCTION_CALL",
};

const ERRORS: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ["INVALID_ARGUMENT", "Request contains an invalid argument."],
  401: ["UNAUTHENTICATED", "API key not valid. Please pass a valid API key."],
  403: ["PERMISSION_DENIED", "The caller does not have permission."],
  404: ["NOT_FOUND", "models/no-such-model is not found for API version v1beta."],
  429: ["RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."],
  500: ["INTERNAL", "An internal error has occurred."],
  503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
  529: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
};

const SIGNATURE = Buffer.from("scripted thought signature").toString("base64");

export const gemini: Protocol = {
  name: "gemini",
  callPrefix: "fc",
  replyPrefix: "resp",
  parse,
  frames,
  body: (reply) =>
    response(
      reply,
      reply.blocks.flatMap((block) => parts(block, false)),
      true,
    ),
  error: (status, message, type) => ({
    error: {
      code: status,
      message: message ?? ERRORS[status]?.[1] ?? `HTTP ${status}`,
      status: type ?? ERRORS[status]?.[0] ?? "UNKNOWN",
    },
  }),
  streamError: (type, message) => [{ data: gemini.error(500, message, type) }],
  failed: (_reply, code, message) => [{ data: gemini.error(500, message, code) }],
  overflow: () => ({
    status: 400,
    body: gemini.error(400, "The input token count (1250000) exceeds the maximum number of tokens allowed (1048576)."),
  }),
};

function parse(call: HttpCall): ModelRequest {
  // Code Assist wraps the same request as `{model, request}`.
  const sent = isObject(call.body.request) ? call.body.request : call.body;
  const config = objectOf(sent.generationConfig);
  const schema = config.responseJsonSchema ?? config.responseSchema;
  const streams = call.path.endsWith(":streamGenerateContent");
  return {
    protocol: "gemini",
    model: /\/models\/([^/:]+):/.exec(call.path)?.[1] ?? (stringOf(call.body.model) || "scripted-model"),
    stream: streams,
    as_array: streams && call.query.get("alt") !== "sse",
    usage_chunk: true,
    system: textOf(objectOf(sent.systemInstruction).parts),
    history: objectsOf(sent.contents).flatMap(entries),
    tools: objectsOf(sent.tools)
      .flatMap((tool) => objectsOf(tool.functionDeclarations))
      .map((one) => ({
        name: stringOf(one.name),
        namespace: undefined,
        schema: objectOf(one.parametersJsonSchema ?? one.parameters),
      })),
    forced_tool: undefined,
    json_schema: isObject(schema) ? schema : undefined,
    session: call.headers["x-session-id"] ?? (stringOf(sent.session_id) || undefined),
  };
}

function entries(content: JsonObject): HistoryEntry[] {
  const all = objectsOf(content.parts);
  const said = textOf(all.filter((part) => typeof part.text === "string" && part.thought !== true));
  if (content.role === "model") {
    const calls = all
      .map((part) => part.functionCall)
      .filter(isObject)
      .map((one) => ({ id: stringOf(one.id), name: stringOf(one.name), arguments: JSON.stringify(one.args ?? {}) }));
    return [{ role: "assistant", text: said, calls }];
  }
  const results: HistoryEntry[] = all
    .map((part) => part.functionResponse)
    .filter(isObject)
    .map((one) => ({
      role: "tool",
      call_id: stringOf(one.id) || stringOf(one.name),
      text: JSON.stringify(one.response ?? {}),
      is_error: objectOf(one.response).error !== undefined,
    }));
  const images = all.filter((part) => part.inlineData !== undefined || part.fileData !== undefined).length;
  if (said === "" && (results.length > 0 || images === 0)) return results;
  return [...results, { role: "user", text: said, images }];
}

/** A part for each piece when streamed, else one for the whole block. */
function parts(block: ReplyBlock, streamed: boolean): JsonObject[] {
  const texts = (pieces: readonly string[]): readonly string[] => (streamed ? pieces : [pieces.join("")]);
  switch (block.type) {
    case "text":
      return texts(block.pieces).map((text) => ({ text }));
    case "thinking":
      return texts(block.pieces).map((text) => ({ text, thought: true }));
    case "tool":
      return [{ functionCall: { id: block.id, name: block.name, args: block.input }, thoughtSignature: SIGNATURE }];
    case "native":
      return [block.value];
    // A refusal is a finish reason without text; hidden thoughts and server tools leave no part.
    case "refusal":
    case "redacted_thinking":
    case "server_tool":
    case "native_event":
      return [];
    default:
      return block satisfies never;
  }
}

function frames(reply: Reply): Frame[] {
  const out: Frame[] = [];
  for (const block of reply.blocks) {
    if (block.type === "native_event") {
      out.push({ ...(block.event === undefined ? {} : { event: block.event }), data: block.data });
      continue;
    }
    for (const part of parts(block, true)) out.push({ data: response(reply, [part], false), content: true });
  }
  out.push({ data: response(reply, [{ text: "" }], true) });
  return out;
}

function response(reply: Reply, content: JsonObject[], last: boolean): JsonObject {
  const candidate: JsonObject = { content: { role: "model", parts: content }, index: 0 };
  if (last) candidate.finishReason = reply.native_stop ?? STOPS[reply.stop];
  if (last && reply.stop === "refusal") {
    candidate.safetyRatings = [{ category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true }];
  }
  const { usage } = reply;
  return {
    candidates: [candidate],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: last ? usage.output : 1,
      totalTokenCount: usage.input + (last ? usage.output : 1) + usage.reasoning,
      ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
      ...(usage.cache_read > 0 ? { cachedContentTokenCount: usage.cache_read } : {}),
    },
    modelVersion: reply.model,
    responseId: reply.id,
  };
}
