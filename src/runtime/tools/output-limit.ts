/** Keeps what the model gets within bounds: beginning and end of a long output, cut at line ends, never inside a character. */

export interface Limited {
  readonly text: string;
  /** Whether something was left out. */
  readonly cut: boolean;
}

const HEAD_BYTES = 25 * 1024;
const TAIL_BYTES = 25 * 1024;

/** Beginning and end. */
export function headAndTail(text: string, head = HEAD_BYTES, tail = TAIL_BYTES): Limited {
  const bytes = Buffer.from(text);
  if (bytes.length <= head + tail) return { text, cut: false };
  const first = wholeLinesBefore(bytes, head);
  const last = wholeLinesAfter(bytes, bytes.length - tail);
  const left = last - first;
  const middle = `\n… ${left} bytes left out …\n`;
  return { text: `${bytes.toString("utf8", 0, first)}${middle}${bytes.toString("utf8", last)}`, cut: true };
}

/** Where the last whole line up to the limit ends; inside a very long line, the last whole character. */
function wholeLinesBefore(bytes: Buffer, limit: number): number {
  const line = bytes.lastIndexOf(0x0a, limit - 1);
  if (line > limit / 2) return line;
  let at = limit;
  while (at > 0 && isContinuation(bytes[at])) at -= 1;
  return at;
}

function wholeLinesAfter(bytes: Buffer, start: number): number {
  const line = bytes.indexOf(0x0a, start);
  if (line !== -1 && line - start < (bytes.length - start) / 2) return line + 1;
  let at = start;
  while (at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** One line that does not fill the screen. */
export const shortLine = (line: string, limit: number): string =>
  line.length <= limit ? line : `${line.slice(0, limit).replace(/[\ud800-\udbff]$/, "")}… (${line.length} characters)`;
