// Answers that have nothing to do with a script: token counts and lists of models.

import type { JsonObject } from "./json.ts";
import type { HttpCall } from "./model-request.ts";

export function tokenCount(protocol: "anthropic" | "responses" | "gemini", tokens: number): JsonObject {
  if (protocol === "gemini") return { totalTokens: tokens };
  if (protocol === "responses") return { object: "response.input_tokens", input_tokens: tokens };
  return { input_tokens: tokens };
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
