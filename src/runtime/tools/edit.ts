/** Exact replacements in one file, all matched against the file as it is, all made or none. */
import { createTwoFilesPatch } from "diff";
import Type from "typebox";
import { isObject, type JsonObject } from "../../openresponses/json.ts";
import { planChange, readCurrent } from "../file-changes.ts";
import { findPlaces, type Match, type Place } from "./edit-match.ts";
import { headAndTail } from "./output-limit.ts";
import { realPath, shownPath } from "./paths.ts";
import { commonEol, decodeText, splitLines } from "./text-file.ts";
import { defineTool, ToolError } from "./tool.ts";

const Edit = Type.Object({
  old: Type.String({ description: "The text to replace, copied exactly from the file. It must occur once." }),
  new: Type.String({ description: "The text in its place." }),
});

export const editTool = defineTool({
  name: "edit",
  description:
    "Replaces text in a file. Every `old` is looked up in the file as it is now, must occur exactly once (unless replace_all) and must not overlap another.",
  parameters: Type.Object({
    path: Type.String({ description: "The file." }),
    edits: Type.Array(Edit, { minItems: 1 }),
    replace_all: Type.Optional(Type.Boolean({ description: "Replace every occurrence of each `old`." })),
  }),
  effect: "file",
  repair,
  subject: ({ path }, { directory }) => ({ kind: "edit", paths: [realPath(directory, path)] }),
  async prepare({ path, edits, replace_all }, { directory, at, blobs }) {
    const file = at(path);
    const current = await readCurrent(file);
    const shown = shownPath(directory, file);
    if (current === null) throw new ToolError(`${shown} does not exist. Use write to make it.`);
    const text = decodeText(current.bytes, shown);
    const { result, passes } = replaceAll(text, edits, replace_all ?? false);
    if (result === text) throw new ToolError("The edits change nothing: `old` and `new` are the same.");
    const change = await planChange(file, Buffer.from(result), blobs);
    return { changes: [change], result: `${passNote(passes)}${diffText(shown, text, result)}` };
  },
});

/** The text with all edits made. Exported for tests. */
export function replaceAll(
  text: string,
  edits: readonly { readonly old: string; readonly new: string }[],
  all: boolean,
): { readonly result: string; readonly passes: readonly Match["pass"][] } {
  const crlf = commonEol(splitLines(text).lines) === "\r\n";
  const parts: (Place & { readonly replacement: string; readonly number: number })[] = [];
  const passes = edits.map((edit, at) => {
    const match = findPlaces(text, edit.old, all, `Edit ${at + 1}`);
    const replacement = crlf ? edit.new.replaceAll(/\r?\n/g, "\r\n") : edit.new;
    for (const place of match.places) parts.push({ ...place, replacement, number: at + 1 });
    return match.pass;
  });
  parts.sort((a, b) => a.start - b.start);
  let result = "";
  let done = 0;
  for (const part of parts) {
    if (part.start < done) throw new ToolError(`Edit ${part.number} overlaps another one. Put them into one edit.`);
    result += text.slice(done, part.start) + part.replacement;
    done = part.end;
  }
  return { result: result + text.slice(done), passes };
}

const passNote = (passes: readonly Match["pass"][]): string => {
  const loose = passes.flatMap((pass, at) => (pass === "exact" ? [] : [at + 1]));
  return loose.length === 0 ? "" : `Edit ${loose.join(", ")} matched only without trailing blanks and line ends.\n`;
};

export function diffText(path: string, before: string, after: string): string {
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, "", "", { context: 3 });
  return headAndTail(patch.split("\n").slice(1).join("\n"), 6_000, 2_000).text;
}

/** Models send one edit without a list, the list as a JSON string, and the names other agents use. */
function repair(args: unknown): unknown {
  if (!isObject(args)) return args;
  const { edits, ...rest } = renamed(args);
  const list = typeof edits === "string" ? parsedList(edits) : edits;
  if (Array.isArray(list)) return { ...rest, edits: list.map((edit) => (isObject(edit) ? renamed(edit) : edit)) };
  if (typeof rest.old !== "string" || typeof rest.new !== "string") return { ...rest, ...(edits === undefined ? {} : { edits }) };
  const { old, new: replacement, ...others } = rest;
  return { ...others, edits: [{ old, new: replacement }] };
}

const NAMES: Readonly<Record<string, string>> = {
  oldText: "old",
  old_text: "old",
  old_string: "old",
  oldString: "old",
  newText: "new",
  new_text: "new",
  new_string: "new",
  newString: "new",
  file_path: "path",
  filePath: "path",
  replaceAll: "replace_all",
};

export const renamed = (args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [Object.hasOwn(NAMES, name) ? NAMES[name] : name, value]));

function parsedList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
