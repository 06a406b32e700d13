// `npm run bench`: starts the real daemon and the bare pipe, and prints how they compare, in one run on one machine.
// Options: --quick (a tenth of the load), --json (one JSON object at the end instead of the table).
import { fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon as serve, stopped } from "../scripts/daemon.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const scale = process.argv.includes("--quick") ? 0.1 : 1;
const asJson = process.argv.includes("--json");
const rows = [];
const row = (name, dragoman, pipe, note = "") => {
  rows.push({
    name,
    dragoman,
    pipe,
    ratio: typeof dragoman === "number" && typeof pipe === "number" ? dragoman / pipe : null,
    note,
  });
  if (!asJson) process.stderr.write(`${name}: ${show(dragoman)}${pipe === null ? "" : ` (bare pipe ${show(pipe)})`} ${note}\n`);
};
const show = (value) =>
  typeof value === "number" ? (value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2)) : String(value);

/** Milliseconds of processor the process has used: by itself, and with what the kernel did for it. */
const cpu = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return { own: Number(fields[13]) * 10, all: (Number(fields[13]) + Number(fields[14])) * 10 };
};
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] / 1000;

async function startDaemon() {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-bench-"));
  const began = performance.now();
  const config = join(dataDir, "config.json");
  writeFileSync(config, JSON.stringify({ limits: { sessions: 1000, subscribers: 5000 } }));
  const { child, ...ready } = await serve(dataDir, { more: ["--config", config, "--log-level", "error"] });
  const cold = performance.now() - began;
  const headers = { authorization: `Bearer ${ready.token}`, "content-type": "application/json" };
  const call = async (method, path, body) => {
    const response = await fetch(ready.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  };
  const stop = async () => {
    await stopped(child);
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { ...ready, headers, call, cold, stop };
}

async function startPipe() {
  const child = fork(here("./bare-pipe.mjs"));
  const { url } = await new Promise((resolve) => child.once("message", resolve));
  const call = async (path) => (await fetch(url + path)).text();
  return { url, call, pid: child.pid, stop: () => child.disconnect() };
}

/** Opens streams in a process of their own; resolves with what it counted once each has seen `until`. */
async function read(pid, open, until, begin, options = {}) {
  const child = fork(here("./reader.mjs"));
  const said = [];
  const waiting = [];
  child.on("message", (message) => {
    if (message.fault) throw new Error(message.fault);
    said.push(message);
    for (const wake of waiting.splice(0)) wake();
  });
  const hear = async (fits) => {
    for (;;) {
      const found = said.find(fits);
      if (found) return found;
      await new Promise((resolve) => waiting.push(resolve));
    }
  };
  child.send({ open, until, ...options });
  await hear((message) => message.opened === open.length);
  const began = (performance.timeOrigin + performance.now()) * 1000;
  const used = cpu(pid);
  await begin();
  const counted = await hear((message) => message.done);
  child.disconnect();
  const { own, all } = cpu(pid);
  return { ...counted, seconds: (counted.last - began) / 1e6, own: own - used.own, all: all - used.all };
}

const sse = (daemon, id, after = 0) => ({
  url: `${daemon.url}/v1/sessions/${id}/events/sse?after=${after}`,
  headers: daemon.headers,
});

async function newSession(daemon) {
  const { session_id } = await daemon.call("POST", "/v1/sessions", { agent: "mock" });
  await daemon.call("POST", `/v1/sessions/${session_id}/messages/stream`, { message: "say ready" }).catch(() => {});
  await settled(daemon, session_id);
  return session_id;
}

async function settled(daemon, id) {
  for (;;) {
    const { status, queued, last_sequence } = await daemon.call("GET", `/v1/sessions/${id}`);
    if (status === "idle" && queued === 0) return last_sequence;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const END = '"type":"turn.ended"';
const PIPE_END = '{"type":"done"';

async function throughput(daemon, pipe, events, subscribers) {
  const id = await newSession(daemon);
  const last = await settled(daemon, id);
  const mine = await read(
    daemon.pid,
    Array.from({ length: subscribers }, () => sse(daemon, id, last)),
    END,
    () => daemon.call("POST", `/v1/sessions/${id}/messages`, { message: `flood ${events}` }),
  );
  const name = `t${subscribers}-${events}`;
  await pipe.call(`/start?id=${name}`);
  const bare = await read(
    pipe.pid,
    Array.from({ length: subscribers }, () => ({ url: `${pipe.url}/events?id=${name}` })),
    PIPE_END,
    () => pipe.call(`/send?id=${name}&text=${encodeURIComponent(`flood ${events}`)}`),
  );
  await daemon.call("DELETE", `/v1/sessions/${id}`);
  const each = (name) => [mine[name] / events, bare[name] / events];
  return { rate: [events / mine.seconds, events / bare.seconds], own: each("own"), all: each("all") };
}

async function many(daemon, pipe, sessions, events) {
  const ids = [];
  for (let i = 0; i < sessions; i++) ids.push(await newSession(daemon));
  const open = await Promise.all(ids.map(async (id) => sse(daemon, id, await settled(daemon, id))));
  const message = `flood ${events}`;
  const mine = await read(daemon.pid, open, END, () =>
    Promise.all(ids.map((id) => daemon.call("POST", `/v1/sessions/${id}/messages`, { message }))),
  );
  const clocked = await latencyOf(daemon, ids);
  for (const id of ids) await pipe.call(`/start?id=${id}`);
  const bare = await read(
    pipe.pid,
    ids.map((id) => ({ url: `${pipe.url}/events?id=${id}` })),
    PIPE_END,
    () => Promise.all(ids.map((id) => pipe.call(`/send?id=${id}&text=${encodeURIComponent(message)}`))),
  );
  const bareClock = await read(
    pipe.pid,
    ids.map((id) => ({ url: `${pipe.url}/events?id=${id}` })),
    PIPE_END,
    () => Promise.all(ids.map((id) => pipe.call(`/send?id=${id}&text=${encodeURIComponent("clock 50 20")}`))),
    { clock: true },
  );
  for (const id of ids) await daemon.call("DELETE", `/v1/sessions/${id}`);
  return { rate: [(sessions * events) / mine.seconds, (sessions * events) / bare.seconds], clocked, bareClock };
}

async function latencyOf(daemon, ids) {
  const open = await Promise.all(ids.map(async (id) => sse(daemon, id, await settled(daemon, id))));
  return read(
    daemon.pid,
    open,
    END,
    () => Promise.all(ids.map((id) => daemon.call("POST", `/v1/sessions/${id}/messages`, { message: "clock 50 20" }))),
    { clock: true },
  );
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function main() {
  const daemon = await startDaemon();
  const pipe = await startPipe();
  const started = rss(daemon.pid);
  row("cold start, ms", daemon.cold, null);
  row("RSS at start, MB", started, null);

  const events = Math.round(400_000 * scale);
  const results = {};
  // Not counted: until the code is compiled, both are slower.
  await throughput(daemon, pipe, Math.round(events / 4), 1);
  for (const subscribers of [1, 100, 1000]) {
    const count = subscribers === 1 ? events : Math.round(events / (subscribers === 100 ? 4 : 80));
    results[subscribers] = await throughput(daemon, pipe, count, subscribers);
    const { rate } = results[subscribers];
    const note = subscribers === 1 ? "agent stdout → SSE client, durable" : `${show(rate[0] * subscribers)} frames/s delivered`;
    row(`events/s, 1 session, ${subscribers} subscriber(s)`, ...rate, note);
  }
  const [one1, hundred1] = [results[1], results[100]];
  row("processor time an event, 1 subscriber, µs", one1.all[0] * 1000, one1.all[1] * 1000);
  row("processor time an event, 100 subscribers, µs", hundred1.all[0] * 1000, hundred1.all[1] * 1000);
  row("the same as a multiple of one subscriber", hundred1.all[0] / one1.all[0], hundred1.all[1] / one1.all[1]);
  const note = "what the process itself does, without the kernel's copies to the sockets";
  row("own time, as a multiple of one subscriber", hundred1.own[0] / one1.own[0], hundred1.own[1] / one1.own[1], note);

  const one = await many(daemon, pipe, 1, Math.round(1000 * scale));
  row("latency, 1 session, p50 ms", percentile(one.clocked.late, 0.5), percentile(one.bareClock.late, 0.5));
  row("latency, 1 session, p99 ms", percentile(one.clocked.late, 0.99), percentile(one.bareClock.late, 0.99));
  const hundred = await many(daemon, pipe, Math.round(100 * Math.max(scale, 0.2)), Math.round(2000 * scale));
  row("events/s, 100 sessions, one subscriber each", ...hundred.rate);
  row("latency, 100 sessions, p50 ms", percentile(hundred.clocked.late, 0.5), percentile(hundred.bareClock.late, 0.5));
  row("latency, 100 sessions, p99 ms", percentile(hundred.clocked.late, 0.99), percentile(hundred.bareClock.late, 0.99));

  await bigSession(daemon, Math.round(100_000 * scale), Math.round(1_000_000 * scale));
  await idleSubscribers(daemon);
  pipe.stop();
  await daemon.stop();
  if (asJson) process.stdout.write(`${JSON.stringify({ node: process.version, cpus: cpus().length, scale, rows })}\n`);
  else print();
}

async function bigSession(daemon, replayed, million) {
  const id = await newSession(daemon);
  await daemon.call("POST", `/v1/sessions/${id}/messages`, { message: `flood ${replayed}` });
  const last = await settled(daemon, id);
  const replay = await read(daemon.pid, [sse(daemon, id)], `"sequence":${last},`, async () => {});
  row(`replay of ${replayed.toLocaleString("en")} events, events/s`, last / replay.seconds, null);

  const before = rss(daemon.pid);
  await daemon.call("POST", `/v1/sessions/${id}/messages`, { message: `flood ${million}` });
  const end = await settled(daemon, id);
  row(`RSS after ${million.toLocaleString("en")} events more, MB grown`, rss(daemon.pid) - before, null);
  const pages = [];
  for (let i = 0; i < 20; i++)
    pages.push(await timed(() => daemon.call("GET", `/v1/sessions/${id}/events?after=${end - 100}&limit=100`)));
  pages.sort((a, b) => a - b);
  row(`last page of ${end.toLocaleString("en")} events, ms (median of 20)`, pages[10], null);
  await daemon.call("DELETE", `/v1/sessions/${id}`);
}

async function idleSubscribers(daemon) {
  const id = await newSession(daemon);
  const last = await settled(daemon, id);
  const before = rss(daemon.pid);
  let grown = 0;
  await read(
    daemon.pid,
    Array.from({ length: 1000 }, () => sse(daemon, id, last)),
    END,
    async () => {
      grown = rss(daemon.pid) - before;
      await daemon.call("POST", `/v1/sessions/${id}/messages`, { message: "say bye" });
    },
  );
  row("RSS per 1,000 idle subscribers, MB", grown, null);
}

function print() {
  process.stdout.write(
    `\nNode ${process.version}, ${cpus().length} cores, ${Math.round(totalmem() / 1e9)} GB; ${cpus()[0]?.model ?? ""}\n\n`,
  );
  process.stdout.write("| measure | dragoman | bare pipe | ratio |\n| --- | ---: | ---: | ---: |\n");
  for (const { name, dragoman, pipe, ratio, note } of rows)
    process.stdout.write(
      `| ${name}${note ? ` (${note})` : ""} | ${show(dragoman)} | ${pipe === null ? "" : show(pipe)} | ${ratio === null ? "" : ratio.toFixed(2)} |\n`,
    );
}

await main();
