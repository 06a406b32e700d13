/** Chances that can be repeated: numbers from a hash, the same for the same seed on every machine. */
import { createHash } from "node:crypto";

const WORDS = "alpha beta gamma delta Grüße 🐉 done next because therefore looks right\n".split(" ");

export class Dice {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** From 0 to below 1. */
  #next(): number {
    this.#count += 1;
    return createHash("sha256").update(`${this.#seed} ${this.#count}`).digest().readUInt32BE(0) / 2 ** 32;
  }

  chance(part: number): boolean {
    return this.#next() < part;
  }

  /** From 1 to `most`. */
  upTo(most: number): number {
    return 1 + Math.floor(this.#next() * most);
  }

  of<T>(list: readonly T[]): T {
    return list[Math.floor(this.#next() * list.length)] as T;
  }

  words(most: number): string {
    return Array.from({ length: this.upTo(most) }, () => this.of(WORDS)).join(" ");
  }
}
