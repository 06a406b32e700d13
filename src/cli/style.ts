/** Colours and tables for people. Colours only on a terminal that wants them; widths are counted without them. */
import { colourMark, exactLine } from "./output.ts";
import { cut, width } from "./text-layout.ts";

export type Paint = {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
};

export const isColoured = (stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean =>
  env.FORCE_COLOR ? env.FORCE_COLOR !== "0" : Boolean(stream.isTTY) && !env.NO_COLOR && env.TERM !== "dumb";

export function paintFor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const on = isColoured(stream, env);
  const code = (open: number, close: number) => (text: string) => (on ? `${colourMark(open)}${text}${colourMark(close)}` : text);
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
    italic: code(3, 23),
    underline: code(4, 24),
  };
}

export type TableOptions = {
  /** How wide it may be. */
  columns?: number;
  /** Columns that are left away, the first first, when it does not fit. */
  drop?: readonly string[];
};

/** No column is made narrower than this while another one can be left away. */
const NARROW_CELL = 16;
const NARROWEST_CELL = 4;

/** Every cell is one line, with nothing hidden in it. What does not fit is cut, but never the first column: it is what people copy. */
export function table(head: string[], cells: string[][], paint: Paint, options: TableOptions = {}): string {
  const rows = cells.map((row) => row.map(exactLine));
  const wanted = head.map((title, column) => Math.max(width(title), ...rows.map((row) => width(row[column] ?? ""))));
  const { columns = Number.POSITIVE_INFINITY, drop = [] } = options;
  const left = drop.find((name) => head.includes(name));
  const widths = fitted(wanted, columns, left === undefined ? NARROWEST_CELL : NARROW_CELL);
  if (left !== undefined && total(widths) > columns) {
    const without = (row: string[]): string[] => row.filter((_, column) => head[column] !== left);
    return table(without(head), rows.map(without), paint, options);
  }
  const line = (cells: string[], dress: (text: string) => string = (text) => text): string =>
    cells
      .map((each, column) => {
        const cell = cut(each, widths[column] ?? 0);
        return dress(cell) + (column === head.length - 1 ? "" : " ".repeat((widths[column] ?? 0) - width(cell)));
      })
      .join("  ")
      .trimEnd();
  return [line(head, paint.dim), ...rows.map((row) => line(row))].join("\n");
}

const total = (widths: number[]): number => widths.reduce((sum, each) => sum + each + 2, -2);

/** The widest columns are made narrower until all fit, or until none can be. */
function fitted(wanted: number[], columns: number, narrowest: number): number[] {
  const widths = [...wanted];
  for (let over = total(widths) - columns; over > 0; over--) {
    const widest = widths.reduce((found, each, column) => (column > 0 && each > (widths[found] ?? 0) ? column : found), 1);
    if ((widths[widest] ?? 0) <= narrowest) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** A line of a diff in its colour. */
export function diffLine(line: string, paint: Paint): string {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return paint.dim(line);
  if (line.startsWith("@@")) return paint.cyan(line);
  if (line.startsWith("+")) return paint.green(line);
  return line.startsWith("-") ? paint.red(line) : line;
}

export const ago = (time: string, now: number = Date.now()): string => {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
};
