/** The answer of an MCP tool for the model: text with the usual limit, pictures as pictures, everything else as files that can be read by their artifact id. */
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../../openresponses/json.ts";
import type { BlobStore } from "../ports.ts";
import { headAndTail } from "../tools/output-limit.ts";
import type { ResultFile, ToolResult } from "../tools/tool.ts";

const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export async function toolResult(answer: JsonObject, blobs: BlobStore): Promise<ToolResult> {
  const texts: string[] = [];
  const pictures: JsonObject[] = [];
  const files: ResultFile[] = [];
  const artifacts: string[] = [];
  const keep = async (mime: string, base64: string, name: string): Promise<void> => {
    const bytes = Buffer.from(base64, "base64");
    const digest = await blobs.put(bytes);
    artifacts.push(digest);
    files.push({ name, mime, base64 });
    texts.push(`(${name}, ${mime}, ${bytes.length} bytes: artifact:${digest})`);
  };
  for (const part of arrayOf(answer.content).filter(isObject)) {
    const mime = textOf(part.mimeType) ?? "application/octet-stream";
    switch (part.type) {
      case "text":
        texts.push(textOf(part.text) ?? "");
        break;
      case "image":
        if (PICTURES.has(mime))
          pictures.push({ type: "input_image", detail: "auto", image_url: `data:${mime};base64,${textOf(part.data) ?? ""}` });
        else await keep(mime, textOf(part.data) ?? "", "image");
        break;
      case "audio":
        await keep(mime, textOf(part.data) ?? "", "audio");
        break;
      case "resource":
        await resource(objectOf(part.resource), texts, keep);
        break;
      case "resource_link": {
        const about = [part.title, part.description].map(textOf).filter(Boolean).join(": ");
        texts.push(`${textOf(part.uri) ?? ""} ${textOf(part.name) ?? ""}${about === "" ? "" : ` (${about})`}`.trim());
        break;
      }
      default:
        texts.push(JSON.stringify(part));
    }
  }
  // Servers repeat it as text; those that do not would say nothing.
  if (answer.structuredContent !== undefined && texts.length === 0) texts.push(JSON.stringify(answer.structuredContent));
  const whole = texts.join("\n");
  const { text, cut } = headAndTail(whole);
  const shown = cut ? `${text}\n(All of it: artifact:${await kept(whole, blobs, artifacts)})` : text;
  const said = shown === "" && pictures.length === 0 ? "(no output)" : shown;
  const output = pictures.length === 0 ? said : [...(said === "" ? [] : [{ type: "input_text", text: said }]), ...pictures];
  return { output, isError: answer.isError === true, artifacts, files };
}

async function kept(text: string, blobs: BlobStore, artifacts: string[]): Promise<string> {
  const digest = await blobs.put(Buffer.from(text));
  artifacts.push(digest);
  return digest;
}

async function resource(
  { uri, text, blob, mimeType }: JsonObject,
  texts: string[],
  keep: (mime: string, base64: string, name: string) => Promise<void>,
): Promise<void> {
  const name = textOf(uri) ?? "resource";
  const bytes = textOf(blob);
  if (bytes !== undefined) await keep(textOf(mimeType) ?? "application/octet-stream", bytes, name);
  else texts.push(`${name}:\n${textOf(text) ?? ""}`);
}
