import { randomBytes } from "node:crypto";
import { existsSync, utimesSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { makeCgroup, removeCgroup, sweepCgroups } from "./cgroup.ts";

const made: string[] = [];
const group = (): string | null => {
  const path = makeCgroup(randomBytes(16).toString("hex"));
  if (path !== null) made.push(path);
  return path;
};
afterEach(() => {
  for (const path of made.splice(0)) removeCgroup(path);
});

const works = group() !== null;

describe.runIf(works)("what a daemon that starts finds of control groups", () => {
  it("[S6] is removed when it was left, and not when another daemon has just made it for a process to enter", () => {
    const [left = "", newborn = ""] = [group() ?? "", group() ?? ""];
    const earlier = Date.now() / 1000 - 3600;
    utimesSync(left, earlier, earlier);
    sweepCgroups();
    expect([left, newborn].map((path) => existsSync(path))).toEqual([false, true]);
  });
});
