/**
 * Parts that grow: which deltas go where, what a part is after them, and whether one content is the beginning of another. Pure functions; parts are
 * never changed in place.
 */
import type { ContentPart } from "../content.ts";
import type { DeltaPartType } from "../event-data.ts";

/** Streamed output beyond this is not added up in memory: it was sent as deltas, and the final content comes from the agent. */
const STREAM_LIMIT = 8_388_608;

/** A new, empty part that deltas of this type can grow. */
export function emptyPart(type: DeltaPartType, visibility: "public" | "private" = "public"): ContentPart {
  switch (type) {
    case "text":
      return { type: "text", text: "" };
    case "reasoning":
      return { type: "reasoning", text: "", visibility };
    case "refusal":
      return { type: "refusal", text: "" };
    case "tool_arguments":
      return { type: "tool_call", name: "", arguments: "", call_id: "" };
    case "tool_output":
      return { type: "tool_result", call_id: "", output: "" };
  }
}

/** The part with the fragment added; a part of another type is returned as it is. */
export function grownPart(part: ContentPart, type: DeltaPartType, delta: string): ContentPart {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return part.type === type ? { ...part, text: part.text + delta } : part;
    case "tool_call":
      return type === "tool_arguments" ? { ...part, arguments: part.arguments + delta } : part;
    case "tool_result":
      return type === "tool_output" && part.output.length < STREAM_LIMIT ? { ...part, output: part.output + delta } : part;
    default:
      return part;
  }
}

/** The last part deltas of this type go to, or the index of a new one. */
export function partFor(content: readonly ContentPart[], type: DeltaPartType): number {
  const last = content.length - 1;
  const part = content[last];
  return part && takes(part, type) ? last : content.length;
}

/** Whether deltas of this type can go to the part. */
export const takes = (part: ContentPart, type: DeltaPartType): boolean =>
  type === "tool_arguments" ? part.type === "tool_call" : streamOf(part)[0] === type;

/** The type of delta that can report this part from its beginning, and the part's text. */
export function streamOf(part: ContentPart): [DeltaPartType | undefined, string] {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return [part.type, part.text];
    case "tool_result":
      return ["tool_output", part.output];
    default:
      return [undefined, ""];
  }
}

/** The text of a part for which rule G4 holds; undefined for others. */
export const streamedText = (part: ContentPart): string | undefined =>
  part.type === "text" || part.type === "reasoning" || part.type === "refusal" ? part.text : undefined;

export function withoutText(part: ContentPart): ContentPart {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return { ...part, text: "" };
    case "tool_result":
      return { ...part, output: "" };
    default:
      return part;
  }
}

export const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** True when every part said so far stands at its place in `content`, its text a beginning of the new text. */
export function extendsContent(said: readonly ContentPart[], content: readonly ContentPart[]): boolean {
  return said.every((part, index) => {
    const next = content[index];
    if (!next || next.type !== part.type) return false;
    const [type, text] = streamOf(part);
    if (type === undefined) return sameJson(part, next);
    if (part.type === "tool_result" && !sameJson(withoutText(part), withoutText(next))) return false;
    return streamOf(next)[1].startsWith(text);
  });
}
