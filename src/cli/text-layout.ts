/** Texts in columns: how wide they are, where they are cut or broken. Colours (marks of output.ts) take no room. Not here: colours themselves (style.ts). */
import truncatedWidth from "fast-string-truncated-width";
import { plainText, splitMarks } from "./output.ts";

/** Where nobody says how wide a screen is: in a pipe or a file. */
const DEFAULT_COLUMNS = 80;
const NARROWEST = 20;

/** Columns that a line may have. `COLUMNS` says it for a pipe. */
export const columnsOf = (output: { columns?: number | undefined }, env: NodeJS.ProcessEnv): number =>
  Math.max(NARROWEST, output.columns || Number(env.COLUMNS) || DEFAULT_COLUMNS);

/** Columns that a table may have. In a pipe programs read it: nothing is cut. */
export const tableColumns = (output: { columns?: number | undefined }, env: NodeJS.ProcessEnv): number =>
  output.columns || Number(env.COLUMNS) ? columnsOf(output, env) : Number.POSITIVE_INFINITY;

/** Columns the text takes. */
export const width = (text: string): number => truncatedWidth(plainText(text)).width;

/** The text in at most so many columns, with `…` where something is missing. */
export function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  const head = headOf(text, columns - 1);
  const closing = splitMarks(text.slice(head.length)).flatMap((part) => (part.mark ? [part.text] : []));
  return `${head}…${closing.join("")}`;
}

/** Lines of at most so many columns, broken at spaces; `rest` stands before every line but the first. A word that is wider is broken inside. */
export function wrap(text: string, columns: number, rest = ""): string[] {
  columns = Math.max(columns, width(rest) + 2);
  return text
    .split("\n")
    .flatMap((line, at) => wrapLine(line, columns, rest).map((each, row) => (at > 0 && row === 0 ? rest : "") + each));
}

function wrapLine(line: string, columns: number, rest: string): string[] {
  if (width(line) <= columns) return [line];
  const lines: string[] = [];
  let current = "";
  const room = (): number => columns - (lines.length > 0 ? width(rest) : 0);
  for (const word of line.split(/(?<=\s)(?=\S)/)) {
    if (current !== "" && width(current + word.trimEnd()) > room()) {
      lines.push(current.trimEnd());
      current = "";
    }
    current += word;
    while (width(current.trimEnd()) > room()) {
      // At least one character, or it would never end.
      const head = headOf(current, room()) || current.slice(0, 1);
      lines.push(head);
      current = current.slice(head.length);
    }
  }
  if (current.trimEnd() !== "") lines.push(current.trimEnd());
  return lines.map((each, at) => (at === 0 ? each : rest + each));
}

/** As much of the text as fits. */
function headOf(text: string, columns: number): string {
  let left = columns;
  let head = "";
  for (const part of splitMarks(text)) {
    if (part.mark) head += part.text;
    else {
      const { index, width: taken } = truncatedWidth(part.text, { limit: left, ellipsis: "" });
      head += part.text.slice(0, index);
      if (index < part.text.length) break;
      left -= taken;
    }
  }
  return plainText(head) === "" ? "" : head;
}
