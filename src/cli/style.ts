/** Colours and tables for people. Colours only on a terminal that wants them; widths are counted without them. */
import { colourMark, exactLine, plainText } from "./output.ts";

export type Paint = {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
};

export function paintFor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const on = env.FORCE_COLOR ? env.FORCE_COLOR !== "0" : Boolean(stream.isTTY) && !env.NO_COLOR && env.TERM !== "dumb";
  const code = (open: number, close: number) => (text: string) => (on ? `${colourMark(open)}${text}${colourMark(close)}` : text);
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
  };
}

const width = (text: string): number => [...plainText(text)].length;

/** Every cell is one line, with nothing hidden in it. */
export function table(head: string[], cells: string[][], paint: Paint): string {
  const rows = cells.map((row) => row.map(exactLine));
  const widths = head.map((title, column) => Math.max(width(title), ...rows.map((row) => width(row[column] ?? ""))));
  const line = (cells: string[], dress: (text: string) => string = (text) => text): string =>
    cells
      .map((cell, column) => dress(cell) + (column === head.length - 1 ? "" : " ".repeat((widths[column] ?? 0) - width(cell))))
      .join("  ")
      .trimEnd();
  return [line(head, paint.dim), ...rows.map((row) => line(row))].join("\n");
}

export const ago = (time: string, now: number = Date.now()): string => {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
};
