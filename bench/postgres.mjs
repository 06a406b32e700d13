/**
 * Appending to the log on Postgres, beside SQLite with an fsync for every commit, in the same run: rows as the daemon writes them, one commit in flight.
 * Rounds of both engines alternate, so that what else the machine does falls on both. `--seconds 2 --rounds 3` are the defaults. Ends with 1 below the bar.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createServer } from "vite";
import { openPostgresLog } from "../build/log/postgres/log.js";
import { openSqliteLog } from "../build/log/sqlite/log.js";

const SHAPES = [
  [1, 1],
  [1, 500],
  [20, 50],
  [100, 5],
];
/** Postgres to SQLite FULL, for many sessions in one commit: the shape of a busy node. */
const BAR = 0.6;
const BARRED = new Set(["20 × 50", "100 × 5"]);

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "2" }, rounds: { type: "string", default: "3" } },
});
const [SECONDS, ROUNDS] = [Number(values.seconds), Number(values.rounds)];

const WORDS = "the parser now reads every line once and keeps what neighbours have in common ".split(" ");
const SHAPE = {
  before:
    '","session_id":"sess_0123456789abcdef","native_session_id":"5f0f4c1e-7d0b-4c55-9d3a-0f9a5b2f3c11","synthetic":false,"source":"agent","type":"item.delta","data":{"item_id":"item_0123456789","native_item_id":"msg_01","part_index":0,"part_type":"text","delta":',
  after: '},"raw":null}',
};

function appendTick(writers, events, sync) {
  for (const writer of writers)
    for (let n = 0; n < events; n++) {
      const sequence = writer.last + 1;
      const word = JSON.stringify(`${WORDS[sequence % WORDS.length]} `);
      const raw = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${word}}},"session_id":"5f0f4c1e"}`;
      const native = writer.appendNative({ dir: "out", t_ms: sequence * 10, type: "stream_event", disposition: "mapped", raw });
      const text = {
        head: "evt_01jd0000000000",
        counter: String(sequence),
        time: "2026-01-01T00:00:00.000Z",
        shape: SHAPE,
        value: word,
      };
      writer.append({ text, sequence, type: "item.delta", native, sync: sync && n === 0 });
    }
}

async function measure(log, [sessions, events], sync) {
  const writers = [];
  for (let n = 0; n < sessions; n++) writers.push(await log.create("session", randomUUID(), "{}"));
  await log.committed();
  for (let warm = 0; warm < 5; warm++) {
    appendTick(writers, events, sync);
    await log.committed();
  }
  const times = [];
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  while (performance.now() - began < SECONDS * 1000) {
    const from = performance.now();
    appendTick(writers, events, sync);
    await log.committed();
    times.push(performance.now() - from);
  }
  const used = process.cpuUsage(cpu);
  const [total, seconds] = [times.length * sessions * events, (performance.now() - began) / 1000];
  return { rate: total / seconds, times, micros: (used.user + used.system) / total };
}

const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const quantile = (numbers, part) => sorted(numbers)[Math.floor((numbers.length - 1) * part)];

/** The helper of the tests starts it: TypeScript, loaded as tests load it. */
async function testServer() {
  const vite = await createServer({
    configFile: false,
    logLevel: "error",
    appType: "custom",
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  });
  const { startPostgres } = await vite.ssrLoadModule(
    fileURLToPath(new URL("../src/log/postgres/test-postgres.ts", import.meta.url)),
  );
  const server = await startPostgres({ fsync: "on" });
  await vite.close();
  return server;
}

const server = await testServer();
const dataDir = mkdtempSync(join(tmpdir(), "dragoman-bench-"));
const engines = {
  "SQLite FULL": { log: await openSqliteLog({ dataDir }), sync: true },
  [`Postgres ${server.version}`]: { log: await openPostgresLog({ url: server.url, as: { holder: "bench" } }), sync: false },
};
let below = false;
try {
  console.log(
    `events/s · p50/p99 of a commit, ms · µs of processor an event (this process); medians of ${ROUNDS} rounds of ${SECONDS} s`,
  );
  for (const shape of SHAPES) {
    const name = shape.join(" × ");
    const found = Object.fromEntries(Object.keys(engines).map((engine) => [engine, []]));
    for (let round = 0; round < ROUNDS; round++)
      for (const [engine, { log, sync }] of Object.entries(engines)) found[engine].push(await measure(log, shape, sync));
    const rates = [];
    for (const [engine, results] of Object.entries(found)) {
      const rate = quantile(
        results.map((each) => each.rate),
        0.5,
      );
      const times = results.flatMap((each) => each.times);
      rates.push(rate);
      const micros = quantile(
        results.map((each) => each.micros),
        0.5,
      );
      console.log(
        `${name.padEnd(9)} ${engine.padEnd(15)} ${Math.round(rate).toLocaleString("en").padStart(9)} · ${quantile(times, 0.5).toFixed(2)}/${quantile(times, 0.99).toFixed(1)} · ${micros.toFixed(1)}`,
      );
    }
    const ratio = rates[1] / rates[0];
    const bar = BARRED.has(name) ? ` (bar ${BAR})` : "";
    console.log(`${name.padEnd(9)} ratio ${ratio.toFixed(2)}${bar}`);
    if (bar && ratio < BAR) below = true;
  }
} finally {
  for (const { log } of Object.values(engines)) await log.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exitCode = below ? 1 : 0;
