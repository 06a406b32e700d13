// Images and documents of the Messages API as draft parts; bytes go to the artifact store.
import type { DraftPart } from "../../../schema/draft.ts";
import { type JsonRecord, rec, str } from "../../json.ts";

/** Null when the block has no bytes, text or address we can show. */
export function mediaOf(block: JsonRecord): DraftPart | null {
  const source = rec(block.source);
  const mime = str(source.media_type) ?? str(block.mimeType);
  const data = str(source.data) ?? str(block.data);
  const name = str(block.title);
  switch (str(source.type) ?? (data ? "base64" : "")) {
    case "base64":
      if (!data) return null;
      return {
        type: "media",
        media: block.type === "image" ? "image" : mime?.startsWith("audio/") ? "audio" : "file",
        mime: mime ?? "application/octet-stream",
        base64: data,
        ...(name ? { name } : {}),
      };
    case "text":
      return data === undefined ? null : { type: "resource", uri: name ?? "document", text: data, ...(mime ? { mime } : {}) };
    case "url": {
      const uri = str(source.url);
      return uri ? { type: "resource", uri, ...(mime ? { mime } : {}) } : null;
    }
    case "file": {
      const id = str(source.file_id);
      return id ? { type: "resource", uri: id } : null;
    }
    default:
      return null;
  }
}
