// What a request asks for, decided by how its path ends: agents and gateways put all sorts of prefixes before it.

import type { ProtocolName } from "./model-request.ts";

export type Route =
  | { readonly kind: "generate"; readonly protocol: ProtocolName }
  | { readonly kind: "count_tokens"; readonly protocol: "anthropic" | "responses" | "gemini" }
  | { readonly kind: "models"; readonly model: string | undefined }
  /** The provider makes a conversation short. */
  | { readonly kind: "compact" }
  | { readonly kind: "health" }
  | { readonly kind: "embed" }
  | { readonly kind: "unknown" };

const POSTS: readonly [RegExp, Route][] = [
  [/\/messages\/count_tokens$/, { kind: "count_tokens", protocol: "anthropic" }],
  [/\/messages$/, { kind: "generate", protocol: "anthropic" }],
  [/\/responses\/input_tokens$/, { kind: "count_tokens", protocol: "responses" }],
  [/\/responses\/compact$/, { kind: "compact" }],
  [/\/responses$/, { kind: "generate", protocol: "responses" }],
  [/\/chat\/completions$/, { kind: "generate", protocol: "chat" }],
  [/:(streamGenerateContent|generateContent)$/, { kind: "generate", protocol: "gemini" }],
  [/:countTokens$/, { kind: "count_tokens", protocol: "gemini" }],
  [/:(batchEmbedContents|embedContent)$/, { kind: "embed" }],
];

export function route(method: string, path: string): Route {
  const clean = path.length > 1 ? path.replace(/\/+$/, "") : path;
  if (method === "POST") return POSTS.find(([pattern]) => pattern.test(clean))?.[1] ?? { kind: "unknown" };
  if (method !== "GET" && method !== "HEAD") return { kind: "unknown" };
  const models = /\/models(?:\/([^/:]+))?$/.exec(clean);
  if (models) return { kind: "models", model: models[1] };
  // claude 2.1.325 asks `HEAD /api/hello` (older ones `HEAD /`) whether the server is there.
  return clean === "/" || method === "HEAD" || /\/(hello|health|healthz|ping)$/.test(clean)
    ? { kind: "health" }
    : { kind: "unknown" };
}
