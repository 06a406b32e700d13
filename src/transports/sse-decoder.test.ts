import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import { SseDecoder, type SseEvent } from "./sse-decoder.ts";

const SEED = seedOf(20_260_404);

function decode(chunks: Iterable<Buffer>, maxEventBytes = 1_000_000): { events: SseEvent[]; oversize: number[] } {
  const events: SseEvent[] = [];
  const oversize: number[] = [];
  const decoder = new SseDecoder({
    maxEventBytes,
    onEvent: (event) => events.push(event),
    onOversize: (bytes) => oversize.push(bytes),
  });
  for (const chunk of chunks) decoder.push(chunk);
  return { events, oversize };
}

describe("SseDecoder", () => {
  it("reads events byte by byte", () => {
    const stream = Buffer.from(
      "\ufeff: hello\n\nevent: a\ndata: grü\ndata: ße 💥\nid: 7\n\r\ndata:x\r\n\r\nid: 8\n\ndata: cut off",
    );
    expect(decode([...stream].map((byte) => Buffer.from([byte]))).events).toEqual([
      { event: "a", data: "grü\nße 💥", id: "7" },
      { event: "message", data: "x", id: null },
    ]);
  });

  it("skips an event over the limit, in one line or in many, and goes on", () => {
    const oneLine = `data: ${"x".repeat(200)}\n\n`;
    const manyLines = `event: big\nid: 1\n${"data: 0123456789\n".repeat(20)}\n`;
    const { events, oversize } = decode([Buffer.from(`data: before\n\n${oneLine}${manyLines}data: after\n\n`)], 100);
    expect(events.map(({ event, data }) => `${event} ${data}`)).toEqual(["message before", "message after"]);
    expect(oversize).toEqual([206, 335]);
  });

  it("does not count heartbeats", () => {
    expect(decode([Buffer.from(`${": heartbeat\n".repeat(1_000)}data: x\n\n`)], 100).events).toHaveLength(1);
  });

  it("never throws on random bytes and does not depend on the split", () => {
    const byte = fc.oneof(...[..."data:id\n\r \ufeff"].map((char) => fc.constant(char)), fc.string({ maxLength: 3 }));
    const stream = fc.oneof(
      fc.array(byte, { maxLength: 80 }).map((parts) => Buffer.from(parts.join(""))),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 60 }), (bytes, size, limit) => {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
        expect(decode(pieces, limit)).toEqual(decode([bytes], limit));
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });
});
