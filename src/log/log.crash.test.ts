// DRAGOMAN_LOG_CRASH_ROUNDS sets the number of kills, DRAGOMAN_SEED the seed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./postgres/test-postgres.ts";
import { random } from "./sqlite/crash-child.ts";
import { crash, holdsAll } from "./test-crash.ts";

const SEED = seedOf(20_260_101);
const ROUNDS = Number(process.env.DRAGOMAN_LOG_CRASH_ROUNDS ?? 6);
/** Each round reads everything there is, so a log is left for a new one before it is long. */
const ROUNDS_OF_ONE_LOG = 25;
const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** `newPlace`: where a log is that nobody has used. */
function survives(newPlace: () => string, rounds: number): void {
  it(
    `loses nothing that was told, repeats nothing, leaves no gap (${rounds} rounds, seed ${SEED})`,
    async () => {
      const next = random(SEED);
      let place = "";
      for (let round = 0; round < rounds; round++) {
        if (round % ROUNDS_OF_ONE_LOG === 0) place = newPlace();
        const [seed, lines] = [Math.floor(next() * 2 ** 31), 1 + Math.floor(next() * 150)];
        const told = await crash({ place, seed, lines });
        await holdsAll(place, told);
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
