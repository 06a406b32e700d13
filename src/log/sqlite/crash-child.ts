/**
 * The victim of the crash test: appends at random and says on stdout what is committed. Test helper, started as a process of its own.
 */
import { writeSync } from "node:fs";
import type { Log } from "../contract.ts";
import { openPostgresLog } from "../postgres/log.ts";
import { openSqliteLog, type StreamWriter } from "./log.ts";

/** The same for the same stream and sequence, so that the survivor can check every byte. */
export function crashEvent(stream: string, sequence: number): string {
  return JSON.stringify({ stream, sequence, text: "é".repeat((sequence * 7) % 300) });
}

/** Small and repeatable (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A data directory, or the address of a Postgres with the tenant behind `#`. */
export async function openAt(place: string): Promise<Log> {
  const [url = "", tenant = ""] = place.split("#");
  return tenant === "" ? openSqliteLog({ dataDir: place }) : openPostgresLog({ url, tenant, as: { holder: "test" } });
}

/** `sync`: the part of the entries that must be on the disk itself when they are committed. */
export async function appendUntilKilled(place: string, seed: number, sync = 0.01): Promise<never> {
  const next = random(seed);
  const log = await openAt(place);
  const streams: StreamWriter[] = [];
  for (const id of ["a", "b", "c"]) streams.push((await log.writer("session", id)) ?? (await log.create("session", id, "{}")));
  for (const stream of streams) {
    stream.subscribe({ after: stream.last, onBatch: (batch) => void writeSync(1, `${stream.id} ${batch.last}\n`) });
  }
  for (;;) {
    for (const stream of streams) {
      const count = Math.floor(next() * (next() < 0.02 ? 3000 : 8));
      for (let done = 0; done < count; done++) {
        const sequence = stream.last + 1;
        const native = stream.appendNative({
          dir: "out",
          t_ms: 0,
          type: "line",
          disposition: "mapped",
          raw: crashEvent(stream.id, sequence),
        });
        stream.append({ text: crashEvent(stream.id, sequence), sequence, type: "x", native, sync: next() < sync });
      }
    }
    await log.documents.committed();
    for (const stream of streams) writeSync(1, `${stream.id} ${stream.lastCommitted}\n`);
    await new Promise(setImmediate);
  }
}
