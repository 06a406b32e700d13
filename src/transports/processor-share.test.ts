import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { levelFor, ProcessorShares } from "./processor-share.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const sleeper = async (detached: boolean): Promise<number> => {
  const child = spawn("sleep", ["600"], { detached, stdio: "ignore" });
  children.push(child);
  await once(child, "spawn");
  return child.pid!;
};

const autogroup = (pid: number | "self"): string => {
  try {
    return readFileSync(`/proc/${pid}/autogroup`, "utf8");
  } catch {
    return "";
  }
};
const niceOf = (pid: number): number => Number(/ nice (-?\d+)/.exec(autogroup(pid))?.[1]);

describe("the level for a number of agents", () => {
  it("is 0 as long as they are few, and then keeps their sum about where it was", () => {
    const weight = (level: number): number => 1.25 ** -level;
    for (const agents of [1, 4, 8]) expect(levelFor(agents, 8)).toBe(0);
    for (const agents of [9, 16, 40, 100, 300]) {
      expect(agents * weight(levelFor(agents, 8))).toBeLessThanOrEqual(9);
      expect(agents * weight(levelFor(agents, 8) - 1)).toBeGreaterThan(7.5);
    }
    expect(levelFor(1_000_000, 8)).toBe(19);
  });
});

describe.skipIf(!autogroup("self").includes(" nice "))("shares of sessions on Linux", () => {
  it("become smaller for all when there are many, and whole again when they are gone", async () => {
    const shares = new ProcessorShares(1);
    const pids = await Promise.all([1, 2, 3, 4].map(() => sleeper(true)));
    for (const pid of pids) shares.add(pid);
    await expect.poll(() => pids.map(niceOf), { timeout: 60_000 }).toEqual([6, 6, 6, 6]);
    for (const pid of pids.slice(1)) shares.remove(pid);
    await expect.poll(() => niceOf(pids[0]!), { timeout: 60_000 }).toBe(0);
  });

  it("leave a process alone that is in our own session", async () => {
    const shares = new ProcessorShares(1);
    const [own, other] = [await sleeper(false), await sleeper(true)];
    const before = autogroup("self");
    shares.add(own);
    shares.add(other);
    shares.add(await sleeper(true));
    await expect.poll(() => niceOf(other), { timeout: 60_000 }).toBe(3);
    expect(autogroup("self")).toBe(before);
  });
});
