// The error body both OpenAI protocols share.

import type { JsonObject } from "../json.ts";

const ERRORS: Readonly<Record<number, readonly [type: string, code: string | null, message: string]>> = {
  400: ["invalid_request_error", "invalid_value", "The request is not valid."],
  401: ["invalid_request_error", "invalid_api_key", "Incorrect API key provided."],
  402: [
    "insufficient_quota",
    "insufficient_quota",
    "You exceeded your current quota, please check your plan and billing details.",
  ],
  403: ["invalid_request_error", "forbidden", "You are not allowed to use this model."],
  404: ["invalid_request_error", "model_not_found", "The model `no-such-model` does not exist or you do not have access to it."],
  413: ["invalid_request_error", "request_too_large", "The request is too large."],
  429: ["rate_limit_error", "rate_limit_exceeded", "Rate limit reached. Please try again later."],
  500: ["server_error", "server_error", "The server had an error while processing your request."],
  503: ["server_error", "server_is_overloaded", "The engine is currently overloaded, please try again later."],
  529: ["server_error", "overloaded", "The engine is currently overloaded, please try again later."],
};

export function openaiError(status: number, message?: string, code?: string): JsonObject {
  const [type, ownCode, ownMessage] = ERRORS[status] ?? ["server_error", null, `HTTP ${status}`];
  return { error: { message: message ?? ownMessage, type, param: null, code: code ?? ownCode } };
}
