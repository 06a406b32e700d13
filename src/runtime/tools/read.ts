/** Reads a text file with line numbers, an image, or a kept output (`artifact:<digest>`). */
import { readdir } from "node:fs/promises";
import Type from "typebox";
import { isObject, type JsonObject } from "../../openresponses/json.ts";
import { readCurrent } from "../file-changes.ts";
import type { BlobStore } from "../ports.ts";
import { renamed } from "./edit.ts";
import { shortLine } from "./output-limit.ts";
import { realPath, shownPath } from "./paths.ts";
import { defineTool, ToolError, type ToolResult } from "./tool.ts";

const MAX_LINES = 2000;
const MAX_BYTES = 50 * 1024;
const MAX_LINE = 2000;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const ARTIFACT = "artifact:";

export const readTool = defineTool({
  name: "read",
  description: `Reads a file: text with line numbers (at most ${MAX_LINES} lines or 50 KB; go on with offset), an image, or artifact:<id> for an output that was cut.`,
  parameters: Type.Object({
    path: Type.String({ description: "The file, or artifact:<id>." }),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: "The first line, from 1." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: "How many lines." })),
  }),
  effect: "none",
  repair: (args) => (isObject(args) ? renamed(args) : args),
  subject: ({ path }, { directory }) =>
    path.startsWith(ARTIFACT) ? { kind: "internal" } : { kind: "read", paths: [realPath(directory, path)] },
  async run({ path, offset, limit }, { directory, at, blobs }): Promise<ToolResult> {
    if (path.startsWith(ARTIFACT)) return { output: numbered(await artifact(path, blobs), path, offset, limit) };
    const file = at(path);
    const shown = shownPath(directory, file);
    const current = await readCurrent(file, " Use ls.");
    if (current === null) throw new ToolError(`${shown} does not exist.${await similar(directory, file)}`);
    const image = imageType(current.bytes);
    if (image !== null) return { output: imageParts(current.bytes, image, shown) };
    if (current.bytes.subarray(0, 8192).includes(0)) {
      throw new ToolError(`${shown} is a binary file (${current.bytes.length} bytes). Use bash with a fitting program.`);
    }
    return { output: numbered(current.bytes.toString("utf8"), shown, offset, limit) };
  },
});

async function artifact(path: string, blobs: BlobStore): Promise<string> {
  const bytes = await blobs.get(path.slice(ARTIFACT.length));
  if (bytes === null) throw new ToolError(`There is no ${path}.`);
  return bytes.toString("utf8");
}

function numbered(text: string, name: string, offset = 1, limit = MAX_LINES): string {
  const lines = text.replace(/^\ufeff/, "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return `(${name} is empty.)`;
  if (offset > lines.length) throw new ToolError(`${name} has only ${lines.length} lines.`);
  const out: string[] = [];
  let bytes = 0;
  let at = offset - 1;
  const end = Math.min(lines.length, at + Math.min(limit, MAX_LINES));
  for (; at < end; at += 1) {
    const line = `${at + 1}\t${shortLine((lines[at] ?? "").replace(/\r$/, ""), MAX_LINE)}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES && out.length > 0) break;
    out.push(line);
  }
  const rest = at < lines.length ? `\n(${lines.length} lines in all. Go on with offset ${at + 1}.)` : "";
  return `${out.join("\n")}${rest}`;
}

function imageType(bytes: Buffer): string | null {
  if (bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))) return "image/png";
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return "image/jpeg";
  if (bytes.subarray(0, 4).toString("latin1") === "GIF8") return "image/gif";
  const riff = bytes.subarray(0, 4).toString("latin1") === "RIFF" && bytes.subarray(8, 12).toString("latin1") === "WEBP";
  return riff ? "image/webp" : null;
}

function imageParts(bytes: Buffer, type: string, shown: string): JsonObject[] {
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new ToolError(`${shown} is an image of ${bytes.length} bytes: too big. Make it smaller with bash.`);
  return [
    { type: "input_text", text: `${shown} (${type}, ${bytes.length} bytes)` },
    { type: "input_image", image_url: `data:${type};base64,${bytes.toString("base64")}`, detail: "auto" },
  ];
}

/** Names in the same directory that a typing error may have meant. */
async function similar(directory: string, file: string): Promise<string> {
  const slash = file.lastIndexOf("/");
  const name = file.slice(slash + 1).toLowerCase();
  const names = await readdir(file.slice(0, slash) || "/").catch(() => []);
  const close = names.filter((one) => one.toLowerCase().includes(name) || name.includes(one.toLowerCase())).slice(0, 3);
  if (close.length === 0) return "";
  return ` Did you mean ${close.map((one) => shownPath(directory, `${file.slice(0, slash)}/${one}`)).join(", ")}?`;
}
