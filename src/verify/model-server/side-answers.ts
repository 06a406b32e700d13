// Answers that have nothing to do with a script: token counts and lists of models.

import { formatMarker } from "../scenario/marker.ts";
import type { JsonObject } from "./json.ts";
import type { HttpCall } from "./model-request.ts";
import type { Position } from "./position.ts";

export function tokenCount(protocol: "anthropic" | "responses" | "gemini", tokens: number): JsonObject {
  if (protocol === "gemini") return { totalTokens: tokens };
  if (protocol === "responses") return { object: "response.input_tokens", input_tokens: tokens };
  return { input_tokens: tokens };
}

/** A conversation made short. It carries the place in the script, as a summary does. */
export function compaction(position: Position | undefined, tokens: number): JsonObject {
  const marker = position ? ` ${formatMarker(position.scenario, position.turn, position.step)}` : "";
  const text = `The conversation so far was made short.${marker}`;
  const encrypted_content = Buffer.from("scripted compaction").toString("base64");
  return {
    id: "resp_compaction",
    object: "response.compaction",
    created_at: 1_760_000_000,
    output: [
      { type: "message", id: "msg_compaction", status: "completed", role: "user", content: [{ type: "input_text", text }] },
      { type: "compaction", id: "cmp_compaction", encrypted_content },
    ],
    usage: {
      input_tokens: tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens + 12,
    },
  };
}

const MODELS = ["scripted-model", "scripted-model-small"];

/** One list for everyone: the fields of the three providers do not collide. */
export function modelList(model: string | undefined, call: HttpCall): JsonObject {
  const described = (id: string): JsonObject => ({
    id,
    type: "model",
    object: "model",
    created: 1_760_000_000,
    created_at: "2026-01-01T00:00:00Z",
    owned_by: "scripted",
    display_name: id,
    ...(/\/v1(beta|alpha)\//.test(call.path) ? geminiModel(id) : {}),
  });
  if (model !== undefined) return described(decodeURIComponent(model));
  const all = MODELS.map(described);
  return { object: "list", data: all, models: all, has_more: false, first_id: MODELS[0], last_id: MODELS.at(-1) };
}

const geminiModel = (id: string): JsonObject => ({
  name: `models/${id}`,
  displayName: id,
  version: "1",
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: ["generateContent", "countTokens"],
});
