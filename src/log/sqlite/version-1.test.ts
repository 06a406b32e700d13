/** A database of version 1, as its schema and its rows were: it is updated, everything in it is read, and what is written from then on is checked. */

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { appendMany, codeOfLater, numbers, readAll } from "../log.suite.ts";
import { NativeChunk } from "../packing/native-chunk.ts";
import { PackedEvents } from "../packing/packed-events.ts";
import { NumberRuns, WordRuns } from "../packing/run-length.ts";
import { openDatabase } from "./driver.ts";
import { type Log, openSqliteLog, type StreamWriter } from "./log.ts";
import { migrations, runSteps } from "./migrations.ts";

const dirs: string[] = [];
const logs: Log[] = [];
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const BYTES = Buffer.from("stored by version 1");
const SHA = createHash("sha256").update(BYTES).digest("hex");
const event = (sequence: number): string => JSON.stringify({ sequence, artifact_id: sequence === 3 ? `art_${SHA}` : null });
const typeOf = (sequence: number): string => (sequence === 3 ? "artifact.written" : "item.delta");

/** Two chunks of ten events and ten native messages each, an artifact, a document. */
async function version1(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-v1-"));
  dirs.push(dataDir);
  mkdirSync(join(dataDir, "artifacts", SHA.slice(0, 2)), { recursive: true });
  writeFileSync(join(dataDir, "artifacts", SHA.slice(0, 2), SHA), BYTES);
  const db = await openDatabase(join(dataDir, "dragoman.db"));
  db.exec("PRAGMA page_size = 16384; PRAGMA journal_mode = WAL");
  runSteps(db, migrations.slice(0, 1));
  db.exec("PRAGMA user_version = 1");
  db.exec(`INSERT INTO streams VALUES (1, 'session', 'ses_1', 1000, 2000, 20, 20, NULL, '{"title":"old"}', 0)`);
  for (const first of [1, 11]) {
    const [events, types, natives, chunk] = [new PackedEvents(first), new WordRuns(), new NumberRuns(), new NativeChunk(first)];
    for (const sequence of numbers(first, first + 9)) {
      events.add(event(sequence));
      types.add(typeOf(sequence));
      natives.add(sequence);
      chunk.add({ dir: "out", t_ms: sequence, type: "line", disposition: "mapped", raw: `native ${sequence}` });
    }
    db.prepare("INSERT INTO event_chunks (stream, first, last, types, natives, body) VALUES (1, ?, ?, ?, ?, ?)").run(
      first,
      first + 9,
      types.toString(),
      natives.toString(),
      events.body(),
    );
    db.prepare("INSERT INTO native_chunks (stream, first, last, head, body) VALUES (1, ?, ?, ?, ?)").run(
      first,
      first + 9,
      chunk.head(),
      chunk.body(),
    );
  }
  db.exec("INSERT INTO coverage VALUES (1, 'line', 'mapped', 20)");
  db.exec(`INSERT INTO documents VALUES ('queued_message', 'ses_1/t', '{"text":"wait"}', NULL)`);
  db.prepare("INSERT INTO artifacts VALUES (?, 'file', 'text/plain', NULL, ?, 1)").run(`art_${SHA}`, BYTES.length);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return dataDir;
}

async function open(dataDir: string): Promise<Log> {
  const log = await openSqliteLog({ dataDir });
  logs.push(log);
  return log;
}

async function writerOf(log: Log): Promise<StreamWriter> {
  const writer = await log.writer("session", "ses_1");
  if (writer === undefined) throw new Error("the session is gone");
  return writer;
}

describe("a database of version 1", () => {
  it("is updated beside a copy, and everything in it is still there", async () => {
    const dataDir = await version1();
    const log = await open(dataDir);
    expect(readdirSync(join(dataDir, "backups"))).toEqual([expect.stringMatching(/^dragoman-v1-/)]);
    const stream = await writerOf(log);
    expect(stream.state()).toBe('{"title":"old"}');
    expect((await stream.read()).events).toEqual(numbers(1, 20).map(event));
    expect((await stream.read({ types: ["artifact.written"] })).sequences).toEqual([3]);
    const { messages } = await stream.readNative();
    expect(messages.map(({ body }) => body.toString())).toEqual(numbers(1, 20).map((n) => `native ${n}`));
    expect(await stream.coverage()).toEqual([{ type: "line", disposition: "mapped", count: 20 }]);
    expect(await log.documents.get("queued_message", "ses_1/t")).toBe('{"text":"wait"}');
    expect((await readAll(log)).length).toBe(20);
    expect(log.health().damage.places).toBe(0);
  });

  it("grows with checksums, its artifacts belong to the sessions that name them, and go with them", async () => {
    const dataDir = await version1();
    const log = await open(dataDir);
    const stream = await writerOf(log);
    stream.appendNative({ dir: "out", t_ms: 21, type: "line", disposition: "mapped", raw: "native 21" });
    appendMany(stream, 5);
    await stream.committed();
    expect((await stream.read()).sequences).toEqual(numbers(1, 25));
    expect(await stream.coverage()).toEqual([{ type: "line", disposition: "mapped", count: 21 }]);
    const artifact = await log.artifacts.openRead(`art_${SHA}`);
    expect(artifact && (await buffer(artifact))).toEqual(BYTES);
    await log.delete("session", "ses_1");
    await log.erased();
    expect(await log.artifacts.stat(`art_${SHA}`)).toBeUndefined();
    expect(await log.documents.get("queued_message", "ses_1/t")).toBeUndefined();
  });

  it("does not serve what it can see is damaged, also where there is no checksum", async () => {
    const dataDir = await version1();
    const db = await openDatabase(join(dataDir, "dragoman.db"));
    db.exec("UPDATE event_chunks SET body = substr(body, 1, length(body) - 40) WHERE first = 1");
    db.exec("DELETE FROM native_chunks WHERE first = 1");
    db.close();
    const stream = await writerOf(await open(dataDir));
    expect(await codeOfLater(stream.read())).toBe("corrupt_chunk");
    expect((await stream.read({ after: 10 })).sequences).toEqual(numbers(11, 20));
    expect(await codeOfLater(stream.readNative())).toBe("corrupt_chunk");
  });
});
