/**
 * Where the lines of an import come from: a text, or a body of any size that is spooled to a file of the data directory while its lines are checked. Lines
 * are read twice, first to check all of them and then to write them, and at no time is more than one line in memory. Not here: what a line may say.
 */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { ProblemError } from "../schema/problem-codes.ts";
import { LineError } from "./transfer-lines.ts";

export interface ImportSource {
  /** Read twice: the first time as the lines come in, the second time the same ones again. */
  lines(): AsyncIterable<string>;
}

/** Of one line: an artifact with its base64. More than an export can write on most machines. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
/** The disk is looked at each time so much was spooled. */
const LOOK_BYTES = 16 * 1024 * 1024;
/** Left free for everybody else, beside the room the session itself will take. */
const SPARE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;

export const textSource = (text: string): ImportSource => ({ lines: () => linesOf([Buffer.from(text)]) });

const spoolDir = (dataDir: string): string => join(dataDir, "imports");

/** Files of imports that the last daemon did not end. Before the first import. */
export const clearSpool = (dataDir: string): Promise<void> => rm(spoolDir(dataDir), { recursive: true, force: true });

/** Calls `use` with the lines of a body. What was spooled is gone when this resolves or rejects. */
export async function withSpooled<T>(
  body: AsyncIterable<Uint8Array>,
  dataDir: string,
  use: (source: ImportSource) => Promise<T>,
): Promise<T> {
  await mkdir(spoolDir(dataDir), { recursive: true, mode: 0o700 });
  const path = join(spoolDir(dataDir), `${randomBytes(12).toString("hex")}.ndjson`);
  const file = await open(path, "wx", 0o600);
  let spooled = false;
  const lines = (): AsyncIterable<string> => {
    if (spooled) return linesOf(createReadStream(path, { highWaterMark: 1024 * 1024 }));
    spooled = true;
    return linesOf(spooling(body, file, spoolDir(dataDir)));
  };
  try {
    return await use({ lines });
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/** Each chunk is in the file before it is passed on: the sender is read no faster than the disk writes. */
async function* spooling(body: AsyncIterable<Uint8Array>, file: FileHandle, directory: string): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let looked = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes - looked >= LOOK_BYTES) {
      looked = bytes;
      await mustHaveRoom(directory, bytes);
    }
    await file.appendFile(chunk).catch((error: unknown) => {
      throw isFull(error) ? noRoom() : error;
    });
    yield chunk;
  }
}

/** The spooled file and the session are both on this disk for a while. */
async function mustHaveRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < bytes + SPARE_BYTES) throw noRoom();
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(ENOSPC|EDQUOT)$/.test(String(error.code));

const noRoom = (): ProblemError =>
  new ProblemError("disk_full", "There is no room for this import: it needs its size twice for a while. Nothing of it was kept.");

/** Throws LineError for a line that is too long. Its number is the next one. */
async function* linesOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const piece of chunks) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, end));
      yield Buffer.concat(parts).toString("utf8");
      parts = [];
      bytes = 0;
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) throw new LineError(`is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
  }
  yield Buffer.concat(parts).toString("utf8");
}
