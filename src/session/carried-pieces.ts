/** How what an agent remembers is written in the log: a list of files, each made of pieces that are named by their content. Not here: when it is stored and put back. */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { normalize } from "node:path";

export type Piece = { id: string; bytes: number };
export type CarriedFile = { path: string; pieces: Piece[] };
export type CarriedList = { node: string; files: CarriedFile[] };

export const nameOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex").slice(0, 40);

export const idsOf = (files: readonly CarriedFile[]): Set<string> =>
  new Set(files.flatMap(({ pieces }) => pieces.map(({ id }) => id)));

/** Documents are JSON: what is no text is written in base64. */
export function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return JSON.stringify(Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString("base64") });
}

export function bytesOf(body: string): Buffer {
  const { text, base64 } = JSON.parse(body) as { text?: string; base64?: string };
  return text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text);
}

/** The log is no reason to write elsewhere. */
export function inside(path: string): string {
  const plain = normalize(path);
  if (plain === ".." || plain.startsWith("../") || plain.startsWith("/") || plain === ".")
    throw new Error(`${JSON.stringify(path)} lies outside the agent's folder.`);
  return plain;
}

export async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(bytes, read, length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}
