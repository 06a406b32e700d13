import { expect, it } from "vitest";
import { Probes } from "./probes.ts";

const limits = { running: 2, waiting: 2, timeout_ms: 60_000, fresh_ms: 1_000 };

/** Work that ends when it is asked to. */
function work() {
  const started: (() => void)[] = [];
  return { started, run: () => new Promise<string>((resolve) => started.push(() => resolve("answer"))) };
}

it("[T5] many askers of one question start it once, and the answer is kept for a while", async () => {
  let now = 0;
  let runs = 0;
  const probes = new Probes(limits, () => now);
  const ask = () => probes.ask("claude /repo", async () => ++runs);
  expect(await Promise.all(Array.from({ length: 12 }, ask))).toEqual(Array.from({ length: 12 }, () => 1));
  now = 999;
  expect(await ask()).toBe(1);
  now = 1_000;
  expect(await ask()).toBe(2);
  probes.forget("claude ");
  expect(await ask()).toBe(3);
});

it("[T5] two run at a time, some wait, the rest are refused", async () => {
  const probes = new Probes(limits);
  const { started, run } = work();
  const asked = ["a", "b", "c", "d"].map((key) => probes.ask(key, run));
  await expect(probes.ask("e", run)).rejects.toMatchObject({ code: "not_ready" });
  expect(started).toHaveLength(2);
  started[0]?.();
  await asked[0];
  expect(started).toHaveLength(3);
  started[1]?.();
  started[2]?.();
  await Promise.all(asked.slice(0, 3));
  started[3]?.();
  expect(await asked[3]).toBe("answer");
});

it("[T5] a failure is not kept", async () => {
  const probes = new Probes(limits);
  await expect(probes.ask("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await probes.ask("a", async () => "yes")).toBe("yes");
});
