// One event as one short line, for people.
import type { ContentPart } from "../../schema/content.ts";
import type { UniversalEvent } from "../../schema/event.ts";

const LONGEST = 140;

/** On one line, control characters shown, cut at a length. */
export function short(text: string, longest = LONGEST): string {
  const line = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return line.length > longest ? `${line.slice(0, longest)}… (${text.length} characters)` : line;
}

export function partLine(part: ContentPart): string {
  switch (part.type) {
    case "text":
    case "refusal":
      return `${part.type}: ${short(part.text)}`;
    case "reasoning":
      return `reasoning (${part.visibility}): ${short(part.text)}`;
    case "tool_call":
      return `tool_call ${part.name} [${part.tool_kind ?? "no kind"}] ${short(part.title ?? "")} ${short(part.arguments)}`;
    case "tool_result":
      return `tool_result${part.is_error ? " error" : ""}${part.exit_code === undefined ? "" : ` exit ${part.exit_code}`}: ${short(part.output)}`;
    case "file_ref":
      return `file_ref ${part.action} ${part.path}${part.diff ? ` diff: ${short(part.diff)}` : ""}`;
    case "plan":
      return `plan: ${part.entries.map((entry) => `[${entry.status}] ${entry.text}`).join("; ")}`;
    case "status":
      return `status ${part.label}${part.detail ? `: ${short(part.detail)}` : ""}`;
    case "json":
      return `json: ${short(JSON.stringify(part.json))}`;
    case "code":
      return `code ${part.language ?? ""}: ${short(part.code)}`;
    case "image":
    case "audio":
      return `${part.type} ${part.mime ?? ""}`;
    case "resource":
      return `resource ${part.uri}`;
    default:
      return part satisfies never;
  }
}

export function eventLine(event: UniversalEvent): string {
  return `${event.sequence} ${event.type} ${detail(event)}`.trimEnd();
}

function detail(event: UniversalEvent): string {
  switch (event.type) {
    case "item.started":
    case "item.updated":
    case "item.completed": {
      const { kind, role, status, content } = event.data.item;
      return `${kind}${role ? ` ${role}` : ""} ${status}${content.length > 0 ? ` · ${content.map(partLine).join(" · ")}` : ""}`;
    }
    case "item.delta":
      return `${event.data.part_type} ${short(event.data.delta, 60)}`;
    case "permission.requested":
    case "permission.resolved":
      return `${event.data.action} ${event.data.status} ${short(JSON.stringify(event.data.metadata.input))}`;
    case "question.requested":
    case "question.resolved":
      return `${event.data.status} ${short(event.data.prompt)} ${JSON.stringify(event.data.answers ?? [])}`;
    default:
      return short(JSON.stringify(event.data));
  }
}
