/**
 * How many native messages of each type and disposition one stream has: kept in memory by its writer, so that a commit writes the new counts and reads none. What is
 * written becomes the count when it is committed.
 */
import type { Disposition } from "../contract.ts";
import { checksumOf } from "../packing/checksum.ts";
import type { NativeChunk } from "../packing/native-chunk.ts";
import { withoutNul } from "../without-nul.ts";

/** An agent that invents types must not grow the table without bound. */
const MAX_TYPES = 2000;
export const OTHER_TYPES = "(other)";

type Counted = {
  readonly type: string;
  readonly disposition: Disposition;
  readonly count: number;
  /** False: the stored count was damaged, and stays refused. */
  readonly intact: boolean;
  /** Checksum of what it is a count of. */
  readonly key: number;
};

export class NativeCounts {
  readonly #stream: number;
  readonly #types = new Map<string, Map<Disposition, Counted>>();
  #written: readonly Counted[] = [];

  constructor(stream: number, stored: readonly Omit<Counted, "key">[]) {
    this.#stream = stream;
    for (const each of stored) this.#set({ ...each, key: checksumOf(stream, each.type, each.disposition) });
  }

  /** The counts that change with these chunks, as they are then. May be asked again after a failed commit. */
  with(chunks: readonly NativeChunk[]): readonly Counted[] {
    const changed = new Map<string, Counted>();
    const added = new Set<string>();
    for (const chunk of chunks)
      for (const [type, byDisposition] of chunk.counts()) {
        const name = this.#nameOf(type, added);
        for (const [disposition, more] of byDisposition) {
          const key = `${disposition} ${name}`;
          const before = changed.get(key) ?? this.#types.get(name)?.get(disposition) ?? this.#first(name, disposition);
          changed.set(key, { ...before, count: before.count + more });
        }
      }
    this.#written = [...changed.values()];
    return this.#written;
  }

  /** What was written last is committed. */
  settle(): void {
    for (const each of this.#written) this.#set(each);
    this.#written = [];
  }

  /** As the database has it: the counts are compared with what is read. */
  #nameOf(type: string, added: Set<string>): string {
    const name = withoutNul(type);
    if (this.#types.has(name) || added.has(name)) return name;
    if (this.#types.size + added.size >= MAX_TYPES) return OTHER_TYPES;
    added.add(name);
    return name;
  }

  #first(type: string, disposition: Disposition): Counted {
    return { type, disposition, count: 0, intact: true, key: checksumOf(this.#stream, type, disposition) };
  }

  #set(each: Counted): void {
    const ofType = this.#types.get(each.type) ?? new Map<Disposition, Counted>();
    this.#types.set(each.type, ofType.set(each.disposition, each));
  }
}
