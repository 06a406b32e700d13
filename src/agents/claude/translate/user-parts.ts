// The content of a user's message: text, images, documents.
import type { DraftPart } from "../../../schema/draft.ts";
import { isRecord, records, str } from "../../json.ts";
import { withoutMark } from "../../plain-text.ts";
import { mediaOf } from "./media.ts";

export function userParts(content: unknown): DraftPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: withoutMark(content) }];
  return records(content).map((block): DraftPart => {
    if (block.type === "text") return { type: "text", text: withoutMark(str(block.text) ?? "") };
    return (isRecord(block) ? mediaOf(block) : null) ?? { type: "json", json: block };
  });
}
