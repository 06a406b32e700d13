// Files a tool touched, as `file_ref` parts with unified diffs, read from the tool's input and metadata.
import type { DraftPart } from "../../../schema/draft.ts";
import { type JsonRecord, rec, records, str } from "../../json.ts";
import { unifiedDiff } from "../../unified-diff.ts";

/** A data URL becomes media, whose bytes go to the artifact store; any other URL stays a reference. */
export function filePart(file: JsonRecord): DraftPart {
  const url = str(file.url) ?? "";
  const mime = str(file.mime) ?? "application/octet-stream";
  const name = str(file.filename);
  const base64 = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(url);
  if (base64) {
    const kind = base64[1] || mime;
    const media = kind.startsWith("image/") ? "image" : kind.startsWith("audio/") ? "audio" : "file";
    return { type: "media", media, mime: kind, base64: base64[2] ?? "", ...(name === undefined ? {} : { name }) };
  }
  if (url.startsWith("data:")) {
    const text = decoded(url.slice(url.indexOf(",") + 1));
    return { type: "resource", uri: name ?? "data:", ...(name ? { name } : {}), mime, text };
  }
  if (url.startsWith("file://")) return { type: "file_ref", path: decoded(url.slice("file://".length)), action: "read" };
  return { type: "resource", uri: url || (name ?? ""), ...(name ? { name } : {}), mime };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `askedDiff`: the diff a permission showed for this call, for the tools whose result has none. */
export function fileRefs(tool: string, input: unknown, metadata: JsonRecord, askedDiff: string | undefined): DraftPart[] {
  const args = rec(input);
  switch (tool) {
    case "read": {
      const path = str(args.filePath) ?? str(args.path);
      return path === undefined ? [] : [{ type: "file_ref", path, action: "read" }];
    }
    case "write": {
      const path = str(metadata.filepath) ?? str(args.filePath);
      if (path === undefined) return [];
      return [{ type: "file_ref", path, action: "write", diff: writeDiff(path, args, metadata) ?? askedDiff ?? null }];
    }
    case "edit":
    case "multiedit":
      return editRefs(args, metadata, askedDiff);
    case "apply_patch":
    case "patch":
      return patchRefs(metadata, askedDiff);
    default:
      return [];
  }
}

function writeDiff(path: string, args: JsonRecord, metadata: JsonRecord): string | undefined {
  const told = str(rec(metadata.filediff).patch) ?? str(metadata.diff);
  if (told !== undefined) return plainDiff(told);
  const content = str(args.content);
  return metadata.exists === false && content !== undefined ? unifiedDiff(path, null, content) : undefined;
}

function editRefs(args: JsonRecord, metadata: JsonRecord, askedDiff: string | undefined): DraftPart[] {
  const filediff = rec(metadata.filediff);
  const path = str(filediff.file) ?? str(args.filePath);
  const diff = str(filediff.patch) ?? str(metadata.diff) ?? askedDiff;
  if (path === undefined) return [];
  return [{ type: "file_ref", path, action: "patch", diff: diff === undefined ? null : plainDiff(diff) }];
}

function patchRefs(metadata: JsonRecord, askedDiff: string | undefined): DraftPart[] {
  const files = records(metadata.files);
  const refs = files.flatMap((file): DraftPart[] => {
    const path = str(file.filePath) ?? str(file.path) ?? str(file.file) ?? str(file.relativePath);
    if (path === undefined) return [];
    const diff = str(file.diff) ?? str(file.patch);
    const action = file.type === "add" ? "write" : "patch";
    return [{ type: "file_ref", path, action, diff: diff === undefined ? null : plainDiff(diff) }];
  });
  if (refs.length > 0) return refs;
  return splitDiff(str(metadata.diff) ?? askedDiff ?? "");
}

/** One `file_ref` a file, from one diff of several files. */
function splitDiff(diff: string): DraftPart[] {
  return diff
    .split(/^(?=Index: )/m)
    .filter((piece) => piece.includes("+++ "))
    .map((piece) => {
      const path = /^\+\+\+ ([^\t\n]+)/m.exec(piece)?.[1] ?? "";
      return { type: "file_ref", path, action: "patch", diff: plainDiff(piece) };
    });
}

/** OpenCode puts `Index:` and a ruler before the diff; a plain unified diff starts at `---`. */
export function plainDiff(diff: string): string {
  const start = /^--- /m.exec(diff);
  return start ? diff.slice(start.index) : diff;
}
