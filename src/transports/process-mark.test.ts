import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findMarked, formatMark, instanceId, newMark, PROCESS_MARK_VARIABLE, parseMark, readMark } from "./process-mark.ts";
import { ProcessRegistry } from "./reaper.ts";
import { endStrays, noteStrays, startNode } from "./test-processes.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "process-mark-"));
});
afterEach(() => {
  endStrays();
  rmSync(dir, { recursive: true, force: true });
});

describe("the mark of a process", () => {
  it("is inherited through setsid and a double fork, and told from the marks of other records", async () => {
    const recorder = new ProcessRegistry(dir);
    const script = `
      const { execFileSync } = require("node:child_process");
      const pid = execFileSync("setsid", ["sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!"]).toString().trim();
      console.log("orphan " + pid);
      process.stdin.resume();`;
    const [one, other] = [startNode(script, { recorder }), startNode(script, { recorder })];
    const [orphan, strange] = await Promise.all([one, other].map(async ({ said }) => Number((await said(/orphan (\d+)/))[1])));
    noteStrays(orphan ?? 0, strange ?? 0);
    const mark = readMark(one.child.pid ?? 0);
    expect(mark?.instance).toBe(instanceId(dir));
    expect(readMark(orphan ?? 0)).toEqual(mark);
    expect(new Set(findMarked(mark?.record ?? ""))).toEqual(new Set([one.child.pid, orphan]));
    await Promise.all([one.child.stop(1_000), other.child.stop(1_000)]);
  });

  it("is null for a process without one, and for no process", () => {
    expect(readMark(1)).toBeNull();
    expect(readMark(999_999_999)).toBeNull();
    expect(findMarked(newMark("0".repeat(32)).record)).toEqual([]);
  });

  it("is read back as it was written, and nothing else is taken for one", () => {
    const mark = newMark(instanceId(dir));
    expect(parseMark(formatMark(mark))).toEqual(mark);
    for (const text of ["", ":", "a:b", `${formatMark(mark)}:x`, formatMark(mark).toUpperCase()])
      expect(parseMark(text)).toBeNull();
  });

  it("is found among other variables, whatever they hold", async () => {
    const recorder = new ProcessRegistry(dir);
    const env = {
      PATH: process.env.PATH,
      X: `${PROCESS_MARK_VARIABLE}=${formatMark(newMark(instanceId(dir)))}`,
      LONG: "l".repeat(100_000),
    };
    const { child, said } = startNode(`console.log(process.env.${PROCESS_MARK_VARIABLE}); process.stdin.resume();`, {
      recorder,
      env,
    });
    // While a program is being replaced by another one, its environment cannot be read.
    const [text] = await said(/\S+/);
    expect(readMark(child.pid ?? 0)).toEqual(parseMark(text));
    await child.stop(1_000);
  });
});

describe("the id of the data directory", () => {
  it("stays the same, is private, and is made anew when the file is damaged", () => {
    const id = instanceId(dir);
    expect(instanceId(dir)).toBe(id);
    expect(statSync(join(dir, "instance")).mode & 0o777).toBe(0o600);
    writeFileSync(join(dir, "instance"), "damaged");
    const next = instanceId(dir);
    expect(next).not.toBe(id);
    expect(readFileSync(join(dir, "instance"), "latin1").trim()).toBe(next);
  });
});
