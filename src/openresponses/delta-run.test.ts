import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeltaRun } from "./delta-run.ts";
import { Annotator, type ReceivedEvent } from "./provider-event.ts";
import { type ReadBlock, SseReader } from "./sse-reader.ts";
import { block } from "./test-endpoint.ts";

const place = { item_id: "m", output_index: 0, content_index: 0 };
const item = { type: "message", id: "m", role: "assistant", status: "in_progress", content: [] };
const part = { type: "output_text", text: "", annotations: [] };
const BEFORE = [
  block({ type: "response.created", sequence_number: 0, response: { id: "r", status: "in_progress" } }),
  block({ type: "response.output_item.added", sequence_number: 1, output_index: 0, item }),
  block({ type: "response.content_part.added", sequence_number: 2, ...place, part }),
];
const deltaEvent = (sequence_number: number, delta: string, more: object = {}): object => ({
  ...{ type: "response.output_text.delta", sequence_number, ...place, delta, logprobs: [], ...more },
});
const piece = (sequence_number: number, delta: string, more: object = {}): string =>
  block(deltaEvent(sequence_number, delta, more));

type Read = { readonly pieces: string[]; readonly events: ReceivedEvent[]; readonly adds: (text: string) => boolean };

/** Reads a stream as the client does, with or without looking for repeated pieces. */
function read(stream: string, looking: boolean): Read {
  const blocks: ReadBlock[] = [];
  const reader = new SseReader({ maxBlockBytes: 1_000_000, onBlock: (one) => blocks.push(one) });
  reader.push(Buffer.from(stream));
  const annotator = new Annotator();
  const run = new DeltaRun(annotator.stream);
  const pieces: string[] = [];
  const events: ReceivedEvent[] = [];
  for (const one of blocks) {
    const delta = looking ? run.next(one) : null;
    if (delta !== null) {
      pieces.push(delta);
      continue;
    }
    const event = annotator.annotate(one);
    if (looking) run.learn(one, event);
    if (event !== null) events.push(event);
  }
  return { pieces, events, adds: (text) => addsUp(annotator, text) };
}

/** Whether the machine has this text: it says so when the text is done. */
function addsUp(annotator: Annotator, text: string): boolean {
  const data = JSON.stringify({ type: "response.output_text.done", sequence_number: 1e9, ...place, text, logprobs: [] });
  const event = { bytes: Buffer.alloc(0), id: null, comments: [], oversize: null, data, event: "response.output_text.done" };
  return !annotator.annotate(event)?.errors.some((error) => error.includes("[OR6]"));
}

/** Both ways, and what the first one missed. */
function compare(stream: string): Read {
  const [quick, slow] = [read(stream, true), read(stream, false)];
  const texts = slow.events.flatMap(({ data }) =>
    data?.type === "response.output_text.delta" && data.output_index === 0 && data.content_index === 0 ? [data.delta] : [],
  );
  const whole = texts.filter((text) => typeof text === "string").join("");
  expect([slow.adds(whole), quick.adds(whole), quick.adds(`${whole}x`)]).toEqual([true, true, false]);
  expect(quick.events.length + quick.pieces.length).toBe(slow.events.length);
  const faults = (events: readonly ReceivedEvent[]): string[] => events.flatMap(({ errors }) => errors);
  expect(faults(quick.events)).toEqual(faults(slow.events));
  return quick;
}

describe("pieces of a text", () => {
  it("are not read again as long as only their text and their number differ", () => {
    const texts = ['he said "x"', "\\", "\n", "", "🐉", "\ud83d", "a\u2028b", "end"];
    const { pieces, events } = compare([...BEFORE, ...texts.map((text, at) => piece(at + 3, text))].join(""));
    expect(pieces).toEqual(texts.slice(1));
    expect(events).toHaveLength(BEFORE.length + 1);
    expect(events.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it("may be filled up to one length, and may be written with spaces", () => {
    const filled = ["a", "bc", "d"].map((text, at) => piece(at + 3, text, { obfuscation: "x".repeat(at) }));
    expect(read([...BEFORE, ...filled].join(""), true).pieces).toEqual(["bc", "d"]);
    const spaced = ["a", "b", "c"].map((text, at) =>
      piece(at + 3, text)
        .replace('"delta":', '"delta": ')
        .replace('"sequence_number":', '"sequence_number": '),
    );
    expect(read([...BEFORE, ...spaced].join(""), true).pieces).toEqual(["b", "c"]);
  });

  const first = piece(3, "one");
  it.each([
    ["another item", piece(4, "two", { item_id: "other", output_index: 1 })],
    ["a number that does not grow", piece(3, "two")],
    ["a number that is none", piece(4, "two").replace(":4,", ":4.5,")],
    ["a number with a zero before it", piece(4, "two").replace(":4,", ":04,")],
    ["another name", piece(4, "two").replace("event: response.output_text", "event: response.refusal")],
    ["another type", block({ type: "response.refusal.delta", sequence_number: 4, ...place, delta: "two" })],
    ["a field more", piece(4, "two", { more: 1 })],
    ["a field twice", piece(4, "two").replace('"delta":"two"', '"delta":"two","delta":"three"')],
    ["a text that is none", piece(4, "two").replace('"two"', "2")],
    ["a text that JSON does not allow", piece(4, "two").replace('"two"', '"t\two"')],
    ["an escape that JSON does not know", piece(4, "two").replace('"two"', '"t\\wo"')],
    ["a text without its end", piece(4, "two").replace('"two"', '"two')],
    ["something behind it", piece(4, "two").replace(/\}\n\n$/, "} \n\n")],
    ["a replacement character", piece(4, "t\ufffdo")],
    ["other line ends", piece(4, "two").replaceAll("\n", "\r\n")],
    ["a comment in it", piece(4, "two").replace("data:", ": hello\ndata:")],
  ])("with %s are events like any other", (_what, other) => {
    const { pieces, events } = compare([...BEFORE, first, other, piece(5, "three")].join(""));
    expect(pieces.filter((text) => text !== "three")).toEqual([]);
    expect(events.length).toBeGreaterThanOrEqual(BEFORE.length + 2);
  });

  it("of a stream that breaks a rule keep their errors", () => {
    const outside = [3, 4, 5].map((number) => piece(number, "x", { content_index: 7 }));
    const { pieces, events } = read([...BEFORE, ...outside].join(""), true);
    expect(pieces).toEqual([]);
    expect(events.filter(({ errors }) => errors.some((error) => error.includes("[OR4]")))).toHaveLength(3);
  });

  it("add up to the same, whatever they are and whatever stands between them", () => {
    const characters = fc.constantFrom("a", '"', "\\", "\n", "\0", "é", "🐉", "\ud83d", "\udc09", "\ufffd", "{", ":");
    const text = fc.array(characters, { maxLength: 8 }).map((list) => list.join(""));
    const step = fc.record({ text, other: fc.nat(9), skip: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let number = 4;
        const blocks = steps.map(({ text, other, skip }) => {
          number += skip;
          if (other === 0) return ": comment\n\n";
          return piece(number, text, other === 1 ? { content_index: 1 } : {});
        });
        compare([...BEFORE, piece(3, "begin"), ...blocks].join(""));
      }),
      { numRuns: 200 },
    );
  });
});
