/** The place of a text that a search found, short enough for a list, with the words that were looked for marked. */
import { fold, phrasesOf } from "../log/search-words.ts";

const BEFORE = 60;
const LENGTH = 240;

export type Snippet = { snippet: string; highlights: { start: number; end: number }[] };

export function snippetOf(text: string, query: string): Snippet {
  const words = phrasesOf(query).flatMap((phrase) => phrase.words.map(fold));
  const marks = marksIn(text, words);
  const from = startOf(text, Math.max(0, (marks[0]?.start ?? 0) - BEFORE));
  const to = Math.min(text.length, from + LENGTH);
  const lead = from > 0 ? "… " : "";
  const shown = text.slice(from, to).replace(/\s/g, " ");
  const highlights = marks
    .filter(({ start, end }) => start >= from && end <= to)
    .map(({ start, end }) => ({ start: start - from + lead.length, end: end - from + lead.length }));
  return { snippet: `${lead}${shown}${to < text.length ? " …" : ""}`, highlights };
}

/** Words of the text that begin with one of the wanted ones. */
function marksIn(text: string, wanted: readonly string[]): { start: number; end: number }[] {
  if (wanted.length === 0) return [];
  return [...text.matchAll(/[\p{L}\p{N}\p{M}\p{Co}]+/gu)].flatMap(({ 0: word, index }) =>
    wanted.some((start) => fold(word).startsWith(start)) ? [{ start: index, end: index + word.length }] : [],
  );
}

/** Not in the middle of a word, nor of a character. */
function startOf(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + BEFORE).search(/\s/);
  if (space >= 0) return at + space + 1;
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at + 1 : at;
}
