/** Reads a patch in the envelope that models are trained on: `*** Begin Patch` … `*** End Patch`. It opens no file. */
import { ToolError } from "../tool.ts";

/** Lines that are replaced together. */
export interface Chunk {
  /** Text after `@@`: a line that stands somewhere before. */
  readonly anchor: string | null;
  readonly old: readonly string[];
  readonly new: readonly PatchLine[];
  /** The chunk stands at the end of the file. */
  readonly atEnd: boolean;
  /** In the patch, for messages. */
  readonly line: number;
}

/** A line of the result. */
export interface PatchLine {
  readonly text: string;
  /** Its place in `old`; null when it is new. */
  readonly from: number | null;
}

export type Operation =
  | { readonly kind: "add"; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "update"; readonly path: string; readonly moveTo: string | null; readonly chunks: readonly Chunk[] };

/** For endpoints with free-text tools. */
export const PATCH_GRAMMAR = `start: begin operation+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?
operation: add | delete | update
add: "*** Add File: " name LF ("+" text LF)+
delete: "*** Delete File: " name LF
update: "*** Update File: " name LF move? chunk+
move: "*** Move to: " name LF
chunk: ("@@" LF | "@@ " text LF)? line+ eof?
line: ("+" | "-" | " ") text LF
eof: "*** End of File" LF
name: /[^\\n]+/
text: /[^\\n]*/
%import common.LF
`;

const fail = (line: number, why: string): never => {
  throw new ToolError(`Line ${line} of the patch: ${why} Nothing was changed.`);
};

export function parsePatch(patch: string): Operation[] {
  const lines = unwrapped(patch);
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (lines[first]?.trim() !== "*** Begin Patch") fail(first + 1, "it must be `*** Begin Patch`.");
  if (lines[last]?.trim() !== "*** End Patch") fail(last + 1, "it must be `*** End Patch`.");
  const reader = new Reader(lines, first + 1, last);
  const operations: Operation[] = [];
  while (!reader.done) operations.push(readOperation(reader));
  if (operations.length === 0) fail(first + 1, "the patch has no operation.");
  return operations;
}

/** Some models wrap a patch in a shell's here document or a code fence. */
function unwrapped(patch: string): string[] {
  const lines = patch.replaceAll("\r\n", "\n").split("\n");
  const filled = lines.filter((line) => line.trim() !== "");
  const open = filled[0]?.trim() ?? "";
  const wrapped = /^(apply_patch\s*)?<<\s*['"]?EOF['"]?$/.test(open) || /^```/.test(open);
  if (!wrapped) return lines;
  const from = lines.findIndex((line) => line.trim() !== "") + 1;
  const to = lines.findLastIndex((line) => ["EOF", "```"].includes(line.trim()));
  return lines.slice(from, to === -1 ? undefined : to);
}

class Reader {
  readonly #lines: readonly string[];
  readonly #end: number;
  #at: number;

  constructor(lines: readonly string[], start: number, end: number) {
    this.#lines = lines;
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** From 1. */
  get number(): number {
    return this.#at + 1;
  }

  get line(): string {
    return this.#lines[this.#at] ?? "";
  }

  next(): string {
    const { line } = this;
    this.#at += 1;
    return line;
  }
}

const header = (line: string, name: string): string | null => {
  const text = line.trim();
  return text.startsWith(`*** ${name}: `) ? text.slice(name.length + 6).trim() : null;
};

/** A new operation begins. `*** End of File` belongs to a chunk. */
const isHeader = (line: string): boolean => /^\s*\*\*\* (Add|Delete|Update) File: /.test(line);

function readOperation(reader: Reader): Operation {
  const { number } = reader;
  const line = reader.next();
  const add = header(line, "Add File");
  if (add !== null) return { kind: "add", path: add, lines: readAdded(reader) };
  const deleted = header(line, "Delete File");
  if (deleted !== null) return { kind: "delete", path: deleted };
  const update = header(line, "Update File");
  if (update === null) return fail(number, `${JSON.stringify(line)} is no header. Use Add File, Delete File or Update File.`);
  const moveTo = header(reader.line, "Move to");
  if (moveTo !== null) reader.next();
  const chunks: Chunk[] = [];
  while (!reader.done && !isHeader(reader.line)) chunks.push(readChunk(reader));
  if (chunks.length === 0 && moveTo === null) fail(number, `the update of ${update} has no lines.`);
  return { kind: "update", path: update, moveTo, chunks };
}

function readAdded(reader: Reader): string[] {
  const lines: string[] = [];
  while (!reader.done && !isHeader(reader.line)) {
    const { number } = reader;
    const line = reader.next();
    if (!line.startsWith("+")) fail(number, "a line of a new file begins with +.");
    lines.push(line.slice(1));
  }
  return lines;
}

function readChunk(reader: Reader): Chunk {
  const line = reader.number;
  let anchor: string | null = null;
  if (/^@@/.test(reader.line)) {
    anchor = reader.next().slice(2).trim() || null;
    // A second one narrows the place: the innermost is the one to be found.
    while (!reader.done && /^@@ /.test(reader.line)) anchor = reader.next().slice(3).trim() || anchor;
  }
  const old: string[] = [];
  const fresh: PatchLine[] = [];
  let atEnd = false;
  let count = 0;
  while (!reader.done && !isHeader(reader.line) && !/^@@/.test(reader.line)) {
    if (reader.line.trim() === "*** End of File") {
      reader.next();
      atEnd = true;
      break;
    }
    const { number } = reader;
    const text = reader.next();
    count += 1;
    if (text.startsWith("+")) fresh.push({ text: text.slice(1), from: null });
    else if (text.startsWith("-")) old.push(text.slice(1));
    else if (text.startsWith(" ") || text === "") {
      fresh.push({ text: text.slice(1), from: old.length });
      old.push(text.slice(1));
    } else fail(number, `${JSON.stringify(text.slice(0, 80))} must begin with a blank, + or -.`);
  }
  if (count === 0) fail(line, "a chunk has no lines.");
  return { anchor, old, new: fresh, atEnd, line };
}
