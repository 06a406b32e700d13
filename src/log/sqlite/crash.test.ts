import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { seedOf } from "../../test-seed.ts";
import { crashEvent, random } from "./crash-child.ts";
import { type Log, openSqliteLog } from "./log.ts";
import { numbers } from "../log.suite.ts";
import { runModule } from "./run-module.ts";

const SEED = seedOf(20_260_101);
const ROUNDS = 6;
const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** Lets it work until it has told `lines` things, then kills it. Returns the highest sequence it told per stream. */
async function crash(dir: string, seed: number, lines: number): Promise<Map<string, number>> {
  const child = runModule(new URL("./crash-child.ts", import.meta.url), "appendUntilKilled", [dir, seed]);
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr?.on("data", (data) => {
    stderr += data;
  });
  const told = new Map<string, number>();
  let left = lines;
  for await (const line of createInterface({ input: child.stdout! })) {
    const [id, sequence] = line.split(" ");
    if (id !== undefined && sequence !== undefined) told.set(id, Math.max(told.get(id) ?? 0, Number(sequence)));
    if (--left === 0) child.kill("SIGKILL");
  }
  const [code, signal] = await exited;
  expect({ code, signal, stderr }).toMatchObject({ code: null, signal: "SIGKILL" });
  return told;
}

function verify(log: Log, id: string, told: number): void {
  const stream = log.stream("session", id);
  expect(stream?.last ?? 0).toBeGreaterThanOrEqual(told);
  if (stream === undefined) return;
  const events: string[] = [];
  for (let after = 0; ; ) {
    const page = stream.read({ after });
    events.push(...page.events);
    after = page.next;
    if (!page.has_more) break;
  }
  const wrong = numbers(1, stream.last).find((sequence) => events[sequence - 1] !== crashEvent(id, sequence));
  expect([events.length, wrong]).toEqual([stream.last, undefined]);
  expect(stream.lastNative).toBe(stream.last);
  expect(stream.readNative({ after: stream.last - 1 }).messages.map((row) => row.body.toString())).toEqual(events.slice(-1));
  expect(stream.coverage().map((row) => row.count)).toEqual(stream.last === 0 ? [] : [stream.last]);
}

describe("kill -9", () => {
  it(`loses nothing that was told, repeats nothing, leaves no gap (seed ${SEED})`, async () => {
    const dir = mkdtempSync(join(tmpdir(), "dragoman-crash-"));
    dirs.push(dir);
    const next = random(SEED);
    for (let round = 0; round < ROUNDS; round++) {
      const told = await crash(dir, Math.floor(next() * 2 ** 31), 1 + Math.floor(next() * 150));
      const log = await openSqliteLog({ dataDir: dir });
      for (const id of ["a", "b", "c"]) verify(log, id, told.get(id) ?? 0);
      const all = log.readGlobal({ limit: 1_000_000 }).events;
      expect(all.length).toBe(["a", "b", "c"].reduce((sum, id) => sum + (log.stream("session", id)?.last ?? 0), 0));
      await log.close();
    }
  }, 120_000);
});
