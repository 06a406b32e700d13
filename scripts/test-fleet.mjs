/**
 * The long form of the tests of a fleet: the same tests as in `npm test`, with as many rounds as the promises of docs/fleet.md name. Each number can be set by its
 * variable; arguments go to vitest (`node scripts/test-fleet.mjs test/fleet/deaths.test.ts`).
 */
import { spawnSync } from "node:child_process";

const ROUNDS = {
  DRAGOMAN_SIMULATION_SEEDS: "10000",
  DRAGOMAN_FLEET_KILLS: "50",
  DRAGOMAN_FLEET_SESSIONS: "100",
  DRAGOMAN_FLEET_ZOMBIES: "50",
  DRAGOMAN_FLEET_STREAMS: "10",
  DRAGOMAN_FLEET_KEYS: "1000",
  DRAGOMAN_FLEET_DATABASE_KILLS: "50",
  DRAGOMAN_FLEET_FAILOVERS: "20",
  DRAGOMAN_LOG_CRASH_ROUNDS: "50",
  DRAGOMAN_FLEET_AGENTS: "codex,claude",
};

const asked = process.argv.slice(2);
const tests = asked.length > 0 ? asked : ["src/cluster", "src/log/postgres", "test/fleet"];
// One file after the other: each has several processes of its own.
const { status } = spawnSync("npx", ["vitest", "run", "--no-file-parallelism", ...tests], {
  stdio: "inherit",
  env: { ...ROUNDS, ...process.env },
});
process.exit(status ?? 1);
