import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import { LineFramer, LONG_LINE_BYTES, OVERSIZE_HEAD_BYTES, type OversizeLine } from "./line-framer.ts";

const SEED = seedOf(20_260_401);

interface Framed {
  lines: Buffer[];
  oversize: OversizeLine[];
}

type Options = { maxLineBytes?: number; keepBlankLines?: boolean };

/** Both ways of asking for lines must say the same. */
function frame(chunks: Iterable<Buffer>, options: Options = {}): Framed {
  const all = [...chunks];
  const framed = frameAs(all, options, false);
  expect(frameAs(all, options, true)).toEqual(framed);
  return framed;
}

function frameAs(chunks: Iterable<Buffer>, options: Options, asText: boolean): Framed {
  const framed: Framed = { lines: [], oversize: [] };
  const framer = new LineFramer({
    ...options,
    onLine: (line) => framed.lines.push(line),
    ...(asText ? { onTextLine: (line: string) => framed.lines.push(Buffer.from(line)) } : {}),
    onOversize: (oversize) => framed.oversize.push(oversize),
  });
  for (const chunk of chunks) framer.push(chunk);
  framer.end();
  return framed;
}

const texts = (framed: Framed): string[] => framed.lines.map((line) => line.toString("utf8"));
const eachByte = (bytes: Buffer): Buffer[] => [...bytes].map((byte) => Buffer.from([byte]));

function splitAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const points = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...points, bytes.length].map((point, index) => bytes.subarray(points[index - 1] ?? 0, point));
}

describe("LineFramer", () => {
  it("splits at line feeds only and drops one carriage return", () => {
    const bytes = Buffer.from("a\r\nb\u2028c\r\r\n\r\n\nd\re\nlast");
    expect(texts(frame([bytes]))).toEqual(["a", "b\u2028c\r", "d\re", "last"]);
    expect(texts(frame(eachByte(bytes)))).toEqual(["a", "b\u2028c\r", "d\re", "last"]);
  });

  it("keeps characters whole when a chunk ends inside them", () => {
    const text = "grüße 👩‍💻 日本";
    expect(texts(frame(eachByte(Buffer.from(`${text}\n${text}`))))).toEqual([text, text]);
  });

  it("drops a BOM at the start of the stream and nowhere else", () => {
    const bytes = Buffer.from("\ufeffone\n\ufefftwo\n");
    expect(texts(frame([bytes]))).toEqual(["one", "\ufefftwo"]);
    expect(texts(frame(eachByte(bytes)))).toEqual(["one", "\ufefftwo"]);
  });

  it("delivers the start of a BOM that never became one", () => {
    expect(frame([Buffer.from([0xef, 0xbb])]).lines).toEqual([Buffer.from([0xef, 0xbb])]);
    expect(frame([Buffer.from([0xef]), Buffer.from("x\n")]).lines).toEqual([Buffer.from([0xef, 0x78])]);
  });

  it("gives blank lines only to those who ask", () => {
    const bytes = Buffer.from("a\n\r\n\nb\n");
    expect(texts(frame([bytes], { keepBlankLines: true }))).toEqual(["a", "", "", "b"]);
  });

  it("does not copy lines that lie within one chunk", () => {
    const chunk = Buffer.from("first\nsecond\n");
    for (const line of frame([chunk]).lines) expect(line.buffer).toBe(chunk.buffer);
  });

  it("reports a line over the cap once, with its hash, and goes on", () => {
    const long = Buffer.alloc(200_000, "x");
    const bytes = Buffer.concat([Buffer.from("before\n"), long, Buffer.from("\r\nafter\n")]);
    for (const chunks of [[bytes], splitAt(bytes, [3, 10, 100_007, 200_007, 200_008])]) {
      const framed = frame(chunks, { maxLineBytes: 100_000 });
      expect(texts(framed)).toEqual(["before", "after"]);
      expect(framed.oversize).toHaveLength(1);
      expect(framed.oversize[0]?.bytes).toBe(long.length);
      expect(framed.oversize[0]?.sha256).toBe(createHash("sha256").update(long).digest("hex"));
      expect(framed.oversize[0]?.head.equals(long.subarray(0, OVERSIZE_HEAD_BYTES))).toBe(true);
    }
  });

  it("takes the cap exactly, whatever the line end", () => {
    for (const end of ["\n", "\r\n", ""]) {
      for (const split of [(bytes: Buffer) => [bytes], eachByte]) {
        expect(texts(frame(split(Buffer.from(`12345${end}`)), { maxLineBytes: 5 }))).toEqual(["12345"]);
        expect(frame(split(Buffer.from(`123456${end}`)), { maxLineBytes: 5 }).oversize[0]?.bytes).toBe(6);
      }
    }
  });

  it("reports a 100 MB line that came in pipe-sized chunks", () => {
    const chunk = Buffer.alloc(65_536, "y");
    const count = 1_600;
    const framed = frame([...Array<Buffer>(count).fill(chunk), Buffer.from("\nnext\n")]);
    expect(framed.oversize[0]?.bytes).toBe(count * chunk.length);
    expect(texts(framed)).toEqual(["next"]);
  });

  it("assembles a long line from very many one-byte chunks", () => {
    const byte = Buffer.from("z");
    function* drip() {
      for (let i = 0; i < 100_000; i++) yield byte;
    }
    expect(frame(drip()).lines[0]?.length).toBe(100_000);
  });

  it("ignores what comes after the end", () => {
    const lines: Buffer[] = [];
    const framer = new LineFramer({ onLine: (line) => lines.push(line), onOversize: () => {} });
    framer.push(Buffer.from("a"));
    framer.end();
    framer.push(Buffer.from("b\n"));
    framer.end();
    expect(lines.map(String)).toEqual(["a"]);
  });

  it("gives the same lines for the same bytes, however they are split", () => {
    const byte = fc.oneof(fc.constantFrom(10, 13, 0xef, 0xbb, 0xbf, 0x61), fc.integer({ min: 0, max: 255 }));
    const bytes = fc.array(byte, { maxLength: 200 }).map((values) => Buffer.from(values));
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.nat(400), { maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        (stream, cuts, maxLineBytes) => {
          expect(frame(splitAt(stream, cuts), { maxLineBytes })).toEqual(frame([stream], { maxLineBytes }));
        },
      ),
      { seed: SEED, numRuns: 2_000 },
    );
  });

  it("loses no byte and counts lines right", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(600), { maxLength: 20 }), (array, cuts) => {
        const stream = Buffer.from(array);
        const isBom = stream.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]));
        const expected = (isBom ? stream.subarray(3) : stream)
          .toString("latin1")
          .split("\n")
          .map((line) => line.replace(/\r$/, ""));
        const framed = frame(splitAt(stream, cuts), { keepBlankLines: true });
        // Nothing follows the last line end, so there is no line either.
        if (expected.at(-1) === "" && framed.lines.length < expected.length) expected.pop();
        expect(framed.lines.map((line) => line.toString("latin1"))).toEqual(expected);
      }),
      { seed: SEED, numRuns: 2_000 },
    );
  });

  it("gives the same lines as text, however the bytes are split: those that are UTF-8 and not long", () => {
    const long = "ü".repeat(LONG_LINE_BYTES / 2);
    const utf8 = ["ascii", "grüße", "日本 👩‍💻\r", long.slice(1), "\ufeff", "\u2028"];
    const notUtf8 = [Buffer.from([0x61, 0xff]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(long)];
    const lines = [...utf8, ...notUtf8, ...utf8].map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
    const stream = Buffer.concat(lines);
    for (const cuts of [[], [5], [7, 8], [9, 10, 11, 12, 13, 14], [300, stream.length - 9], [stream.length - 2]]) {
      const asText: string[] = [];
      const asBytes: Buffer[] = [];
      const framer = new LineFramer({
        onLine: (line) => asBytes.push(Buffer.from(line)),
        onTextLine: (line) => asText.push(line),
        onOversize: () => expect.unreachable(),
      });
      for (const chunk of splitAt(stream, cuts)) framer.push(chunk);
      framer.end();
      expect(asText).toEqual([...utf8, ...utf8].map((line) => line.replace(/\r$/, "")));
      expect(asBytes.map((line) => line.toString("hex"))).toEqual(notUtf8.map((line) => line.toString("hex")));
    }
  });
});
