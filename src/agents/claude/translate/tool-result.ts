// The content of a tool's outcome: its output, its exit code, what it did to files, pictures it gave.
import type { DraftPart } from "../../../schema/draft.ts";
import { arr, asText, isRecord, type JsonRecord, num, rec, records, str, toJson } from "../../json.ts";
import { unifiedDiff } from "../../unified-diff.ts";
import { mediaOf } from "./media.ts";
import type { ToolState } from "./state.ts";
import { toolKind, toolPaths } from "./tool-kinds.ts";

export type Outcome = {
  tool: ToolState;
  /** What the model gets: a string or content blocks. */
  content: unknown;
  isError: boolean;
  /** `tool_use_result`: an object of the tool's own, the string `Error: …` after a failure, absent inside sub-agents. */
  detail: unknown;
};

export function resultParts(outcome: Outcome): DraftPart[] {
  const { tool, content, isError } = outcome;
  const detail = rec(outcome.detail);
  const exit = exitCode(outcome);
  const duration = num(detail.durationMs) ?? num(detail.totalDurationMs);
  return [
    {
      type: "tool_result",
      call_id: tool.id,
      output: wholeOutput(content, detail),
      ...(isError ? { is_error: true } : {}),
      ...(exit === undefined ? {} : { exit_code: exit }),
      ...(duration === undefined ? {} : { duration_ms: duration }),
    },
    ...fileParts(outcome),
    ...mediaParts(content),
  ];
}

/** 2.1: of an output above 30,000 characters the model gets the first 2 kB and the name of a file; beside it stands as much as it would have got. */
function wholeOutput(content: unknown, { stdout, stderr, persistedOutputPath }: JsonRecord): string {
  const given = outputText(content);
  const [mark, where] = given.split("\n", 2);
  if (mark !== "<persisted-output>" || typeof stdout !== "string" || persistedOutputPath === undefined) return given;
  return [stdout, str(stderr) ?? "", where ?? ""].filter((text) => text !== "").join("\n");
}

export function outputText(content: unknown): string {
  if (typeof content === "string") return content;
  return arr(content)
    .map((block) => (isRecord(block) ? blockText(block) : asText(block)))
    .filter((text) => text !== "")
    .join("\n");
}

function blockText(block: JsonRecord): string {
  switch (block.type) {
    case "text":
      return str(block.text) ?? "";
    case "image":
    case "document":
      return mediaOf(block) ? "" : toJson(block);
    case "tool_reference":
      return `tool: ${str(block.tool_name) ?? "unknown"}`;
    default:
      return toJson(block);
  }
}

export const mediaParts = (content: unknown): DraftPart[] =>
  records(content)
    .filter((block) => block.type === "image" || block.type === "document")
    .map(mediaOf)
    .filter((part) => part !== null);

/** Claude Code reports a failed command's code in its text, and a good one's not at all. */
function exitCode({ tool, content, isError, detail }: Outcome): number | undefined {
  if (toolKind(tool.name) !== "shell") return undefined;
  const told = /^(?:Error: )?Exit code (\d+)/.exec(outputText(content));
  if (told) return Number(told[1]);
  const info = rec(detail);
  const ran = tool.name === "Bash" && typeof info.stdout === "string" && info.interrupted !== true;
  // A code that is no failure (grep without a match) is only described, not reported.
  const odd = info.returnCodeInterpretation !== undefined || info.backgroundTaskId !== undefined;
  return ran && !isError && !odd ? 0 : undefined;
}

function fileParts({ tool, isError, detail }: Outcome): DraftPart[] {
  if (isError) return [];
  const info = rec(detail);
  const path = str(info.filePath) ?? str(info.notebook_path) ?? str(rec(info.file).filePath) ?? toolPaths(tool.input)[0];
  if (!path) return [];
  switch (tool.name) {
    case "Read":
    case "NotebookRead":
      return [{ type: "file_ref", path, action: "read" }];
    case "Write":
      return [{ type: "file_ref", path, action: "write", diff: writeDiff(path, info) }];
    case "Edit":
    case "MultiEdit":
      return [{ type: "file_ref", path, action: "patch", diff: patchText(path, info.structuredPatch) }];
    case "NotebookEdit": {
      const before = str(info.original_file);
      const after = str(info.updated_file);
      return [
        { type: "file_ref", path, action: "patch", diff: after === undefined ? null : unifiedDiff(path, before ?? null, after) },
      ];
    }
    default:
      return [];
  }
}

function writeDiff(path: string, info: JsonRecord): string | null {
  const after = str(info.content);
  if (after === undefined) return null;
  return patchText(path, info.structuredPatch) ?? unifiedDiff(path, str(info.originalFile) ?? null, after);
}

/** Null when there are no hunks: a new file, or a sub-agent's edit (its frames carry no patch). */
function patchText(path: string, patch: unknown): string | null {
  const hunks = records(patch);
  if (hunks.length === 0) return null;
  const lines = hunks.flatMap((hunk) => [
    `@@ -${num(hunk.oldStart) ?? 0},${num(hunk.oldLines) ?? 0} +${num(hunk.newStart) ?? 0},${num(hunk.newLines) ?? 0} @@`,
    ...arr(hunk.lines).map(asText),
  ]);
  return `--- ${path}\n+++ ${path}\n${lines.join("\n")}\n`;
}
