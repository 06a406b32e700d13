import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../../test-seed.ts";
import type { NativeEntry } from "../contract.ts";
import { NativeChunk, readNativeChunk } from "./native-chunk.ts";

const SEED = seedOf(20_261_118);

const raw = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", "\n", "a\n\nb\n", "\r", "\x1d", "\x1e[]", "\x1fa", "\x1e\n\x1f"),
  fc.constantFrom("\x1d", "\x1e", "\x1f\x8b", "\n\x1f").map((text) => Buffer.from(text, "latin1")),
  // Lines of one kind: what differs may begin or end inside a character, be empty, or overlap with what is common.
  fc
    .constantFrom("", "a", "aa", "👩", "👨", '"}', "{", "x".repeat(40))
    .map((text) => `{"type":"text","session":"0123456789","text":"${text}"}`),
  // An id that changes now and then, with much behind it that does not.
  fc
    .tuple(fc.constantFrom("m1", "m2"), fc.constantFrom("", "a", "ü 👩", "b".repeat(90)))
    .map(([id, text]) => `{"id":"${id}","update":{"kind":"agent_message_chunk","content":{"type":"text","text":"${text}"}}}`),
  // Blocks of an event stream, with line ends in what is common, and sometimes in what is not.
  fc
    .constantFrom("", "a", "ü 👩", "\ndata: more", "\n\n", "\x1e")
    .map((text) => `event: response.output_text.delta\ndata: {"item_id":"m","delta":"${text}"}\n\n`),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);
const entry: fc.Arbitrary<NativeEntry> = fc.record({
  dir: fc.constantFrom("in", "out", "sse"),
  t_ms: fc.constantFrom(0, 1, 5),
  type: fc.constantFrom("text", "done"),
  disposition: fc.constantFrom("mapped", "unparsed"),
  raw,
});

describe(`native chunks (seed ${SEED})`, () => {
  it("give back every message as it was", () => {
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 40 }), (entries) => {
        const chunk = new NativeChunk(12);
        for (const each of entries) chunk.add(each);
        expect(chunk.last).toBe(12 + entries.length - 1);
        const rows = readNativeChunk(12, chunk.head(), chunk.body());
        expect(rows).toEqual(
          entries.map(({ raw: bytes, ...about }, index) => ({ native_seq: 12 + index, ...about, body: Buffer.from(bytes) })),
        );
        const counted = [...chunk.counts().values()].flatMap((counts) => [...counts.values()]).reduce((sum, n) => sum + n, 0);
        expect(counted).toBe(entries.length);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it("take long texts among short ones", () => {
    const texts = ["short", "a".repeat(70_000), "short", `\x1e${"ü".repeat(70_000)}`, "", "short"];
    const chunk = new NativeChunk(1);
    for (const text of texts) chunk.add({ dir: "out", t_ms: 0, type: "text", disposition: "mapped", raw: text });
    expect(readNativeChunk(1, chunk.head(), chunk.body()).map(({ body }) => body.toString())).toEqual(texts);
  });

  it("cost little more than what is new in each message, also after an id changed", () => {
    const chunk = new NativeChunk(1);
    const [count, each] = [1_000, 50];
    for (let index = 0; index < count; index++) {
      const update = {
        sessionUpdate: "agent_message_chunk",
        messageId: `m${Math.floor(index / each)}`,
        content: { type: "text", text: `word ${index} ` },
      };
      const message = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "0123456789abcdef", update } };
      chunk.add({ dir: "out", t_ms: index, type: "text", disposition: "mapped", raw: JSON.stringify(message) });
    }
    expect(chunk.body().length / count).toBeLessThan(30);
  });

  it("cost as little as blocks of an event stream", () => {
    const chunk = new NativeChunk(1);
    const count = 1_000;
    for (let index = 0; index < count; index++) {
      const event = {
        type: "response.output_text.delta",
        item_id: "msg_0123456789abcdef",
        output_index: 0,
        delta: `word ${index} `,
      };
      const text = `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`;
      chunk.add({ dir: "sse", t_ms: 0, type: event.type, disposition: "mapped", raw: text });
    }
    expect((chunk.body().length + chunk.head().length) / count).toBeLessThan(40);
  });

  it("of the first version are read", () => {
    const head = JSON.stringify([
      ["out", 3, "text", "mapped", 2],
      ["in", 4, "in:x", "noted", 1],
    ]);
    expect(readNativeChunk(5, head, Buffer.from("a\nb"))).toEqual([
      { native_seq: 5, dir: "out", t_ms: 3, type: "text", disposition: "mapped", body: Buffer.from("a\n") },
      { native_seq: 6, dir: "in", t_ms: 4, type: "in:x", disposition: "noted", body: Buffer.from("b") },
    ]);
  });
});
