/** What is kept: replay, memory, disk, and data directories with very many sessions. No bare pipe beside it: that keeps nothing. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { agents } from "./agents.mjs";
import { read, rss, timed } from "./client.mjs";
import { create, newSession, send, settled, sse, startDaemon } from "./servers.mjs";
import { END } from "./streams.mjs";
import { median, row } from "./table.mjs";

const many = (count) => count.toLocaleString("en");

export async function bigSession({ daemon }, scale) {
  const [replayed, million] = [Math.round(100_000 * scale), Math.round(1_000_000 * scale)];
  const id = await newSession(daemon);
  await send(daemon, id, `flood ${replayed}`);
  const last = await settled(daemon, id);
  const replay = await read(daemon.pid, [sse(daemon, id)], `"sequence":${last},`, async () => {});
  row(`replay of ${many(replayed)} events, events/s`, { dragoman: last / replay.seconds });

  const before = rss(daemon.pid);
  await send(daemon, id, `flood ${million}`);
  const end = await settled(daemon, id);
  row(`memory grown by ${many(million)} events, MB`, { dragoman: rss(daemon.pid) - before });
  const pages = [];
  for (let i = 0; i < 20; i++)
    pages.push(await timed(() => daemon.call("GET", `/v1/sessions/${id}/events?after=${end - 100}&limit=100`)));
  row(`last page of a session of ${many(million)} events, ms`, { dragoman: median(pages) });
  await daemon.call("DELETE", `/v1/sessions/${id}`);
}

export async function idleSubscribers({ daemon }) {
  const id = await newSession(daemon);
  const last = await settled(daemon, id);
  const before = rss(daemon.pid);
  let grown = 0;
  const open = Array.from({ length: 1000 }, () => sse(daemon, id, last));
  await read(daemon.pid, open, END, async () => {
    grown = rss(daemon.pid) - before;
    await send(daemon, id, "say bye");
  });
  row("memory of 1,000 idle subscribers, MB", { dragoman: grown });
  await daemon.call("DELETE", `/v1/sessions/${id}`);
}

const sizeOf = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);

/** What a data directory holds when the daemon has ended. */
async function filled(agent, text) {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-bench-disk-"));
  try {
    const daemon = await startDaemon({ dataDir });
    try {
      const id = await newSession(daemon, agent.id);
      await send(daemon, id, text);
      await settled(daemon, id);
    } finally {
      await daemon.stop();
    }
    return sizeOf(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

export async function diskRows(scale) {
  const events = Math.round(100_000 * scale);
  const empty = await filled(agents.mock, "say ready");
  const kinds = [
    ["mock", agents.mock, ""],
    ["ACP", agents.acp, ""],
    ["ACP, non-ASCII text", agents.acp, " unicode"],
    ["Codex", agents.codex, ""],
    ["OpenCode", agents.opencode, ""],
  ];
  for (const [name, agent, kind] of kinds) {
    const bytes = (await filled(agent, `flood ${events}${kind}`)) - empty;
    row(`bytes on disk an event with its native line, ${name}`, { dragoman: bytes / events });
  }
}

/** The daemon gives memory back when nothing happens (`src/daemon/idle-memory.ts`). */
const RESTED_MS = 40_000;

/** Sessions made over the API, 50 of them with a turn that runs when the daemon is killed. */
export async function manySessions(scale) {
  const count = Math.round(100_000 * scale);
  const readOnce = Math.round(10_000 * scale);
  const open = 50;
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-bench-many-"));
  let daemon = await startDaemon({ dataDir });
  try {
    const ids = [];
    const worker = async () => {
      while (ids.length < count) ids.push(await create(daemon));
    };
    const ms = await timed(() => Promise.all(Array.from({ length: 32 }, worker)));
    row("sessions created over the API, per second", { dragoman: (ids.length / ms) * 1000 });
    for (let i = 0; i < open; i++) await send(daemon, await create(daemon, "codex"), "hang");
    await daemon.stop("SIGKILL");
    daemon = await startDaemon({ dataDir });
    row(`start with ${many(count)} sessions, ${open} with an open turn, after kill -9, ms`, { dragoman: daemon.cold });
    for (let round = 0; round < 3; round++) {
      await daemon.stop();
      daemon = await startDaemon({ dataDir });
      row(`start with ${many(count)} sessions, ms`, { dragoman: daemon.cold });
      const first = await timed(() => daemon.call("GET", "/v1/sessions?limit=50"));
      row(`first page of ${many(count)} sessions, right after the start, ms`, { dragoman: first });
    }
    const pages = [];
    for (let i = 0; i < 20; i++) pages.push(await timed(() => daemon.call("GET", "/v1/sessions?limit=50")));
    row(`first page of ${many(count)} sessions, ms`, { dragoman: median(pages) });
    // What was killed left the search index behind: to build it takes memory too, which is not that of reading.
    while ((await daemon.call("GET", "/v1/search?q=ready&limit=1")).index.state === "building") await setTimeout(500);
    const before = rss(daemon.pid);
    row(`memory after the start with ${many(count)} sessions, MB`, { dragoman: before });
    const step = Math.max(1, Math.floor(count / readOnce));
    // A process that has just started grows with the first work, whatever it is: what the sessions themselves cost is seen after that.
    const [warm, seen] = [Math.round(readOnce / 10), []];
    for (let i = 0; i < readOnce; i++) {
      await daemon.call("GET", `/v1/sessions/${ids[i * step]}/events?limit=100`);
      if (i + 1 === warm || i + 1 === readOnce) seen.push(rss(daemon.pid));
    }
    const [first = 0, last = first] = seen;
    row(`memory grown by reading ${many(readOnce)} sessions once, MB`, { dragoman: last - before });
    row(`of it after the first ${many(warm)}, MB`, { dragoman: last - first });
    await setTimeout(RESTED_MS);
    row("memory grown since before, when the daemon has rested, MB", { dragoman: rss(daemon.pid) - before });
  } finally {
    await daemon.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
