import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SseBlock, SseReader } from "./sse-reader.ts";

const LIMIT = 1 << 20;

function read(chunks: readonly Buffer[], maxBlockBytes = LIMIT): { blocks: SseBlock[]; rest: Buffer } {
  const blocks: SseBlock[] = [];
  const reader = new SseReader({ maxBlockBytes, onBlock: (block) => blocks.push(block) });
  for (const chunk of chunks) reader.push(chunk);
  return { blocks, rest: reader.end() };
}

const meaning = (blocks: readonly SseBlock[]) => blocks.map(({ event, data, id, comments }) => ({ event, data, id, comments }));

const SAMPLE = [
  "\ufeffevent: a\ndata: Grüße 🐉\n\n",
  ": heartbeat\n\n",
  "data: one\r\ndata:two\r\nid: 7\r\n\r\n",
  "\n\nevent: b\rdata: x\r\r",
  "data\n\n",
  "data: [DONE]\n\n",
  "data: cut of",
].join("");

describe("SseReader", () => {
  it("reads fields, comments and all line ends", () => {
    const { blocks, rest } = read([Buffer.from(SAMPLE)]);
    expect(meaning(blocks)).toEqual([
      { event: "a", data: "Grüße 🐉", id: null, comments: [] },
      { event: null, data: null, id: null, comments: ["heartbeat"] },
      { event: null, data: "one\ntwo", id: "7", comments: [] },
      { event: "b", data: "x", id: null, comments: [] },
      { event: null, data: "", id: null, comments: [] },
      { event: null, data: "[DONE]", id: null, comments: [] },
    ]);
    expect(rest.toString()).toBe("data: cut of");
  });

  it("gives the same blocks and keeps every byte, wherever the stream is cut", () => {
    const bytes = Buffer.from(SAMPLE);
    const whole = read([bytes]);
    for (let at = 0; at <= bytes.length; at += 1) {
      const { blocks, rest } = read([bytes.subarray(0, at), bytes.subarray(at)]);
      expect(meaning(blocks), `cut at ${at}`).toEqual(meaning(whole.blocks));
      expect(Buffer.concat([...blocks.map((block) => block.bytes), rest]).equals(bytes), `cut at ${at}`).toBe(true);
    }
    const single = read([...bytes].map((byte) => Buffer.from([byte])));
    expect(meaning(single.blocks)).toEqual(meaning(whole.blocks));
  });

  it("keeps every byte of any input", () => {
    const piece = fc.constantFrom("data: x", "event: y", ":", "\n", "\r", "\r\n", "\n\n", "é", "id");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (pieces, size) => {
        const bytes = Buffer.from(pieces.join(""));
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        const { blocks, rest } = read(chunks);
        expect(Buffer.concat([...blocks.map((block) => block.bytes), rest]).equals(bytes)).toBe(true);
        expect(meaning(blocks)).toEqual(meaning(read([bytes]).blocks));
      }),
    );
  });

  it("reads an event of 20 MB that comes in small chunks", () => {
    const text = "x".repeat(20_000_000);
    const bytes = Buffer.from(`data: ${text}\n\ndata: after\n\n`);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 16_384) chunks.push(bytes.subarray(at, at + 16_384));
    const { blocks } = read(chunks, 64 << 20);
    expect(blocks.map((block) => block.data?.length)).toEqual([text.length, 5]);
  });

  it("cuts an event over the limit, says how long it was, and goes on with the next", () => {
    const big = `data: ${"x".repeat(3 * LIMIT)}\n\n`;
    const bytes = Buffer.from(`${big}data: after\n\n`);
    for (const size of [1000, 100_000, bytes.length]) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      const { blocks } = read(chunks);
      expect(blocks).toHaveLength(2);
      expect(blocks[0]?.oversize).toBe(big.length);
      expect(blocks[0]?.bytes.length).toBeLessThanOrEqual(64 * 1024);
      expect(blocks[1]).toMatchObject({ data: "after", oversize: null });
    }
  });
});
