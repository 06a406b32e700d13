/** Parts of a file. */
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { isBinary } from "../binary.ts";
import { FilesError } from "./errors.ts";

const HEAD_BYTES = 8_000;
const PIECE_BYTES = 256 * 1024;

/** Bytes `start` to `end`, both included, as in HTTP. `start` below 0 counts from the end. */
export type ReadOptions = { start?: number; end?: number };

export function bounds(path: string, size: number, { start, end }: ReadOptions): { start: number; end: number } {
  const from = start === undefined ? 0 : start < 0 ? Math.max(0, size + start) : start;
  const to = Math.min(end ?? size - 1, size - 1);
  const isWhole = start === undefined && end === undefined;
  if (!Number.isInteger(from) || !Number.isInteger(to) || (!isWhole && (from >= size || to < from)))
    throw new FilesError("invalid_range", path, `${path} has ${size} bytes; ${start}-${end} is no part of it.`);
  return { start: from, end: to };
}

export async function bytesAt(handle: FileHandle, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, length));
  let at = 0;
  while (at < buffer.length) {
    const { bytesRead } = await handle.read(buffer, at, buffer.length - at, start + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return buffer.subarray(0, at);
}

/** Bytes `start` to `end`, both included, as a stream that closes the file. Never fewer: a file that became shorter is an error, so that nobody takes a part for the whole. */
export function exactly(handle: FileHandle, start: number, end: number): Readable {
  let at = start;
  return new Readable({
    async read() {
      try {
        if (at > end) return void this.push(null);
        const piece = await bytesAt(handle, at, Math.min(PIECE_BYTES, end - at + 1));
        if (piece.length === 0) throw new Error(`The file ended at byte ${at} while it was read to byte ${end}.`);
        at += piece.length;
        this.push(piece);
      } catch (error) {
        this.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    },
    destroy(error, done) {
      handle.close().then(() => done(error), done);
    },
  });
}

/** The beginning of a text, not cut within a character. */
function cutText(head: Buffer): Buffer {
  let end = Math.min(head.length, HEAD_BYTES);
  if (end < head.length) while (end > 0 && (head[end]! & 0xc0) === 0x80) end -= 1;
  return head.subarray(0, end);
}

/** By its beginning. */
export async function isBinaryFile(handle: FileHandle, size: number): Promise<boolean> {
  return isBinary(cutText(await bytesAt(handle, 0, Math.min(size, HEAD_BYTES + 4))));
}
