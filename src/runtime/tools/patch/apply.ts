/** Works out what files look like after a patch. Files are read through a function and nothing is written: the caller makes all changes, or none. */
import { commonEol, joinLines, type Line, splitLines } from "../text-file.ts";
import { ToolError } from "../tool.ts";
import type { Chunk, Operation, PatchLine } from "./parse.ts";
import { type SeekPass, seek } from "./seek.ts";

/** The text of a file, or null when there is none. */
export type ReadText = (path: string) => Promise<string | null>;

export interface Patched {
  /** Path to new content; null is a deleted file. */
  readonly files: ReadonlyMap<string, string | null>;
  /** Chunks that did not match exactly, as sentences. */
  readonly notes: readonly string[];
}

/** Throws `ToolError` when one operation cannot be done. */
export async function applyPatch(operations: readonly Operation[], read: ReadText): Promise<Patched> {
  const files = new Map<string, string | null>();
  const notes: string[] = [];
  // A patch may touch a file twice: later operations see what earlier ones made.
  const current = async (path: string): Promise<string | null> => (files.has(path) ? (files.get(path) ?? null) : read(path));
  for (const operation of operations) {
    const { kind, path } = operation;
    const text = await current(path);
    if (kind === "add") {
      files.set(path, operation.lines.map((line) => `${line}\n`).join(""));
      continue;
    }
    if (text === null) throw new ToolError(`${path} does not exist, so the patch cannot ${kind} it. Nothing was changed.`);
    if (kind === "delete") files.set(path, null);
    else {
      const updated = applyChunks(text, operation.chunks, path, notes);
      if (operation.moveTo !== null && operation.moveTo !== path) {
        await current(operation.moveTo);
        files.set(path, null);
        files.set(operation.moveTo, updated);
      } else files.set(path, updated);
    }
  }
  return { files, notes };
}

function applyChunks(text: string, chunks: readonly Chunk[], path: string, notes: string[]): string {
  const file = splitLines(text);
  const texts = file.lines.map((line) => line.text);
  const eol = commonEol(file.lines);
  const result: Line[] = [];
  let done = 0;
  for (const chunk of chunks) {
    const { at, pass } = place(texts, chunk, done, path);
    if (pass !== "exact") notes.push(`${path}: the chunk at line ${chunk.line} of the patch matched only ${WORDS[pass]}.`);
    result.push(...file.lines.slice(done, at));
    const old = file.lines.slice(at, at + chunk.old.length);
    result.push(...chunk.new.map((line) => newLine(line, old, eol)));
    done = at + chunk.old.length;
  }
  result.push(...file.lines.slice(done));
  return joinLines({ bom: file.bom, lines: closed(result, eol) });
}

const WORDS: Readonly<Record<Exclude<SeekPass, "exact">, string>> = {
  trailing_blanks: "without trailing blanks",
  blanks: "without leading and trailing blanks",
  punctuation: "with other dashes, quotes or blanks",
};

function place(texts: readonly string[], chunk: Chunk, from: number, path: string): { at: number; pass: SeekPass } {
  let start = from;
  if (chunk.anchor !== null) {
    const anchor = seek(texts, [chunk.anchor], from, false);
    if (anchor === null)
      throw new ToolError(
        `${path} has no line ${JSON.stringify(chunk.anchor)} (line ${chunk.line} of the patch). Nothing was changed.`,
      );
    start = anchor.at + 1;
  }
  // Only new lines: after the anchor, else at the end.
  if (chunk.old.length === 0) return { at: chunk.anchor === null ? texts.length : start, pass: "exact" };
  const found = seek(texts, chunk.old, start, chunk.atEnd) ?? withoutLastBlank(texts, chunk, start);
  if (found !== null) return found;
  const shown = chunk.old.slice(0, 8).join("\n");
  throw new ToolError(
    `${path} has no such lines (line ${chunk.line} of the patch):\n${shown}\nRead the file again. Nothing was changed.`,
  );
}

/** Models put an empty line at the end of a chunk that stands for the last newline of the file. */
function withoutLastBlank(texts: readonly string[], chunk: Chunk, start: number): { at: number; pass: SeekPass } | null {
  if (chunk.old.at(-1) !== "" || chunk.old.length < 2) return null;
  const found = seek(texts, chunk.old.slice(0, -1), start, chunk.atEnd);
  return found !== null && found.at + chunk.old.length - 1 === texts.length ? found : null;
}

/** A line that stays keeps its own bytes, also where the patch wrote other blanks. */
function newLine(line: PatchLine, old: readonly Line[], eol: string): Line {
  const kept = line.from === null ? undefined : old[line.from];
  if (kept !== undefined) return kept;
  return { text: line.text, eol };
}

/** Every line has an end; a changed file ends in a newline. */
const closed = (lines: readonly Line[], eol: string): Line[] => lines.map((line) => (line.eol === "" ? { ...line, eol } : line));
