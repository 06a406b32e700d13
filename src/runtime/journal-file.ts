/**
 * A journal in one file: a record a line, each with a checksum. A line that a crash cut off is the last one and is dropped at the next start; a damaged line before
 * it is an error. Lines are written at once, without a trip through the thread pool that costs more than the write; one fsync serves everybody who waits for it. A process holds its file alone; that is the caller's duty.
 */
import { createReadStream, writeSync } from "node:fs";
import { type FileHandle, mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { sha256 } from "./digest.ts";
import type { JournalStore } from "./ports.ts";
import { type JournalRecord, parseRecord } from "./records.ts";

const CHECKSUM_CHARS = 8;
const checksum = (text: string): string => sha256(text).slice(0, CHECKSUM_CHARS);

/** A record as its line. */
export const journalLine = (record: JournalRecord, json = JSON.stringify(record)): string => `${checksum(json)} ${json}\n`;

export class FileJournal implements JournalStore {
  readonly #path: string;
  readonly #file: FileHandle;
  #pending: string[] = [];
  #flushing: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #failed: unknown = null;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  static async open(path: string): Promise<FileJournal> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "a+");
    const text = await readFile(path, "utf8");
    const end = text.lastIndexOf("\n") + 1;
    // Written without its end: the record was never acted upon.
    if (end < text.length) await file.truncate(Buffer.byteLength(text.slice(0, end)));
    const directory = await open(dirname(path), "r");
    await directory.sync();
    await directory.close();
    return new FileJournal(path, file);
  }

  append(record: JournalRecord, json?: string): void {
    if (this.#failed !== null) throw this.#failed;
    this.#pending.push(journalLine(record, json));
    // Written soon, so that a crash of the process alone loses little; synced when somebody asks.
    if (this.#pending.length === 1) setImmediate(() => this.#writeOrFail());
  }

  written(): void {
    if (this.#failed !== null) throw this.#failed;
    const bytes = Buffer.from(this.#pending.join(""));
    this.#pending = [];
    try {
      // A write may take less than all of it.
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file.fd, bytes, at);
    } catch (error) {
      this.#failed = error;
      throw error;
    }
  }

  durable(): Promise<void> {
    if (this.#failed !== null) return Promise.reject(this.#failed);
    // A sync that already runs may have begun before the last record was written: wait for the one after it.
    if (this.#flushing === null) {
      this.#flushing = this.#sync().finally(() => {
        this.#flushing = null;
      });
      return this.#flushing;
    }
    this.#next ??= this.#flushing
      .catch(() => {})
      .then(() => {
        this.#next = null;
        return this.durable();
      });
    return this.#next;
  }

  async read(): Promise<readonly JournalRecord[]> {
    this.written();
    return readJournal(this.#path);
  }

  async close(): Promise<void> {
    try {
      await this.durable();
    } finally {
      await this.#file.close();
    }
  }

  /** A failure is reported by the next that asks for something. */
  #writeOrFail(): void {
    try {
      this.written();
    } catch {
      return;
    }
  }

  async #sync(): Promise<void> {
    this.written();
    await this.#file.datasync();
  }
}

/** The records of a journal file. Throws when a line is damaged. */
export async function readJournal(path: string): Promise<JournalRecord[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path)) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString("utf8");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  lines.pop();
  return lines.map((line, at) => {
    const body = line.slice(CHECKSUM_CHARS + 1);
    if (checksum(body) !== line.slice(0, CHECKSUM_CHARS)) {
      throw new Error(`Line ${at + 1} of ${path} is damaged: restore it from a backup, or cut the file before it.`);
    }
    return parseRecord(body);
  });
}
