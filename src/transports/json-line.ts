/** One value as one line of JSON, the form in which everything is sent. Reading lines is the framer's and the channel's work. */

/** Line ends of other people's readers (Python's `splitlines`, old JavaScript) that JSON itself leaves unescaped. */
const FOREIGN_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** Serialises once, with the line end. Throws a TypeError for what JSON cannot say (undefined, a function, BigInt, a cycle). */
export function encodeJsonLine(value: unknown): Buffer {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`A ${typeof value} cannot be sent as JSON: send null or an object instead.`);
  return Buffer.from(`${json.replace(FOREIGN_LINE_ENDS, escapeCharacter)}\n`, "utf8");
}

/**
 * A line without its line end, verbatim: text whose UTF-8 encoding is the line, or bytes if it is long or no UTF-8. It may share memory with its neighbours,
 * so copy it to keep it for long.
 */
export type RawLine = Buffer | string;

/** The line as the ledger keeps it: like an incoming one, without its line end. */
export function withoutLineEnd(line: Buffer): Buffer {
  return line.subarray(0, -1);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
