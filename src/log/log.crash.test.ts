// DRAGOMAN_LOG_CRASH_ROUNDS sets the number of kills, DRAGOMAN_SEED the seed.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import type { Log } from "./contract.ts";
import { numbers, readAll } from "./log.suite.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./postgres/test-postgres.ts";
import { crashEvent, openAt, random } from "./sqlite/crash-child.ts";
import { runModule } from "./sqlite/run-module.ts";

const SEED = seedOf(20_260_101);
const ROUNDS = Number(process.env.DRAGOMAN_LOG_CRASH_ROUNDS ?? 6);
/** Each round reads everything there is, so a log is left for a new one before it is long. */
const ROUNDS_OF_ONE_LOG = 25;
const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** Lets it work until it has reported `lines` things, then kills it. Returns the highest sequence it reported per stream. */
async function crash(place: string, seed: number, lines: number): Promise<Map<string, number>> {
  const child = runModule(new URL("./sqlite/crash-child.ts", import.meta.url), "appendUntilKilled", [place, seed]);
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

async function verify(log: Log, id: string, told: number): Promise<void> {
  const stream = await log.writer("session", id);
  expect(stream?.last ?? 0).toBeGreaterThanOrEqual(told);
  if (stream === undefined) return;
  const events: string[] = [];
  for (let after = 0; ; ) {
    const page = await stream.read({ after });
    events.push(...page.events);
    after = page.next;
    if (!page.has_more) break;
  }
  const wrong = numbers(1, stream.last).find((sequence) => events[sequence - 1] !== crashEvent(id, sequence));
  expect([events.length, wrong]).toEqual([stream.last, undefined]);
  expect(stream.lastNative).toBe(stream.last);
  const { messages } = await stream.readNative({ after: stream.last - 1 });
  expect(messages.map((row) => row.body.toString())).toEqual(events.slice(-1));
  expect((await stream.coverage()).map((row) => row.count)).toEqual(stream.last === 0 ? [] : [stream.last]);
}

/** `newPlace`: where a log is that nobody has used. */
function survives(newPlace: () => string, rounds: number): void {
  it(
    `loses nothing that was told, repeats nothing, leaves no gap (${rounds} rounds, seed ${SEED})`,
    async () => {
      const next = random(SEED);
      let place = "";
      for (let round = 0; round < rounds; round++) {
        if (round % ROUNDS_OF_ONE_LOG === 0) place = newPlace();
        const told = await crash(place, Math.floor(next() * 2 ** 31), 1 + Math.floor(next() * 150));
        const log = await openAt(place);
        let events = 0;
        for (const id of ["a", "b", "c"]) {
          await verify(log, id, told.get(id) ?? 0);
          events += (await log.stream("session", id))?.lastCommitted ?? 0;
        }
        expect((await readAll(log)).length).toBe(events);
        await log.close();
      }
    },
    120_000 + rounds * 10_000,
  );
}

describe("kill -9 of who writes to SQLite", () => {
  survives(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
    const dir = mkdtempSync(join(tmpdir(), "dragoman-crash-"));
    dirs.push(dir);
    return dir;
  }, ROUNDS);
});

describe.skipIf(withoutPostgres())("kill -9 of who writes to Postgres", () => {
  let server: TestPostgres;
  let logs = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  survives(() => `${server.url}#log${++logs}`, Math.ceil(ROUNDS / 2));
});
