// What an Amp tool result says. On the wire it is one string, and what is inside depends on the tool: JSON text, plain text, or MCP content as JSON text.
import type { DraftPart } from "../../../schema/draft.ts";
import { arr, int, isRecord, type JsonRecord, rec, str, toJson } from "../../json.ts";
import { resourceLink } from "../../kit/resource-link.ts";
import { unifiedDiff } from "../../unified-diff.ts";
import { patchedPaths, toolKind } from "./tool-kinds.ts";

export type ToolCall = { name: string; input: JsonRecord; call_id: string };

/** The parts of a `tool_result` item: the result itself first, then files and media beside it. */
export function resultParts(call: ToolCall, content: unknown, failed: boolean): DraftPart[] {
  if (Array.isArray(content) || (content ?? null) === null) return blocksResult(call, arr(content), failed);
  if (typeof content !== "string") return resultParts(call, toJson(content), failed);
  const inside = parse(content);
  if (failed)
    return isRecord(inside) && "exitCode" in inside ? shellResult(call, inside, content, true) : [result(call, content, true)];
  const kind = toolKind(call.name);
  if (Array.isArray(inside))
    return kind === "mcp" || isContent(inside) ? blocksResult(call, inside, false) : listResult(call, inside, content);
  if (!isRecord(inside)) return [result(call, content, false), ...written(call)];
  if (kind === "shell" || "exitCode" in inside) return shellResult(call, inside, content, false);
  if (str(inside.absolutePath) !== undefined) return readResult(call, inside, content);
  if (str(inside.diff) !== undefined) return editResult(call, inside);
  return [result(call, content, str(inside.error) !== undefined && Object.keys(inside).length === 1), ...written(call)];
}

function shellResult(call: ToolCall, inside: JsonRecord, content: string, told: boolean): DraftPart[] {
  const exit = int(inside.exitCode);
  // Amp says is_error: false for a command that failed; the exit code is only in here.
  const failed = told || (exit !== undefined && exit !== 0);
  const output = str(inside.output) ?? content;
  return [{ ...result(call, output, failed), ...(exit !== undefined && Number.isInteger(exit) ? { exit_code: exit } : {}) }];
}

function readResult(call: ToolCall, inside: JsonRecord, content: string): DraftPart[] {
  const path = str(inside.absolutePath) ?? "";
  const text = str(inside.content);
  const info = rec(inside.imageInfo);
  if (inside.isImage === true && text !== undefined) {
    const mime = str(info.mimeType) ?? "image/png";
    return [result(call, `Image ${path} (${mime})`, false), { type: "media", media: "image", mime, base64: text, name: path }];
  }
  const files: DraftPart[] = inside.isDirectory === true ? [] : [{ type: "file_ref", path, action: "read" }];
  return [result(call, text ?? content, false), ...files];
}

const FENCE = /^```[^\n]*\n([\s\S]*?)\n?```\s*$/;

function editResult(call: ToolCall, inside: JsonRecord): DraftPart[] {
  const said = str(inside.diff) ?? "";
  const diff = FENCE.exec(said)?.[1] ?? said;
  const path = str(call.input.path) ?? /^\+\+\+ ([^\t\n]+)/m.exec(diff)?.[1] ?? "";
  return [result(call, diff, false), { type: "file_ref", path, action: "patch", diff: endLine(diff) }];
}

/** Files a tool changed without saying how in its result. */
function written(call: ToolCall): DraftPart[] {
  const path = str(call.input.path);
  switch (toolKind(call.name)) {
    case "write": {
      const text = str(call.input.content);
      if (path === undefined) return [];
      return [{ type: "file_ref", path, action: "write", diff: text === undefined ? null : unifiedDiff(path, null, text) }];
    }
    case "edit": {
      const [before, after] = [str(call.input.old_str), str(call.input.new_str)];
      if (path === undefined)
        return patchedPaths(call.input).map((file) => ({
          type: "file_ref",
          path: file,
          action: "patch",
          diff: patchOf(call, file),
        }));
      const diff = before === undefined || after === undefined ? null : unifiedDiff(path, before, after);
      return [{ type: "file_ref", path, action: "patch", diff }];
    }
    case "delete":
      return path === undefined ? [] : [{ type: "file_ref", path, action: "patch", diff: null }];
    default:
      return [];
  }
}

/** The lines of one file out of `*** Begin Patch` text, under a unified header. Hunks carry no line numbers there, so they carry none here. */
function patchOf(call: ToolCall, file: string): string | null {
  const patch = str(call.input.patchText) ?? "";
  const sections = patch.split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m);
  const section = sections.find((text) => text.startsWith("*** ") && text.split("\n", 1)[0]?.endsWith(`File: ${file}`));
  if (section === undefined) return null;
  const lines = section
    .split("\n")
    .slice(1)
    .filter((line) => !line.startsWith("*** "));
  const body = lines.join("\n").trimEnd();
  if (section.startsWith("*** Add")) return unifiedDiff(file, null, `${body.replaceAll(/^\+/gm, "")}\n`);
  return section.startsWith("*** Delete") ? null : `--- ${file}\n+++ ${file}\n${body.startsWith("@@") ? "" : "@@\n"}${body}\n`;
}

/** `glob` and `Grep` answer with a JSON list of lines. */
function listResult(call: ToolCall, list: unknown[], content: string): DraftPart[] {
  const lines = list.every((line) => typeof line === "string");
  return [result(call, lines ? list.join("\n") : content, false)];
}

/** A list of content blocks, as MCP has them (or the Messages API, with the bytes one level deeper). */
function blocksResult(call: ToolCall, blocks: unknown[], failed: boolean): DraftPart[] {
  const texts: string[] = [];
  const beside: DraftPart[] = [];
  for (const block of blocks) {
    const part = blockPart(rec(block));
    if (typeof part === "string") texts.push(part);
    else if (part) beside.push(part);
    else texts.push(typeof block === "string" ? block : toJson(block));
  }
  return [result(call, texts.join("\n"), failed), ...beside];
}

function blockPart(block: JsonRecord): DraftPart | string | undefined {
  const source = rec(block.source);
  const base64 = str(block.data) ?? str(source.data);
  const mime = str(block.mimeType) ?? str(source.media_type) ?? str(source.mediaType);
  switch (block.type) {
    case "text":
      return str(block.text);
    case "image":
    case "audio": {
      if (base64 === undefined) return undefined;
      return { type: "media", media: block.type, mime: mime ?? (block.type === "image" ? "image/png" : "audio/wav"), base64 };
    }
    case "resource":
      return resourcePart(rec(block.resource));
    case "resource_link":
      return resourceLink(block);
    default:
      return undefined;
  }
}

function resourcePart(resource: JsonRecord): DraftPart | undefined {
  const uri = str(resource.uri);
  if (uri === undefined) return undefined;
  const mime = str(resource.mimeType);
  const blob = str(resource.blob);
  if (blob !== undefined)
    return { type: "media", media: "file", mime: mime ?? "application/octet-stream", base64: blob, name: uri };
  const text = str(resource.text);
  return { type: "resource", uri, ...(mime === undefined ? {} : { mime }), ...(text === undefined ? {} : { text }) };
}

const isContent = (list: unknown[]): boolean =>
  list.length > 0 &&
  list.every(
    (block) => isRecord(block) && ["text", "image", "audio", "resource", "resource_link"].includes(str(block.type) ?? ""),
  );

const result = (call: ToolCall, output: string, failed: boolean) => ({
  type: "tool_result" as const,
  call_id: call.call_id,
  output,
  ...(failed ? { is_error: true } : {}),
});

const endLine = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

function parse(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
