/**
 * File names as they are: bytes. A raw path is a string in which every character is one byte (Latin-1), so any name of a file system has one, two different
 * names never share one, and maps and comparisons stay cheap. Relative raw paths use `/` and never start with it; the root itself is "".
 * Not here: what may be opened (files/, checkpoints/).
 */
import { isUtf8 } from "node:buffer";

// biome-ignore lint/suspicious/noControlCharactersInRegex: all ASCII characters are meant
const ASCII = /^[\x00-\x7f]*$/;

/** Whether the characters are the bytes, in every encoding that matters. */
export const isPlain = (raw: string): boolean => ASCII.test(raw);

/** What `node:fs` takes: a string where it says the same bytes, else the bytes. */
export const toFs = (raw: string): string | Buffer => (isPlain(raw) ? raw : Buffer.from(raw, "latin1"));

/** The raw path of a text that a person or a program wrote. */
export const rawOf = (text: string): string => (isPlain(text) ? text : Buffer.from(text, "utf8").toString("latin1"));

/** The text that is shown: the name itself, or with `\xNN` for each byte that is not UTF-8. */
export function textOf(raw: string): string {
  if (isPlain(raw)) return raw;
  const bytes = Buffer.from(raw, "latin1");
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = characterAt(bytes, at);
    text += length === 0 ? `\\x${bytes[at]!.toString(16).padStart(2, "0")}` : bytes.subarray(at, at + length).toString("utf8");
    at += length || 1;
  }
  return text;
}

/** How many bytes the UTF-8 character at `at` has; 0 when there is none. */
function characterAt(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return isUtf8(bytes.subarray(at, at + length)) && at + length <= bytes.length ? length : 0;
}

export const joinRaw = (parent: string, name: string): string => (parent === "" ? name : `${parent}/${name}`);

/** The directory of a raw path; "" for a name in the root. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Whether the path is the directory itself or lies below it. */
export const isBelow = (path: string, directory: string): boolean =>
  directory === "" || path === directory || path.startsWith(`${directory}/`);
