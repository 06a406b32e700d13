// A prompt as content of a `user` message. 2.1: a slash at the beginning of a text block is a command, so text that has one is marked as text.
import type { Attachment, Prompt } from "../../contract.ts";
import type { JsonRecord } from "../../json.ts";
import { asText } from "../../plain-text.ts";

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function promptContent(prompt: Prompt): string | JsonRecord[] {
  const { attachments } = prompt;
  const text = asText(prompt);
  if (attachments.length === 0) return text;
  return [...(text === "" ? [] : [{ type: "text", text }]), ...attachments.map(attachmentBlock)];
}

function attachmentBlock({ name, mime, bytes, path }: Attachment): JsonRecord {
  const data = bytes.toString("base64");
  if (IMAGES.has(mime)) return { type: "image", source: { type: "base64", media_type: mime, data } };
  if (mime === "application/pdf") return { type: "document", title: name, source: { type: "base64", media_type: mime, data } };
  if (mime.startsWith("text/") || mime === "application/json")
    return { type: "document", title: name, source: { type: "text", media_type: "text/plain", data: bytes.toString("utf8") } };
  return {
    type: "text",
    text: path ? `Attached file: ${path}` : `Attached file ${name} (${mime}, ${bytes.length} bytes) cannot be shown.`,
  };
}

export const userFrame = (prompt: Prompt): JsonRecord => ({
  type: "user",
  message: { role: "user", content: promptContent(prompt) },
  parent_tool_use_id: null,
  session_id: "",
  uuid: prompt.message_id,
});
