/** Files that changed, in lines of text: each with its patch in colours, or only by its name. */
import type { ChangedPath, Changes } from "../schema/checkpoint.ts";
import { exact, exactLine } from "./output.ts";
import { diffLine, type Paint } from "./style.ts";

const SIGNS: Record<ChangedPath["change"], string> = { added: "A", modified: "M", deleted: "D", type: "T", mode: "P" };

export function changeLines({ changes, left_off }: Changes, paint: Paint, namesOnly = false): string[] {
  if (changes.length === 0) return ["No files changed."];
  return [
    ...changes.flatMap((change) =>
      namesOnly || change.patch === undefined ? [nameLine(change)] : patchLines(change.patch, paint),
    ),
    ...(left_off > 0 ? [`${left_off} more changed paths are not listed; name one with --path.`] : []),
  ];
}

export const nameLine = ({ change, path, note, binary }: ChangedPath): string =>
  `${SIGNS[change]} ${exactLine(path)}${binary ? " (binary)" : ""}${note === undefined ? "" : ` (${note})`}`;

const patchLines = (patch: string, paint: Paint): string[] =>
  exact(patch.trimEnd())
    .split("\n")
    .map((each) => diffLine(each, paint));
