/**
 * Characters that a reader cannot see, made visible: what a person reads in a permission must be what runs. Used by the command line and the inspector.
 * Not here: colours and writing to a terminal (cli/output.ts).
 */

/** Control characters but tab and line feed: a terminal obeys them. C1 and DEL included. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Colours of a program's output: they only change how its own text looks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const COLOUR = /\u001b\[[0-9;:]*m/g;

/** Embeddings, overrides and isolates: they change the order in which a line is shown. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Nothing is drawn for these, or they move what is drawn: format characters, fillers, tags, interlinear marks, line and paragraph separators.
 * Variation selectors are in it too; see `isOrdinary`.
 */
const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]/gu;

/** A variation selector right after a symbol only chooses its picture; anywhere else it carries hidden data. */
const SELECTOR = /[\ufe0e\ufe0f]/;
const PICTURE = /\p{Extended_Pictographic}$/u;
const KEYCAP = /[#*0-9]$/;

const PICTURES_OF_CONTROLS = 0x2400;
const PICTURE_OF_DELETE = "␡";

/** One character as people can read it: `␛` for the old controls, `⟦U+202E⟧` for the rest. */
function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(PICTURES_OF_CONTROLS + code);
  if (code === 0x7f) return PICTURE_OF_DELETE;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}

const isOrdinary = (character: string, before: string, after: string): boolean =>
  character === "\n" ||
  character === "\t" ||
  (SELECTOR.test(character) && (PICTURE.test(before) || (KEYCAP.test(before) && after === "\u20e3")));

export type TextPart = { text: string; hidden: boolean };

/** The text in parts: what can be read as it is, and each character that could not be seen, spelled out. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (isOrdinary(character, text.slice(Math.max(0, index - 2), index), text.charAt(index + 1))) continue;
    if (index > from) parts.push({ text: text.slice(from, index), hidden: false });
    parts.push({ text: shown(character), hidden: true });
    from = index + character.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), hidden: false });
  return parts;
}

/** The text with every character spelled out that could not be seen: for permissions, commands, names. */
export const visibleText = (text: string): string =>
  visibleParts(text)
    .map((part) => part.text)
    .join("");

/** The same on one line. */
export const visibleLine = (text: string): string => visibleText(text).replace(/\n/g, "␊").replace(/\t/g, " ");

/**
 * Text that no terminal can take for a command: control characters are spelled out, a program's colours are left away. For answers and output, which may
 * hold any character that is merely unusual.
 */
export const withoutControls = (text: string): string => text.replace(COLOUR, "").replace(/\r\n/g, "\n").replace(CONTROL, shown);

/** Spells out what changes the order of a line. */
export const withoutReordering = (text: string): string => text.replace(REORDERING, shown);

/** JSON that is safe to print: what JSON.stringify leaves as it is and a terminal would obey or reorder by is escaped. Parses to the same value. */
export const printableJson = (value: unknown, indent?: number): string =>
  escapedJson(JSON.stringify(value, null, indent) ?? "null");

/** The same for text that is JSON already. */
export const escapedJson = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** JSON a person can edit: every hidden character is an escape. */
export const editableJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? "null").replace(HIDDEN, (character) =>
    character === "\n"
      ? character
      : [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
