/**
 * Finds the place of an edit. First exactly; then with differences in line ends and trailing blanks only, and whole lines only. It accepts exactly one place:
 * an edit in a wrong place is worse than none.
 */
import { shortLine } from "./output-limit.ts";
import { ToolError } from "./tool.ts";

export interface Place {
  readonly start: number;
  readonly end: number;
}

export interface Match {
  readonly places: readonly Place[];
  readonly pass: "exact" | "trailing_blanks";
}

/** Throws `ToolError` with the nearest lines when there is no place, or more than one. */
export function findPlaces(text: string, old: string, all: boolean, what: string): Match {
  if (old === "") throw new ToolError(`${what}: \`old\` is empty. Copy the text to be replaced, or use write for a new file.`);
  const exact = occurrences(text, old);
  const match: Match =
    exact.length > 0 ? { places: exact, pass: "exact" } : { places: loose(text, old), pass: "trailing_blanks" };
  if (match.places.length === 0) throw new ToolError(`${what}: \`old\` is not in the file.${nearest(text, old)}`);
  if (match.places.length > 1 && !all) {
    const lines = match.places.map((place) => lineNumber(text, place.start));
    throw new ToolError(
      `${what}: \`old\` occurs ${lines.length} times (lines ${lines.slice(0, 10).join(", ")}). Add lines around it, or set replace_all.`,
    );
  }
  return match;
}

function occurrences(text: string, old: string): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length))
    places.push({ start: at, end: at + old.length });
  return places;
}

/** Lines without their trailing blanks and ends, and where each began. */
function loose(text: string, old: string): Place[] {
  const wanted = trimmed(old.endsWith("\n") ? old.slice(0, -1) : old);
  const starts: number[] = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const lines = trimmed(text);
  const places: Place[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (!wanted.every((line, index) => line === lines[at + index])) continue;
    const next = starts[at + wanted.length] ?? text.length;
    const end = old.endsWith("\n") ? next : lineEnd(text, next);
    places.push({ start: starts[at] ?? 0, end });
    at += wanted.length - 1;
  }
  return places;
}

const trimmed = (text: string): string[] => text.split("\n").map((line) => line.replace(/[ \t\r]+$/, ""));

/** Without the line end that stands before the next line. */
function lineEnd(text: string, next: number): number {
  if (text[next - 1] !== "\n") return next;
  return text[next - 2] === "\r" ? next - 2 : next - 1;
}

export const lineNumber = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** The lines that look most like the wanted ones. */
function nearest(text: string, old: string): string {
  const first =
    old
      .split("\n")
      .find((line) => line.trim() !== "")
      ?.trim() ?? "";
  const lines = text.split("\n");
  let best = -1;
  let bestScore = 0;
  lines.forEach((line, at) => {
    const score = similarity(line.trim(), first);
    if (score > bestScore) [best, bestScore] = [at, score];
  });
  if (best === -1 || bestScore < 0.5) return " Read the file again.";
  const from = Math.max(0, best - 2);
  const shown = lines.slice(from, best + 3).map((line, at) => `${from + at + 1}\t${shortLine(line, 200)}`);
  return ` The nearest lines are:\n${shown.join("\n")}`;
}

/** Share of two-letter pieces both have. */
function similarity(a: string, b: string): number {
  if (a === b) return 1;
  if (a.length < 2 || b.length < 2) return 0;
  const pieces = new Map<string, number>();
  for (let at = 0; at < a.length - 1; at += 1) pieces.set(a.slice(at, at + 2), (pieces.get(a.slice(at, at + 2)) ?? 0) + 1);
  let shared = 0;
  for (let at = 0; at < b.length - 1; at += 1) {
    const piece = b.slice(at, at + 2);
    const left = pieces.get(piece) ?? 0;
    if (left > 0) shared += 1;
    pieces.set(piece, left - 1);
  }
  return (2 * shared) / (a.length + b.length - 2);
}
