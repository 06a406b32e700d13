/**
 * Checksums of stored rows: CRC-32, which finds every single flipped bit and every burst of up to 32. They detect accidents of the disk, not forgery. A
 * row that was written before checksums existed has none, and is not checked.
 */
import { crc32 } from "node:zlib";
import type { SqlRow } from "./row-readers.ts";

/** Of the values of some columns, in their order. */
export const checksumOf = (...values: (string | number | null)[]): number => crc32(values.join("\0"));

/** Of bytes, behind a checksum of what stands before them. */
export const checksumBehind = (before: number, bytes: Uint8Array): number => crc32(bytes, before);

/** True when the column holds this checksum, or none. */
export const matches = (row: SqlRow, column: string, checksum: number): boolean =>
  row[column] === null || row[column] === checksum;

const HEX = 8;
const MARK = "*";

/** A text behind its checksum. The mark cannot be the first character of a column of runs, so texts without a checksum are distinguished. */
export const sealed = (text: string, checksum: number): string => `${MARK}${checksum.toString(16).padStart(HEX, "0")} ${text}`;

/** The text without its checksum, which is null when it has none. */
export function unsealed(text: string): { text: string; checksum: number | null } {
  if (!text.startsWith(MARK)) return { text, checksum: null };
  return { text: text.slice(HEX + 2), checksum: Number.parseInt(text.slice(1, HEX + 1), 16) };
}
