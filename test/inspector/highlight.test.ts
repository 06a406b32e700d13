// Syntax colours as the worker makes them, in a worker's place.
import { afterEach, expect, it, vi } from "vitest";
import type { HighlightReply, HighlightRequest } from "../../inspector/src/ui/highlight-worker.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it("are right however slow the machine is", async () => {
  let ask: (event: { data: HighlightRequest }) => void = () => {};
  vi.stubGlobal("addEventListener", (_: string, listener: typeof ask) => {
    ask = listener;
  });
  const reply = new Promise<HighlightReply>((resolve) => vi.stubGlobal("self", { postMessage: resolve }));
  await import("../../inspector/src/ui/highlight-worker.ts");
  // A second passes with every look at the clock.
  let now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => {
    now += 1_000;
    return now;
  });
  ask({ data: { id: 1, code: 'const rest = lines.pop() ?? "";', language: "javascript", theme: "light" } });
  const { lines } = await reply;
  const colours = new Map(lines?.[0]?.map(([text, colour]) => [text.trim(), colour]));
  expect(colours.get("const")).toBeDefined();
  expect(colours.get('""')).toBeDefined();
  expect(colours.get('""')).not.toBe(colours.get("const"));
});
