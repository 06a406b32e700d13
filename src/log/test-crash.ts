/** A process that writes to a log and is killed, and what must be there afterwards. Test helper. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import type { Log } from "./contract.ts";
import { numbers, readAll } from "./log.suite.ts";
import { crashEvent, openAt } from "./sqlite/crash-child.ts";
import { runModule } from "./sqlite/run-module.ts";

export type CrashOptions = {
  place: string;
  seed: number;
  /** Killed when it has said so many things. */
  lines: number;
  /** See `appendUntilKilled`. */
  sync?: number;
  /** Before it is killed: whatever else dies. */
  onKill?(): Promise<void>;
};

/** Returns the highest sequence it reported for each stream. What it says when the rest is dead counts, too. */
export async function crash({ place, seed, lines, sync, onKill }: CrashOptions): Promise<Map<string, number>> {
  const given = sync === undefined ? [place, seed] : [place, seed, sync];
  const child = runModule(new URL("./sqlite/crash-child.ts", import.meta.url), "appendUntilKilled", given);
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
    if (--left > 0 || child.killed) continue;
    await onKill?.();
    child.kill("SIGKILL");
  }
  const [code, signal] = await exited;
  expect({ code, signal, stderr }).toMatchObject({ code: null, signal: "SIGKILL" });
  return told;
}

/** Everything that was told is there, nothing twice, no gap. How many events there are. */
export async function holdsAll(place: string, told: ReadonlyMap<string, number>): Promise<number> {
  const log = await openAt(place);
  let events = 0;
  for (const id of ["a", "b", "c"]) {
    await verify(log, id, told.get(id) ?? 0);
    events += (await log.stream("session", id))?.lastCommitted ?? 0;
  }
  expect((await readAll(log)).length).toBe(events);
  await log.close();
  return events;
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
  const { messages } = await stream.readNative({ after: Math.max(0, stream.last - 1) });
  expect(messages.map((row) => row.body.toString())).toEqual(events.slice(-1));
  expect((await stream.coverage()).map((row) => row.count)).toEqual(stream.last === 0 ? [] : [stream.last]);
}
