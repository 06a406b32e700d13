/** A message of the person as items of the conversation. */
import type { JsonObject } from "../../../openresponses/json.ts";
import { messageItem } from "../../../runtime/input-items.ts";
import type { Attachment, Prompt } from "../../contract.ts";

/** Text files up to this size go along as text; of others the model gets the path. */
const INLINE_BYTES = 64 * 1024;

export function promptItems({ text, attachments }: Prompt): JsonObject[] {
  const parts = attachments.map(part);
  const [message] = [messageItem("user", text)];
  return [{ ...message, content: [{ type: "input_text", text }, ...parts] }];
}

function part({ name, mime, bytes, path }: Attachment): JsonObject {
  if (mime.startsWith("image/"))
    return { type: "input_image", detail: "auto", image_url: `data:${mime};base64,${bytes.toString("base64")}` };
  if (isText(mime) && bytes.length <= INLINE_BYTES)
    return { type: "input_text", text: `File ${path ?? name}:\n${bytes.toString("utf8")}` };
  if (path !== null)
    return { type: "input_text", text: `File ${path} (${mime}, ${bytes.length} bytes): read it if you need it.` };
  return { type: "input_file", filename: name, file_data: `data:${mime};base64,${bytes.toString("base64")}` };
}

const isText = (mime: string): boolean => mime.startsWith("text/") || /[/+](json|xml|yaml|toml)$/.test(mime);
