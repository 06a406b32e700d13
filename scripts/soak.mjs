// Runs a daemon for a while as a busy office would: sessions that work, clients that never read, visitors that come and go. Prints where its memory is
// over time, and fails when memory keeps growing, anything is lost, or a process is left. Memory is judged by the slope of the last half, in runs of ten
// minutes and more: before that the caches are filling.
//   npm run soak                              one minute
//   npm run soak -- --minutes 30 --sessions 50 --mute 40
// Loopback only, the mock agent only. Ends by itself.
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { mockAgent } from "../build/agents/mock/agent.js";
import { lingering } from "../build/verify/leftovers.js";
import { Dragoman } from "../dist/client/index.js";
import { startDaemon, stopped } from "./daemon.mjs";
import { memoryOf, slopeOf } from "./soak-memory.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    sessions: { type: "string", default: "50" },
    mute: { type: "string", default: "40" },
  },
});
const [minutes, sessionCount, muteCount] = [values.minutes, values.sessions, values.mute].map(Number);
const SAMPLES = 180;
const PRINTED = 30;
/** Of the mean, in a minute of the last half. */
const SLOPE_LIMIT = 0.005;
const JUDGED_MINUTES = 10;
/** Memory of the last third over that of the middle one. */
const GROWTH_LIMIT = 1.15;

const root = mkdtempSync(join(tmpdir(), "dragoman-soak-"));
const daemon = await startDaemon(join(root, "data"), { cwd: root });
const client = new Dragoman({ url: daemon.url, token: daemon.token });
const headers = { authorization: `Bearer ${daemon.token}` };
const faults = [];
const counts = { messages: 0, events: 0, delivered: 0, visitors: 0 };
let running = true;
process.once("SIGINT", () => {
  running = false;
});

const fault = (what, error) => {
  if (running) faults.push(`${what}: ${error instanceof Error ? error.message : error}`);
};

/** Sends messages of all kinds, one after the other, and reads each to its end. */
async function work(handle, index) {
  const acts = ["flood 200", "say good morning", "plan", "flood 50 400", "ask touch a.txt", "edit"];
  for (let turn = index; running; turn++) {
    try {
      const outcome = await handle.prompt(acts[turn % acts.length]);
      counts.messages += 1;
      if (outcome.stop_reason !== "end_turn") faults.push(`a turn ended with ${outcome.stop_reason}`);
      await delay(200 + ((index * 37) % 300));
    } catch (error) {
      fault("a message failed", error);
      await delay(1_000);
    }
  }
}

/** Follows a session and checks that no event is missing. */
async function follow(handle, signal) {
  let last = 0;
  try {
    for await (const event of handle.events({ signal })) {
      if (event.sequence !== last + 1) faults.push(`session ${handle.id}: ${event.sequence} came after ${last}`);
      last = event.sequence;
      counts.delivered += 1;
    }
  } catch (error) {
    if (!signal.aborted) fault("a follower broke off", error);
  }
}

/** Connects and never reads. */
function mute(id) {
  const call = request(`${daemon.url}/v1/sessions/${id}/events/sse`, { headers, agent: false }, (response) => response.pause());
  call.on("error", () => {});
  call.end();
  return call;
}

/** Comes, looks at something, goes. */
async function visit(ids) {
  for (let round = 0; running; round++) {
    const id = ids[round % ids.length];
    const paths = [
      `/v1/sessions/${id}`,
      `/v1/sessions/${id}/events?limit=500&order=desc`,
      `/v1/sessions/${id}/items`,
      "/v1/sessions",
      "/v1/health",
    ];
    try {
      const reply = await fetch(`${daemon.url}${paths[round % paths.length]}`, { headers });
      await reply.arrayBuffer();
      if (reply.status !== 200) faults.push(`${paths[round % paths.length]} answered ${reply.status}`);
      counts.visitors += 1;
    } catch (error) {
      fault("a visit failed", error);
    }
    await delay(100);
  }
}

const handles = [];
for (let i = 0; i < sessionCount; i++) {
  const handle = await client.createSession({ agent: mockAgent.id, directory: root });
  handle.on("permission", (permission) => void permission.allow().catch(() => {}));
  handles.push(handle);
}
const ids = handles.map(({ id }) => id);
const stop = new AbortController();
const mutes = Array.from({ length: muteCount }, (_, i) => mute(ids[i % ids.length]));
const workers = [...handles.map(work), visit(ids), visit(ids.toReversed())];
const followers = handles.slice(0, 20).map((handle) => follow(client.session(handle.id), stop.signal));

const COLUMNS = ["rss", "program", "heap", "total", "external", "native", "descriptors"];
const row = (first, cells) => [first.padStart(12), ...cells.map((cell) => `${cell}`.padStart(11))].join(" ");
const samples = [];
const step = (minutes * 60_000) / SAMPLES;
console.log(row("MB at", [...COLUMNS, "messages", "delivered", "visits"]));
const begun = Date.now();
for (let i = 1; i <= SAMPLES && running; i++) {
  await delay(Math.max(0, begun + i * step - Date.now()));
  const sample = { minute: (Date.now() - begun) / 60_000, ...(await memoryOf(daemon)) };
  samples.push(sample);
  if (i % (SAMPLES / PRINTED) !== 0) continue;
  const figures = COLUMNS.map((name) => Math.round(sample[name]));
  console.log(row(`${Math.round(sample.minute * 60)} s`, [...figures, counts.messages, counts.delivered, counts.visitors]));
}
running = false;
await Promise.all(workers);

// What was written is all there, in order, for those who ask now.
for (const handle of handles) {
  const { last_sequence } = await handle.get();
  let next = 1;
  for (let after = 0; ; ) {
    const page = await handle.page({ after, limit: 10_000 });
    for (const { sequence } of page.events)
      if (sequence !== next++) faults.push(`session ${handle.id}: ${sequence} stands at ${next - 1}`);
    if (!page.has_more) break;
    after = page.next;
  }
  if (next - 1 !== last_sequence) faults.push(`session ${handle.id}: ${next - 1} events of ${last_sequence}`);
  counts.events += next - 1;
}
stop.abort();
await Promise.all(followers);
for (const call of mutes) call.destroy();
await stopped(daemon.child);
const left = await lingering(root, "environment", 5_000);
rmSync(root, { recursive: true, force: true, maxRetries: 5 });

const third = (n) => samples.slice(Math.floor((samples.length * n) / 3), Math.floor((samples.length * (n + 1)) / 3));
const mean = (rows, name) => rows.reduce((sum, each) => sum + each[name], 0) / Math.max(1, rows.length);
const half = samples.slice(Math.floor(samples.length / 2));
console.log(`\n${row("mean MB", COLUMNS)}`);
for (const [n, title] of ["first third", "middle third", "last third"].entries())
  console.log(
    row(
      title,
      COLUMNS.map((name) => Math.round(mean(third(n), name))),
    ),
  );
console.log(
  row(
    "MB a minute",
    COLUMNS.map((name) => slopeOf(half, name).toFixed(2)),
  ),
  " (last half)",
);
const growth = mean(third(2), "rss") / mean(third(1), "rss");
const slope = slopeOf(half, "rss") / mean(half, "rss");
if (growth > GROWTH_LIMIT) faults.push(`memory grew by ${Math.round((growth - 1) * 100)} % from the middle third to the last`);
if (minutes >= JUDGED_MINUTES && slope > SLOPE_LIMIT)
  faults.push(`memory grew by ${(slope * 100).toFixed(2)} % a minute in the last half (at most ${SLOPE_LIMIT * 100} %)`);
for (const { pid, command } of left) faults.push(`process ${pid} is left: ${command}`);
const kinds = new Map();
for (const text of faults) kinds.set(text, (kinds.get(text) ?? 0) + 1);
console.log(
  `\n${counts.events} events, ${counts.messages} messages, ${counts.visitors} visits, ${left.length} processes left, ${faults.length} faults`,
);
for (const [text, times] of [...kinds].slice(0, 20)) console.log(`  ${times} × ${text}`);
process.exit(faults.length > 0 ? 1 : 0);
