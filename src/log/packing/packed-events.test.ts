import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EventText, eventJson, type Shape } from "../../schema/envelope.ts";
import { seedOf } from "../../test-seed.ts";
import { PackedEvents } from "./packed-events.ts";

const SEED = seedOf(20_261_116);

/** A few shapes, so that runs of one are met as well as changes. */
const shapes: Shape[] = [
  { before: '","type":"item.delta","data":{"delta":', after: '},"raw":null}' },
  { before: '","type":"x","native":"ü\\t\\n日本","data":', after: ',"raw":null}' },
];
const value = fc
  .oneof(fc.string({ unit: "binary" }), fc.constant("*2 [\n\t"), fc.string({ maxLength: 3000 }))
  .map((text) => JSON.stringify(text));
const anyText: fc.Arbitrary<EventText> = fc.oneof(
  value.map((json) => `{"whole":${json}}`),
  fc.record({
    head: fc.constantFrom("evt_a", "evt_b", "e"),
    counter: fc.constantFrom("", "0", "zz", "1234"),
    time: fc.constantFrom("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z"),
    shape: fc.constantFrom(...shapes),
    value,
  }),
);

function packed(texts: readonly EventText[], first: number): PackedEvents {
  const events = new PackedEvents(first);
  for (const text of texts) events.add(text);
  return events;
}

const linesOf = (texts: readonly EventText[], first: number): string =>
  texts.map((text, index) => `${first + index} ${eventJson(text, first + index)}\n`).join("");

const framed = (events: PackedEvents, first: number): string => events.framed(0, (index) => `${first + index} `, "\n").toString();

describe(`packed events (seed ${SEED})`, () => {
  it("keep no more memory than their bytes need, whatever room was made for them", () => {
    for (const count of [40, 200, 1_000]) {
      const events = packed(
        Array.from({ length: count }, (_, index) => ({
          head: "evt_a",
          counter: String(index),
          time: "2026-01-01T00:00:00.000Z",
          shape: shapes[0] as Shape,
          value: JSON.stringify("x".repeat(300)),
        })),
        1,
      );
      for (const bytes of [events.framed(0, (index) => `id: ${index}\ndata: `, "\n\n"), events.body()])
        expect(bytes.buffer.byteLength).toBeLessThanOrEqual(Math.max(bytes.length * 1.2, 16 * 1024));
    }
  });

  it("give back from the disk, to the byte, what went in", () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 1e9 }), (texts, first) => {
        const events = packed(texts, first);
        const expected = linesOf(texts, first);
        expect(framed(events, first)).toBe(expected);
        const again = PackedEvents.read(events.body(), first);
        expect(framed(again, first)).toBe(expected);
        expect(again.events()).toEqual(texts.map((text, index) => eventJson(text, first + index)));
        expect(framed(PackedEvents.read(again.body(), first), first)).toBe(expected);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it("read chunks of the first version, one event a line", () => {
    const lines = ['{"a":"ü"}', '{"b":"id: 3"}'];
    expect(framed(PackedEvents.read(Buffer.from(lines.join("\n")), 7), 7)).toBe(linesOf(lines, 7));
  });

  it("cost a delta little more than its text", () => {
    const delta = (counter: number): EventText => ({
      head: "evt_0123456789abcdef",
      counter: String(counter),
      time: "2026-01-01T00:00:00.000Z",
      shape: shapes[0] ?? { before: "", after: "" },
      value: '"word "',
    });
    const texts = Array.from({ length: 1000 }, (_, index) => delta(index));
    expect(packed(texts, 1).body().length).toBeLessThan(1000 * 16);
  });

  it("have any text around them, also without the first ones", () => {
    const events = packed(['{"n":"id: 2"}', '{"n":"ü"}', "{}"], 1);
    for (const each of [events, PackedEvents.read(events.body(), 1)]) {
      const after = (skip: number) => each.framed(skip, (index) => `id: 9.${index}\ndata: `, "\n\n").toString();
      const [one, two, three] = ['id: 9.0\ndata: {"n":"id: 2"}\n\n', 'id: 9.1\ndata: {"n":"ü"}\n\n', "id: 9.2\ndata: {}\n\n"];
      expect([0, 1, 2, 3].map(after)).toEqual([`${one}${two}${three}`, `${two}${three}`, three, ""]);
    }
  });
});
