import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHUNK_BYTES, type TextChunk, Utf8Chunks } from "./utf8-chunks.ts";

function split(bytes: Buffer, cuts: readonly number[]): TextChunk[] {
  const chunks = new Utf8Chunks();
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const reads = places.slice(1).map((to, i) => bytes.subarray(places[i], to));
  return [...reads.flatMap((read) => chunks.push(read)), ...chunks.end()];
}
const joined = (chunks: readonly TextChunk[]): string => chunks.map(({ text }) => text).join("");
const count = (chunks: readonly TextChunk[]): number => chunks.reduce((sum, { bytes }) => sum + bytes, 0);

describe("text chunks", () => {
  it("are the same wherever the reads are cut", () => {
    const text = "a é € 😀 \u{10ffff} \u{feff}end";
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const chunks = split(bytes, [cut]);
      expect(joined(chunks)).toBe(text);
      expect(chunks.some((chunk) => chunk.text.includes("\u{fffd}"))).toBe(false);
    }
    expect(joined(split(bytes, [...bytes.keys()]))).toBe(text);
  });

  it("stand for all bytes, and are what decoding at once gives, for any bytes and any reads", () => {
    // Mostly lead and continuation bytes: the cases at the border.
    const byte = fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.integer({ min: 0x80, max: 0xbf }),
      fc.integer({ min: 0xe0, max: 0xf8 }),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 200 }), fc.array(fc.nat(), { maxLength: 20 }), (values, cuts) => {
        const bytes = Buffer.from(values);
        const chunks = split(bytes, cuts);
        expect(joined(chunks)).toBe(bytes.toString("utf8"));
        expect(count(chunks)).toBe(bytes.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it("are never longer than 8 KiB, binary or not, and never split a character", () => {
    for (const bytes of [Buffer.from("€".repeat(30_000)), Buffer.alloc(100_000, 0xff), Buffer.from("x".repeat(20_000))]) {
      const chunks = split(bytes, []);
      for (const { text } of chunks) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CHUNK_BYTES);
      expect(joined(chunks)).toBe(bytes.toString("utf8"));
      expect(count(chunks)).toBe(bytes.length);
    }
  });

  it("an unfinished character waits for its rest, and is told at the end", () => {
    const chunks = new Utf8Chunks();
    expect(chunks.push(Buffer.from([0x61, 0xf0, 0x9f]))).toEqual([{ text: "a", bytes: 1 }]);
    expect(chunks.push(Buffer.from([0x98]))).toEqual([]);
    expect(chunks.end()).toEqual([{ text: "\u{fffd}", bytes: 3 }]);
    expect(chunks.end()).toEqual([]);
  });
});
