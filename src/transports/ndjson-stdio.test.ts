import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import type { ExitInfo } from "./agent-process.ts";
import { NdjsonChannel, openNdjsonStdio } from "./ndjson-stdio.ts";

const SEED = seedOf(20_260_402);

type Seen = ["message", unknown] | ["garbage", string] | ["oversize", number];

function channel(maxLineBytes?: number): { seen: Seen[]; written: Buffer[]; raw: Buffer[]; channel: NdjsonChannel } {
  const seen: Seen[] = [];
  const written: Buffer[] = [];
  const raw: Buffer[] = [];
  const made = new NdjsonChannel({
    ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
    onMessage: (message) => {
      raw.push(Buffer.from(message.raw));
      seen.push(["message", message.value]);
    },
    onGarbage: (garbage) => {
      raw.push(garbage.raw);
      seen.push(["garbage", garbage.raw.toString()]);
    },
    onOversize: ({ bytes }) => seen.push(["oversize", bytes]),
    write: (line) => written.push(line) > 0,
  });
  return { seen, written, raw, channel: made };
}

describe("NdjsonChannel", () => {
  it("tells messages, garbage and oversize lines apart and goes on", () => {
    const { seen, channel: c } = channel(20);
    c.feed(Buffer.from('{"a":1}\nDebugger attached.\n"much too long for this channel"\n0\nnull\n{"cut":'));
    c.end();
    expect(seen).toEqual([
      ["message", { a: 1 }],
      ["garbage", "Debugger attached."],
      ["oversize", 32],
      ["message", 0],
      ["message", null],
      ["garbage", '{"cut":'],
    ]);
  });

  it("takes JSON that is nested too deeply for anybody to walk over for garbage, and goes on", () => {
    const { seen, channel: c } = channel();
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    c.feed(Buffer.from(`${deep}\n{"a":1}\n`));
    expect(seen).toEqual([
      ["garbage", deep],
      ["message", { a: 1 }],
    ]);
  });

  it("keeps a line that is no UTF-8 as its bytes, message or garbage, and every other one as text", () => {
    const invalid = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const raws: (Buffer | string)[] = [];
    const c = new NdjsonChannel({
      onMessage: ({ raw }) => raws.push(raw),
      onGarbage: ({ raw }) => raws.push(raw),
      onOversize: () => {},
      write: () => true,
    });
    c.feed(Buffer.concat([Buffer.from('{"a":"日本"}\n"ascii"\ngrüße\n'), invalid, Buffer.from("\n")]));
    expect(raws).toEqual(['{"a":"日本"}', '"ascii"', Buffer.from("grüße"), invalid]);
  });

  it("sends one line and returns its exact bytes", () => {
    const { written, channel: c } = channel();
    const value = { text: "a\nb\u2028c\u2029d\u0085e 💥" };
    const raw = c.send(value);
    expect(written).toHaveLength(1);
    expect(written[0]?.equals(Buffer.concat([raw, Buffer.from("\n")]))).toBe(true);
    expect(raw.toString()).not.toMatch(/[\n\u0085\u2028\u2029]/);
    expect(JSON.parse(raw.toString())).toEqual(value);
  });

  it("refuses what JSON cannot say", () => {
    const { written, channel: c } = channel();
    expect(() => c.send(undefined)).toThrow(TypeError);
    expect(() => c.send(1n)).toThrow(TypeError);
    expect(written).toEqual([]);
  });

  it("never throws on random bytes, and every line comes out once", () => {
    const noise = fc
      .uint8Array({ maxLength: 60 })
      .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10 && byte !== 13)));
    const message = fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)));
    const line = fc.oneof(noise, message).filter((bytes) => bytes.length > 0 && bytes[0] !== 0xef);
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        (lines, sizes) => {
          const { raw, channel: c } = channel();
          const stream = Buffer.concat(lines.flatMap((bytes) => [bytes, Buffer.from("\n")]));
          for (let at = 0, i = 0; at < stream.length; i++) {
            const size = sizes[i % sizes.length] ?? 1;
            c.feed(stream.subarray(at, at + size));
            at += size;
          }
          c.end();
          expect(raw.map((bytes) => bytes.toString("hex"))).toEqual(lines.map((bytes) => bytes.toString("hex")));
        },
      ),
      { seed: SEED, numRuns: 1_000 },
    );
  });

  it("returns every JSON value as it was sent", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const sender = channel();
        const receiver = channel();
        sender.channel.send(value);
        for (const line of sender.written) receiver.channel.feed(line);
        expect(receiver.seen).toEqual([["message", JSON.parse(JSON.stringify(value))]]);
      }),
      { seed: SEED, numRuns: 500 },
    );
  });
});

describe("openNdjsonStdio", () => {
  it("talks with a real process and delivers its unfinished last line before its exit", async () => {
    const script = `
      process.stdout.write("\\ufeffnot json\\r\\n");
      process.stdin.once("data", (line) => {
        process.stdout.write(JSON.stringify({ echo: JSON.parse(line) }) + "\\r\\n" + '{"unfinished":true}', () => process.exit(0));
      });`;
    const order: unknown[] = [];
    const exit = await new Promise<ExitInfo>((resolve) => {
      const stdio = openNdjsonStdio({
        command: process.execPath,
        args: ["-e", script],
        onMessage: ({ value }) => order.push(value),
        onGarbage: ({ raw }) => {
          order.push(raw.toString());
          stdio.send({ say: "grüße" });
        },
        onOversize: () => order.push("oversize"),
        onSpawnError: (error) => order.push(error),
        onExit: resolve,
      });
    });
    expect(exit.code).toBe(0);
    expect(order).toEqual(["not json", { echo: { say: "grüße" } }, { unfinished: true }]);
  });
});
