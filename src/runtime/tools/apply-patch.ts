/** Applies a patch over several files: all of it or nothing. */
import Type from "typebox";
import { isObject } from "../../openresponses/json.ts";
import { planChange, readCurrent } from "../file-changes.ts";
import type { FileChange } from "../records.ts";
import { diffText } from "./edit.ts";
import { headAndTail } from "./output-limit.ts";
import { applyPatch } from "./patch/apply.ts";
import { type Operation, PATCH_GRAMMAR, parsePatch } from "./patch/parse.ts";
import { realPath, shownPath } from "./paths.ts";
import { decodeText } from "./text-file.ts";
import { defineTool, type ToolContext, ToolError } from "./tool.ts";

export const applyPatchTool = defineTool({
  name: "apply_patch",
  description: `Changes files by a patch. It is applied as a whole or not at all. Format:
*** Begin Patch
*** Add File: new.txt
+a line
*** Update File: old.txt
*** Move to: renamed.txt   (optional)
@@ a line before the change, such as a function's head   (optional)
 a line that stays
-a line that goes
+a line that comes
*** Delete File: gone.txt
*** End Patch`,
  parameters: Type.Object({ patch: Type.String({ description: "The patch, from *** Begin Patch to *** End Patch." }) }),
  grammar: PATCH_GRAMMAR,
  effect: "file",
  repair: (args) => (isObject(args) && typeof args.input === "string" && args.patch === undefined ? { patch: args.input } : args),
  subject: ({ patch }, { directory }) => ({ kind: "edit", paths: touched(patch).map((path) => realPath(directory, path)) }),
  async prepare({ patch }, { directory, at, blobs }) {
    const before = new Map<string, string | null>();
    const read = async (path: string): Promise<string | null> => {
      const current = await readCurrent(path);
      const text = current === null ? null : decodeText(current.bytes, shownPath(directory, path));
      before.set(path, text);
      return text;
    };
    const operations = parsePatch(patch).map((operation) => resolved(operation, at));
    const { files, notes } = await applyPatch(operations, read);
    const changes: FileChange[] = [];
    const diffs: string[] = [];
    for (const [path, content] of files) {
      const old = before.get(path) ?? null;
      if (content === null && old === null) continue;
      changes.push(await planChange(path, content === null ? null : Buffer.from(content), blobs));
      diffs.push(diffText(shownPath(directory, path), old ?? "", content ?? ""));
    }
    const moved = await keepModes(operations, changes);
    if (moved.length === 0) throw new ToolError("The patch changes nothing.");
    return { changes: moved, result: headAndTail([...notes, ...diffs].join("\n"), 12_000, 4_000).text };
  },
});

/** A patch that cannot be read touches nothing; `prepare` says why. */
function touched(patch: string): string[] {
  try {
    return parsePatch(patch).flatMap((operation) =>
      operation.kind === "update" && operation.moveTo !== null ? [operation.path, operation.moveTo] : [operation.path],
    );
  } catch {
    return [];
  }
}

function resolved(operation: Operation, at: ToolContext["at"]): Operation {
  const path = at(operation.path);
  if (operation.kind !== "update") return { ...operation, path };
  return { ...operation, path, moveTo: operation.moveTo === null ? null : at(operation.moveTo) };
}

/** A moved file takes its permissions along. */
async function keepModes(operations: readonly Operation[], changes: readonly FileChange[]): Promise<FileChange[]> {
  const origin = new Map(
    operations.flatMap((operation) =>
      operation.kind === "update" && operation.moveTo !== null ? [[operation.moveTo, operation.path]] : [],
    ),
  );
  return Promise.all(
    changes.map(async (change) => {
      const from = origin.get(change.path);
      if (from === undefined || change.pre !== null) return change;
      const current = await readCurrent(from);
      return current === null ? change : { ...change, mode: current.mode };
    }),
  );
}
