/**
 * Everything one stream of a task wrote, by byte offset: the newest bytes in memory, the first ones in a file. What lies between, in the middle of a flood, is
 * counted and not kept. A short output never makes a file.
 */
import { ByteRing } from "./byte-ring.ts";
import { SpillFile } from "./spill-file.ts";

export type OutputLimits = {
  /** Newest bytes kept in memory. */
  memory_bytes: number;
  /** First bytes kept in the file. */
  file_bytes: number;
};

export type OutputRange = {
  /** Place of the first byte; greater than the one that was asked for when what lies there is not kept. */
  offset: number;
  bytes: Buffer;
  /** Bytes the stream has had so far. */
  total: number;
};

/** After the end, more than this goes to the file and leaves the memory. */
const SMALL_BYTES = 4 * 1024;

export class OutputStore {
  readonly #ring: ByteRing;
  readonly #file: SpillFile | null;
  #spilling = false;
  readonly #memoryBytes: number;

  constructor({ memory_bytes, file_bytes }: OutputLimits, path: string | null) {
    this.#memoryBytes = memory_bytes;
    this.#ring = new ByteRing(memory_bytes);
    this.#file = path === null ? null : new SpillFile(path, file_bytes);
  }

  get total(): number {
    return this.#ring.total;
  }

  /** Why the file could not be written; null while all is well. */
  get fault(): Error | null {
    return this.#file?.fault ?? null;
  }

  /** The file with the first bytes, once there is one. */
  get path(): string | null {
    return this.#file !== null && this.#spilling && this.#file.fault === null ? this.#file.path : null;
  }

  /** A promise when there is something to wait for before more is read. */
  append(bytes: Buffer): Promise<void> | null {
    const before = this.#ring.total;
    if (this.#file !== null && !this.#spilling && before + bytes.length > this.#memoryBytes) this.#startSpilling();
    this.#ring.push(bytes);
    return this.#spilling ? (this.#file?.append(bytes) ?? null) : null;
  }

  async read(offset: number, limit: number): Promise<OutputRange> {
    const { total } = this;
    const from = Math.min(Math.max(0, offset), total);
    if (from >= this.#ring.start) return this.#fromMemory(from, limit);
    await this.#file?.settled();
    const inFile = this.#file?.written ?? 0;
    if (this.#file === null || from >= inFile) return this.#fromMemory(Math.max(from, this.#ring.start), limit);
    const bytes = await this.#file.read(from, limit);
    return { offset: from, bytes, total: this.total };
  }

  /** What can be read, in order. */
  kept(): { from: number; to: number }[] {
    const memory = { from: this.#ring.start, to: this.total };
    const file = { from: 0, to: this.#file?.written ?? 0 };
    if (file.to === 0) return memory.to > memory.from ? [memory] : [];
    if (file.to >= memory.from) return [{ from: 0, to: Math.max(memory.to, file.to) }];
    return [file, memory];
  }

  /** Nothing more will come: most of it leaves the memory when a file can hold all of it. */
  async end(): Promise<void> {
    if (this.#file === null || this.total <= SMALL_BYTES) return;
    if (!this.#spilling) this.#startSpilling();
    await this.#file.settled();
    if (this.#file.written === this.total) this.#ring.clear();
  }

  async remove(): Promise<void> {
    this.#ring.clear();
    await this.#file?.remove();
  }

  /** Up to now all of it is in memory. */
  #startSpilling(): void {
    this.#spilling = true;
    if (this.#ring.total > 0) void this.#file?.append(this.#ring.copy(this.#ring.start, this.#ring.total));
  }

  #fromMemory(from: number, limit: number): OutputRange {
    const to = Math.min(this.total, from + Math.max(0, limit));
    return { offset: from, bytes: this.#ring.copy(from, to), total: this.total };
  }
}
