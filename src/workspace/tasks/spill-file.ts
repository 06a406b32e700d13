/**
 * The first bytes of a stream in a file, up to a limit; made when it is first written to. Writes go on in the order they were asked for. A disk that is full
 * or broken stops the writing, never the task: `fault` then says why.
 */
import { constants } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export class SpillFile {
  readonly path: string;
  readonly #limit: number;
  #file: Promise<FileHandle> | null = null;
  #last: Promise<void> = Promise.resolve();
  /** Bytes that were handed over, at most the limit. */
  #accepted = 0;
  #written = 0;
  #fault: Error | null = null;
  #removed = false;

  constructor(path: string, limit: number) {
    this.path = path;
    this.#limit = limit;
  }

  /** Bytes that can be read. */
  get written(): number {
    return this.#written;
  }

  get fault(): Error | null {
    return this.#fault;
  }

  /** Resolves when the bytes are written, or will never be. The buffer must not change until then. Null: the file is full. */
  append(bytes: Buffer): Promise<void> | null {
    const fitting = bytes.subarray(0, Math.max(0, this.#limit - this.#accepted));
    if (fitting.length === 0 || this.#fault !== null || this.#removed) return null;
    this.#accepted += fitting.length;
    this.#last = this.#last.then(() => this.#write(fitting));
    return this.#last;
  }

  /** Resolves when nothing waits to be written. */
  settled(): Promise<void> {
    return this.#last;
  }

  async read(from: number, length: number): Promise<Buffer> {
    const file = await this.#file;
    const out = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.#written - from)));
    let got = 0;
    while (file && got < out.length) {
      const { bytesRead } = await file.read(out, got, out.length - got, from + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return out.subarray(0, got);
  }

  /** Closes and removes the file. */
  async remove(): Promise<void> {
    this.#removed = true;
    await this.#last;
    const file = await this.#file?.catch(() => null);
    this.#written = 0;
    this.#file = null;
    await file?.close();
    if (file) await rm(this.path, { force: true });
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#fault !== null || this.#removed) return;
    try {
      this.#file ??= open(this.path, FLAGS, 0o600);
      const file = await this.#file;
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, this.#written);
        done += bytesWritten;
        this.#written += bytesWritten;
      }
    } catch (error) {
      this.#fault = error instanceof Error ? error : new Error(String(error));
    }
  }
}
