/** Finds the lines of a chunk in a file, in four passes from strict to lenient. */

/** How closely the lines had to match. */
export type SeekPass = "exact" | "trailing_blanks" | "blanks" | "punctuation";

const PASSES: readonly (readonly [SeekPass, (line: string) => string])[] = [
  ["exact", (line) => line],
  ["trailing_blanks", (line) => line.trimEnd()],
  ["blanks", (line) => line.trim()],
  ["punctuation", (line) => plainPunctuation(line.trim())],
];

/** Null when no pass finds them at or after `from`. With `atEnd` the end of the file is tried first. */
export function seek(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  atEnd: boolean,
): { readonly at: number; readonly pass: SeekPass } | null {
  if (wanted.length > lines.length) return null;
  for (const [pass, plain] of PASSES) {
    const have = lines.map(plain);
    const want = wanted.map(plain);
    const fits = (at: number): boolean => want.every((line, index) => line === have[at + index]);
    const last = lines.length - wanted.length;
    if (atEnd && last >= from && fits(last)) return { at: last, pass };
    for (let at = from; at <= last; at += 1) if (fits(at)) return { at, pass };
  }
  return null;
}

/** Dashes, quotes and blanks that editors and models exchange for each other. */
const plainPunctuation = (line: string): string =>
  line
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ");
