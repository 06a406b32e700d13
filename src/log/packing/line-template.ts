/**
 * What lines in a row have in common. Streamed messages of one kind differ in the middle only: kind and ids before it, closing braces after it. A template
 * is guessed from two neighbours and used as long as lines fit it.
 */
export type LineTemplate = {
  before: string;
  after: string;
  /** Both, as JSON. */
  json: string;
};

/** Less in common than this is not worth a template. */
const WORTH = 24;

/** What is between, or null when the line does not fit. Slices are compared as memory; `startsWith` goes character by character. */
export function middleOf({ before, after }: LineTemplate, line: string): string | null {
  const end = line.length - after.length;
  if (end < before.length || line.slice(0, before.length) !== before || line.slice(end) !== after) return null;
  return line.slice(before.length, end);
}

/** What these two have in common, or null when it is too little. Pairs of surrogates are not cut. */
export function templateOf(one: string, other: string): LineTemplate | null {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start++;
  if (start > 0 && isHighSurrogate(one.charCodeAt(start - 1))) start--;
  let end = 0;
  const rest = shorter - start;
  while (end < rest && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)) end++;
  if (end > 0 && isLowSurrogate(one.charCodeAt(one.length - end))) end--;
  if (start + end < WORTH) return null;
  const json = JSON.stringify([one.slice(0, start), one.slice(one.length - end)]);
  // Read back: strings of their own, that do not keep alive what they were cut from.
  const [before = "", after = ""]: string[] = JSON.parse(json);
  return { before, after, json };
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
