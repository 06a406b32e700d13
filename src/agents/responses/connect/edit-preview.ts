/** What an edit would change, for the person who is asked. Worked out without changing anything; where it cannot be determined there is none. */
import { readFile } from "node:fs/promises";
import { type JsonObject, textOf } from "../../../openresponses/json.ts";
import { renamed, replaceAll } from "../../../runtime/tools/edit.ts";
import { realPath } from "../../../runtime/tools/paths.ts";
import { isRecord, records } from "../../json.ts";
import { unifiedDiff } from "../../unified-diff.ts";

const PREVIEW_BYTES = 1024 * 1024;

export async function editPreview(directory: string, tool: string, args: JsonObject): Promise<string | null> {
  if (tool === "apply_patch") return textOf(args.patch) ?? null;
  if (tool !== "edit" && tool !== "write") return null;
  try {
    return await diffOf(directory, tool, renamed(args));
  } catch {
    return null;
  }
}

async function diffOf(directory: string, tool: "edit" | "write", args: JsonObject): Promise<string | null> {
  const path = textOf(args.path);
  if (path === undefined) return null;
  const bytes = await readFile(realPath(directory, path)).catch(() => null);
  if (bytes !== null && (bytes.length > PREVIEW_BYTES || bytes.includes(0))) return null;
  const before = bytes?.toString("utf8") ?? null;
  if (tool === "write") return unifiedDiff(path, before, textOf(args.content) ?? "");
  const edits = records(args.edits).filter(isRecord).map(renamed);
  const pairs = edits.map((edit) => ({ old: textOf(edit.old) ?? "", new: textOf(edit.new) ?? "" }));
  if (before === null || pairs.length === 0) return null;
  return unifiedDiff(path, before, replaceAll(before, pairs, args.replace_all === true).result);
}
