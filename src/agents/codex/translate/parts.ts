// Native content (what a person sends, what a tool gives back) as universal parts. Base64 becomes media drafts; bytes never stay in a part.
import type { DraftPart } from "../../../schema/draft.ts";
import { arr, type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { resourceLink } from "../../kit/resource-link.ts";
import { unifiedDiff } from "../../unified-diff.ts";
import { changeKind, movedTo } from "./tool-kinds.ts";

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/;

type Media = "image" | "audio";

/** A URL that may carry its bytes inside. */
export function mediaPart(media: Media, url: string): DraftPart {
  const head = DATA_URL.exec(url);
  if (head) return { type: "media", media, mime: head[1] || `${media}/*`, base64: url.slice(head[0].length) };
  return media === "image" ? { type: "image", path: url } : { type: "audio", path: url, mime: mimeOf(url, "audio/*") };
}

const MIME: Record<string, string> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  flac: "audio/flac",
};

const mimeOf = (path: string, fallback: string): string => MIME[path.split(".").at(-1)?.toLowerCase() ?? ""] ?? fallback;

/** `UserInput`: one part of what was sent. */
export function inputPart(input: JsonRecord): DraftPart {
  switch (input.type) {
    case "text":
      return { type: "text", text: str(input.text) ?? "" };
    case "image":
      return mediaPart("image", str(input.url) ?? `file-id:${str(input.fileId) ?? ""}`);
    case "localImage":
      return { type: "image", path: str(input.path) ?? "" };
    case "audio":
      return mediaPart("audio", str(input.url) ?? "");
    case "localAudio":
      return { type: "audio", path: str(input.path) ?? "", mime: mimeOf(str(input.path) ?? "", "audio/*") };
    case "skill":
    case "mention":
      return { type: "resource", uri: str(input.path) ?? "", text: str(input.name) ?? "" };
    default:
      return { type: "json", json: input };
  }
}

/** What an MCP tool gave back: its text in one string, everything else as parts. */
export function mcpOutput(result: JsonRecord): { output: string; parts: DraftPart[] } {
  const texts: string[] = [];
  const parts: DraftPart[] = [];
  for (const entry of records(result.content)) {
    if (entry.type === "text") texts.push(str(entry.text) ?? "");
    else parts.push(mcpPart(entry));
  }
  const structured = result.structuredContent ?? result.structured_content;
  if (structured !== null && structured !== undefined) {
    if (texts.length === 0 && parts.length === 0) texts.push(toJson(structured));
    else parts.push({ type: "json", json: structured });
  }
  return { output: texts.join("\n"), parts };
}

function mcpPart(entry: JsonRecord): DraftPart {
  const mime = str(entry.mimeType);
  const data = str(entry.data);
  if ((entry.type === "image" || entry.type === "audio") && data !== undefined)
    return { type: "media", media: entry.type, mime: mime ?? `${entry.type}/*`, base64: data };
  if (entry.type === "resource_link") return resourceLink(entry) ?? { type: "json", json: entry };
  if (entry.type === "resource") return resourcePart(rec(entry.resource));
  return { type: "json", json: entry };
}

function resourcePart(resource: JsonRecord): DraftPart {
  const mime = str(resource.mimeType);
  const blob = str(resource.blob);
  const uri = str(resource.uri) ?? "";
  if (blob !== undefined)
    return { type: "media", media: "file", mime: mime ?? "application/octet-stream", base64: blob, name: uri };
  const text = str(resource.text);
  return { type: "resource", uri, ...(mime ? { mime } : {}), ...(text === undefined ? {} : { text }) };
}

/** Content items of dynamic tools and of function call outputs: a string, or a list. */
export function toolOutput(body: unknown): { output: string; parts: DraftPart[] } {
  if (typeof body === "string") return { output: body, parts: [] };
  const texts: string[] = [];
  const parts: DraftPart[] = [];
  for (const entry of arr(body)) {
    const item = rec(entry);
    const text = str(item.text) ?? (typeof entry === "string" ? entry : undefined);
    const image = str(item.imageUrl) ?? str(item.image_url);
    const audio = str(item.audioUrl) ?? str(item.audio_url);
    if (text !== undefined) texts.push(text);
    else if (image !== undefined) parts.push(mediaPart("image", image));
    else if (audio !== undefined) parts.push(mediaPart("audio", audio));
    else parts.push({ type: "json", json: entry });
  }
  return { output: texts.join("\n"), parts };
}

/** One changed file with a proper unified diff. Native: content for add and delete, hunks without a header for update. */
export function fileRef(change: JsonRecord): DraftPart {
  const path = str(change.path) ?? "";
  const kind = changeKind(change);
  const diff = str(change.diff);
  if (kind === "add")
    return { type: "file_ref", path, action: "write", diff: diff === undefined ? null : unifiedDiff(path, null, diff) };
  if (kind === "delete")
    return { type: "file_ref", path, action: "patch", diff: diff === undefined ? null : unifiedDiff(path, diff, null) };
  const target = movedTo(change) ?? path;
  return { type: "file_ref", path: target, action: "patch", diff: diff === undefined ? null : withHeader(path, target, diff) };
}

function withHeader(from: string, to: string, diff: string): string {
  const moved = `\n\nMoved to: ${to}`;
  const hunks = diff.endsWith(moved) ? diff.slice(0, -moved.length) : diff;
  const body = hunks === "" || hunks.endsWith("\n") ? hunks : `${hunks}\n`;
  return body.startsWith("--- ") ? body : `--- ${from}\n+++ ${to}\n${body}`;
}

export const changesDiff = (changes: JsonRecord[]): string =>
  changes
    .map(fileRef)
    .map((part) => (part.type === "file_ref" ? (part.diff ?? "") : ""))
    .join("");

export const changePaths = (changes: JsonRecord[]): string[] =>
  changes.flatMap((change) => [str(change.path), movedTo(change)]).filter((path): path is string => path !== undefined);
