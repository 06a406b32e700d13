import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { Output } from "./output.ts";
import { sizeText, withProgress } from "./progress.ts";

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(1_500_000);
  yield Buffer.alloc(500_000);
}

async function shown(isTTY: boolean, total?: number): Promise<{ text: string; bytes: number }> {
  const device = Object.assign(new PassThrough(), { isTTY });
  let bytes = 0;
  for await (const chunk of withProgress(chunks(), { output: new Output(device), what: "sending x:", total }))
    bytes += chunk.length;
  return { text: (device.read() as Buffer | null)?.toString("utf8") ?? "", bytes };
}

it("shows on a terminal how far it is, and passes everything on", async () => {
  const { text, bytes } = await shown(true, 3_000_000);
  expect(bytes).toBe(2_000_000);
  expect(text).toContain("sending x: 1.5 MB of 3.0 MB (50 %)");
  expect(text).toContain("sending x: 2.0 MB sent");
  expect((await shown(true)).text).toContain("sending x: 1.5 MB\r");
});

it("shows nothing without a terminal", async () => {
  expect(await shown(false, 3_000_000)).toEqual({ text: "", bytes: 2_000_000 });
});

it("writes sizes as people do", () => {
  expect([0, 999, 1_000, 12_345, 999_999, 250_000_000, 5e12].map(sizeText)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "12.3 kB",
    "1000 kB",
    "250 MB",
    "5.0 TB",
  ]);
});
