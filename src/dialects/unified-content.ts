// Content parts as the messages dialect says them. Every part keeps its meaning; none becomes empty text.
import type { ContentPart } from "../schema/content.ts";
import type { UnifiedContent } from "./unified-message.ts";

export function unifiedContent(part: ContentPart): UnifiedContent {
  switch (part.type) {
    case "text":
      return part;
    case "reasoning":
      return { type: "thinking", thinking: part.text, visibility: part.visibility };
    case "code":
      return { type: "code", code: part.code, language: part.language ?? null };
    case "refusal":
      return { type: "refusal", refusal: part.text };
    case "image":
    case "audio":
      return { type: part.type, source: part.path, media_type: part.mime ?? null };
    case "tool_call":
      return {
        type: "tool_use",
        id: part.call_id,
        name: part.name,
        input: parsed(part.arguments),
        kind: part.tool_kind ?? null,
        title: part.title ?? null,
        paths: part.paths ?? [],
      };
    case "tool_result":
      return {
        type: "tool_result",
        tool_use_id: part.call_id,
        content: part.output,
        is_error: part.is_error ?? false,
        exit_code: part.exit_code ?? null,
        duration_ms: part.duration_ms ?? null,
        artifact: part.artifact?.path ?? null,
      };
    case "file_ref":
      return { type: "file", path: part.path, action: part.action, diff: part.diff ?? null };
    case "plan":
      return { type: "plan", entries: part.entries };
    case "resource":
      return { type: "resource", uri: part.uri, media_type: part.mime ?? null, text: part.text ?? null };
    case "json":
      return { type: "json", json: part.json };
    case "status":
      return { type: "status", label: part.label, detail: part.detail ?? null };
    default:
      return part satisfies never;
  }
}

/** Arguments are JSON once they are complete; while they stream in they are text. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
