// ACP content blocks as content parts, both ways they are used: in messages and in tool results.
import type { DraftPart } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, rec, str } from "../../json.ts";
import { resourceLink } from "../../kit/resource-link.ts";
import { withoutMark } from "../../plain-text.ts";

/** Null: a block of a type that is not known, or without what its type needs. */
export function blockPart(block: JsonRecord): DraftPart | null {
  switch (str(block.type)) {
    case "text": {
      const text = str(block.text);
      return text === undefined ? null : { type: "text", text: withoutMark(text) };
    }
    case "image":
    case "audio":
      return mediaPart(block);
    case "resource_link":
      return resourceLink(block) ?? null;
    case "resource":
      return resourcePart(rec(block.resource));
    default:
      return null;
  }
}

function mediaPart(block: JsonRecord): DraftPart | null {
  const data = str(block.data);
  const media = block.type === "audio" ? "audio" : "image";
  const mime = str(block.mimeType) ?? (media === "audio" ? "audio/wav" : "image/png");
  const uri = str(block.uri);
  if (data || (data !== undefined && uri === undefined)) return { type: "media", media, mime, base64: data };
  return uri === undefined ? null : { type: "resource", uri, mime };
}

function resourcePart(resource: JsonRecord): DraftPart | null {
  const uri = str(resource.uri);
  if (uri === undefined) return null;
  const mime = str(resource.mimeType);
  const blob = str(resource.blob);
  if (blob !== undefined) {
    return {
      type: "media",
      media: "file",
      mime: mime ?? "application/octet-stream",
      base64: blob,
      name: uri.split("/").at(-1) ?? uri,
    };
  }
  const text = str(resource.text);
  return { type: "resource", uri, ...(mime === undefined ? {} : { mime }), ...(text === undefined ? {} : { text }) };
}

/** Parts of a list of blocks; blocks that are not known are kept as JSON. */
export const blockParts = (blocks: unknown): DraftPart[] =>
  (Array.isArray(blocks) ? blocks : []).filter(isRecord).map((block) => blockPart(block) ?? { type: "json", json: block });

export const textOfParts = (parts: readonly DraftPart[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
