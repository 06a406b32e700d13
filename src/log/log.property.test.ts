// DRAGOMAN_LOG_FUZZ is how many times the usual number of runs is made, DRAGOMAN_SEED the seed.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import type { Log, StreamWriter, Subscription } from "./contract.ts";
import { readAll } from "./log.suite.ts";
import { openMemoryLog } from "./memory/log.ts";
import { openPostgresLog } from "./postgres/log.ts";
import { startPostgres, withoutPostgres } from "./postgres/test-postgres.ts";
import { openSqliteLog } from "./sqlite/log.ts";

const SEED = seedOf(4_711);
const FACTOR = Number(process.env.DRAGOMAN_LOG_FUZZ ?? 1);
const TYPES = ["item.delta", "item.completed", "turn.started"];
const IDS = ["a", "b"];

type Follower = { id: string; after: number; got: string[]; stopEvery: number; calls: number; subscription: Subscription };

/** The log as it should be: plain arrays. */
class Model {
  readonly appended = new Map<string, { json: string; type: string }[]>(IDS.map((id) => [id, []]));
  readonly followers: Follower[] = [];
  log: Log;
  readonly #streams = new Map<string, StreamWriter>();
  readonly #again: (log: Log) => Promise<Log>;

  /** `again`: closes the log and opens the same data. */
  constructor(log: Log, again: (log: Log) => Promise<Log>) {
    this.log = log;
    this.#again = again;
  }

  async create(): Promise<void> {
    for (const id of IDS) this.#streams.set(id, await this.log.create("session", id, "{}"));
  }

  stream(id: string): StreamWriter {
    return this.#streams.get(id)!;
  }

  append(id: string, count: number, type: string, width: number): void {
    const events = this.appended.get(id)!;
    for (let done = 0; done < count; done++) {
      const sequence = events.length + 1;
      const json = JSON.stringify({ id, sequence, pad: "ü".repeat(width) });
      this.stream(id).append({ text: json, sequence, type, native: null });
      events.push({ json, type });
    }
  }

  follow(id: string, start: number, stopEvery: number): void {
    const after = Math.min(start, this.stream(id).lastCommitted);
    const follower: Omit<Follower, "subscription"> = { id, after, got: [], stopEvery, calls: 0 };
    const subscription = this.stream(id).subscribe({
      after,
      onBatch: (batch) => {
        follower.got.push(...batch.events);
        follower.calls++;
        return follower.calls % stopEvery !== 0;
      },
    });
    this.followers.push(Object.assign(follower, { subscription }));
  }

  async read(
    id: string,
    options: { after: number; span: number; limit: number; reverse: boolean; type: string | null },
  ): Promise<void> {
    const stream = this.stream(id);
    const { after, limit, reverse, type } = options;
    const before = after + options.span;
    const page = await stream.read({ after, before, limit, reverse, ...(type === null ? {} : { types: [type] }) });
    const visible = this.appended.get(id)!.slice(0, page.last);
    const wanted = visible
      .map((event, index) => ({ ...event, sequence: index + 1 }))
      .filter((event) => event.sequence > after && event.sequence < before && (type === null || event.type === type));
    if (reverse) wanted.reverse();
    expect(page.events).toEqual(wanted.slice(0, limit).map((event) => event.json));
    expect(page.sequences).toEqual(wanted.slice(0, limit).map((event) => event.sequence));
    if (wanted.length > limit) expect(page.has_more).toBe(true);
  }

  async reopen(): Promise<void> {
    this.settleFollowers();
    await this.stream("a").committed();
    this.log = await this.#again(this.log);
    for (const id of IDS) this.#streams.set(id, (await this.log.writer("session", id))!);
    for (const id of IDS) expect(this.stream(id).last).toBe(this.appended.get(id)!.length);
  }

  /** What a follower has is always a gapless beginning of what it should get. */
  settleFollowers(): void {
    for (const { id, after, got, subscription } of this.followers.splice(0)) {
      subscription.close();
      expect(got).toEqual(
        this.appended
          .get(id)!
          .slice(after, after + got.length)
          .map((event) => event.json),
      );
    }
  }

  async finish(): Promise<void> {
    for (const id of IDS) await this.stream(id).committed();
    for (const follower of this.followers) {
      while (follower.got.length < this.stream(follower.id).last - follower.after) {
        follower.subscription.resume();
        await new Promise(setImmediate);
      }
      expect(follower.got.length).toBe(this.stream(follower.id).last - follower.after);
    }
    this.settleFollowers();
    const all = await readAll(this.log);
    for (const id of IDS) {
      expect(all.filter((entry) => entry.stream_id === id).map((entry) => entry.json)).toEqual(
        this.appended.get(id)!.map((event) => event.json),
      );
    }
  }
}

const id = fc.constantFrom(...IDS);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      id,
      count: fc.integer({ min: 1, max: 40 }),
      type: fc.constantFrom(...TYPES),
      width: fc.nat(20),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      id,
      count: fc.constant(1100),
      type: fc.constantFrom(...TYPES),
      width: fc.constant(1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      id,
      count: fc.constant(3),
      type: fc.constantFrom(...TYPES),
      width: fc.constant(300_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("follow" as const),
      id,
      start: fc.nat(2000),
      stopEvery: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      id,
      after: fc.nat(2000),
      span: fc.nat(1500),
      limit: fc.integer({ min: 1, max: 300 }),
      reverse: fc.boolean(),
      type: fc.option(fc.constantFrom(...TYPES)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("resume" as const), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("commit" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("tick" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function perform(model: Model, action: Step): Promise<void> {
  switch (action.do) {
    case "append":
      return model.append(action.id, action.count, action.type, action.width);
    case "follow":
      return model.follow(action.id, action.start, action.stopEvery);
    case "read":
      return model.read(action.id, action);
    case "resume":
      return model.followers[action.which]?.subscription.resume();
    case "commit":
      return model.stream("a").committed();
    case "tick":
      return new Promise((resolve) => setImmediate(resolve));
    case "reopen":
      return model.reopen();
    default:
      return action satisfies never;
  }
}

async function check(steps: Step[], log: Log, again: (log: Log) => Promise<Log>): Promise<void> {
  const model = new Model(log, again);
  try {
    await model.create();
    for (const action of steps) await perform(model, action);
    await model.finish();
  } finally {
    await model.log.close();
  }
}

describe("the log against plain arrays", () => {
  const runs = (numRuns: number) => ({ seed: SEED, numRuns: numRuns * FACTOR });
  const steps = fc.array(step, { minLength: 5, maxLength: 40 });

  it(
    `agrees after any sequence of steps, in SQLite (seed ${SEED})`,
    async () => {
      const onDisk = async (some: Step[]): Promise<void> => {
        const dataDir = mkdtempSync(join(tmpdir(), "dragoman-property-"));
        try {
          await check(some, await openSqliteLog({ dataDir }), async (log) => {
            await log.close();
            return openSqliteLog({ dataDir });
          });
        } finally {
          rmSync(dataDir, { recursive: true, force: true });
        }
      };
      await fc.assert(fc.asyncProperty(steps, onDisk), runs(60));
    },
    120_000 * FACTOR,
  );

  it(
    `agrees after any sequence of steps, in memory (seed ${SEED})`,
    async () => {
      const inMemory = async (some: Step[]): Promise<void> => check(some, await openMemoryLog(), async (log) => log);
      await fc.assert(fc.asyncProperty(steps, inMemory), runs(200));
    },
    120_000 * FACTOR,
  );

  it.skipIf(withoutPostgres())(
    `agrees after any sequence of steps, in Postgres (seed ${SEED})`,
    async () => {
      const server = await startPostgres();
      const open = (tenant: string) => openPostgresLog({ url: server.url, tenant, as: { holder: "test" } });
      let lives = 0;
      const inPostgres = async (some: Step[]): Promise<void> => {
        const tenant = randomUUID();
        let log = await open(tenant);
        await check(some, log, async () => {
          // What was written so far is packed, in every second life.
          if (lives++ % 2 === 0) await log.seal({ before: Number.MAX_SAFE_INTEGER, limit: 1_000 });
          await log.close();
          log = await open(tenant);
          return log;
        });
      };
      await fc.assert(fc.asyncProperty(steps, inPostgres), runs(40));
      await server.stop();
    },
    240_000 * FACTOR,
  );
});
