/** Whether content is text that can be shown. */
import { isUtf8 } from "node:buffer";

const HEAD_BYTES = 8_000;

/** The same bytes without a character that was cut at their end. */
export function wholeEnd(bytes: Buffer): Buffer {
  let last = bytes.length - 1;
  while (last > 0 && bytes.length - last < 4 && isContinued(bytes[last])) last -= 1;
  const lead = bytes[last] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return last + length > bytes.length ? bytes.subarray(0, last) : bytes;
}

export const isContinued = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** As git sees it: a zero byte near the beginning; also what is not UTF-8. */
export const isBinary = (content: Buffer): boolean => content.subarray(0, HEAD_BYTES).includes(0) || !isUtf8(content);
