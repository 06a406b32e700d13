// Parts that grow: which deltas go where, and whether one content is the beginning of another. Pure functions for the item ledger.
import type { ContentPart } from "../schema/content.ts";
import type { DeltaPartType } from "../schema/event-data.ts";

/** Streamed output beyond this is not added up in memory: it was told as deltas, and the final content comes from the agent. */
const STREAM_LIMIT = 8_388_608;

/** The last part deltas of this type go to, or the index of a new one. */
export function partFor(content: ContentPart[], type: DeltaPartType): number {
  const last = content.length - 1;
  const part = content[last];
  return part && takes(part, type) ? last : content.length;
}

/** Whether deltas of this type can go to the part. */
export const takes = (part: ContentPart, type: DeltaPartType): boolean =>
  type === "tool_arguments" ? part.type === "tool_call" : streamOf(part)[0] === type;

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

export function grow(content: ContentPart[], index: number, type: DeltaPartType, delta: string): void {
  const part = content[index];
  if (!part) return;
  if ((part.type === "text" || part.type === "reasoning" || part.type === "refusal") && part.type === type) part.text += delta;
  else if (part.type === "tool_call" && type === "tool_arguments") part.arguments += delta;
  else if (part.type === "tool_result" && type === "tool_output" && part.output.length < STREAM_LIMIT) part.output += delta;
}

export const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** True when every part said so far stands at its place in `content`, its text a beginning of the new text. */
export function extendsContent(said: ContentPart[], content: ContentPart[]): boolean {
  return said.every((part, index) => {
    const next = content[index];
    if (!next || next.type !== part.type) return false;
    const [type, text] = streamOf(part);
    if (type === undefined) return sameJson(part, next);
    if (part.type === "tool_result" && !sameJson({ ...withoutText(part) }, { ...withoutText(next) })) return false;
    return streamOf(next)[1].startsWith(text);
  });
}
