/**
 * Search over very many sessions, each with texts of its own. They are written through the log, as copies of one that was made over the API: over the API
 * each would need an agent of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteLog } from "../build/log/sqlite/log.js";
import { timed } from "./client.mjs";
import { newSession, startDaemon } from "./servers.mjs";
import { row } from "./table.mjs";

const WORDS = ["parser", "index", "socket", "window", "branch", "cursor", "ledger", "matrix", "packet", "vector"];
/** A word of every tenth session, one of twenty, one of a single one, words and a phrase together, one of all, none. */
const QUERIES = ["parser", "rare77", "number4242", "ready parser", '"ready parser" rare10', "ready", "nowhere"];
const TRIES = 9;

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function copySession(dataDir, id, count) {
  const log = await openSqliteLog({ dataDir });
  const made = await log.stream("session", id);
  const { state } = await made.row();
  const { events, types } = await made.read();
  for (let n = 0; n < count; n++) {
    const copy = `sess_${String(n).padStart(20, "0")}`;
    const writer = await log.create("session", copy, state.replaceAll(id, copy));
    for (const [index, event] of events.entries()) {
      const said = `ready ${WORDS[n % WORDS.length]} rare${n % (count / 20)} number${n}`;
      const text = event.replaceAll(id, copy).replaceAll("ready", said);
      writer.append({ text, sequence: index + 1, type: types[index], native: null });
    }
    if (n % 500 === 0) await writer.committed();
  }
  await log.close();
}

export async function searchRows(scale) {
  const count = Math.round(100_000 * scale);
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-bench-search-"));
  try {
    const first = await startDaemon({ dataDir });
    const id = await newSession(first);
    await first.stop();
    await copySession(dataDir, id, count);
    const daemon = await startDaemon({ dataDir });
    try {
      const find = (query) => daemon.call("GET", `/v1/search?q=${encodeURIComponent(query)}`);
      const built = await timed(async () => {
        // The last copy is the last that the index takes in.
        while ((await find(`number${count - 1}`)).hits.length === 0) await new Promise((resolve) => setTimeout(resolve, 500));
      });
      const name = `${count.toLocaleString("en")} sessions`;
      row(`search index of ${name} built in, s`, { dragoman: built / 1000 });
      const times = [];
      for (const query of QUERIES) {
        const tries = [];
        for (let i = 0; i < TRIES; i++) tries.push(await timed(() => find(query)));
        times.push(median(tries));
      }
      row(`search over ${name}, median of ${QUERIES.length} queries, ms`, { dragoman: median([...times]) });
      row(`search over ${name}, the slowest query, ms`, { dragoman: Math.max(...times) });
    } finally {
      await daemon.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
