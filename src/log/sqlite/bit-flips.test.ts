/**
 * Single flipped bits at random places of a database that was closed cleanly: everything that can be read through the log is the truth or is refused. Set
 * DRAGOMAN_FLIPS for how many (the long form is 120), DRAGOMAN_FLIP_SEED for other places.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { readAll } from "../log.suite.ts";
import { random } from "./crash-child.ts";
import { type Batch, type Log, LogError, openSqliteLog, type ReadOptions, type Stream, type StreamWriter } from "./log.ts";

const FLIPS = Number(process.env.DRAGOMAN_FLIPS ?? 30);
const SEED = Number(process.env.DRAGOMAN_FLIP_SEED ?? 20_261_116);
const REFUSALS = new Set(["corrupt_chunk", "corrupt_artifact", "database_corrupt", "database_newer", "migration_failed"]);

const root = mkdtempSync(join(tmpdir(), "dragoman-flips-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SESSIONS = ["ses_a", "ses_b", "ses_c", "ses_d"];
const ARTIFACT = Buffer.from("an artifact ".repeat(50));

/** Large and small chunks, some removed streams, documents, artifacts, coverage of many types. */
async function fill(dataDir: string): Promise<void> {
  const log = await openSqliteLog({ dataDir });
  for (const id of [...SESSIONS, "ses_gone"]) {
    const stream = await log.create("session", id, JSON.stringify({ id, title: `the title of ${id}` }));
    stream.artifacts.put(ARTIFACT, { kind: "file", mime: "text/plain", name: "notes.txt" });
    for (let tick = 0; tick < 60; tick++) {
      for (let count = tick % 20 === 0 ? 300 : 2; count > 0; count--) appendOne(stream);
      stream.documents.put("queued_message", String(tick % 5), JSON.stringify({ text: `message ${tick}` }));
      if (tick % 10 === 0) stream.setState(JSON.stringify({ id, title: `the title of ${id}`, tick }));
      await stream.committed();
    }
    stream.setOpenSince(id === "ses_b" ? 7 : null);
  }
  log.documents.put("idempotency", "k", "{}", { expiresAt: Date.now() + 3_600_000 });
  await log.delete("session", "ses_gone");
  await log.erased();
  await log.close();
}

function appendOne(stream: StreamWriter): void {
  const sequence = stream.last + 1;
  const type = sequence % 7 === 0 ? "item.completed" : "item.delta";
  const raw = `{"line":${sequence},"text":"${"native ".repeat(sequence % 9)}"}`;
  const native = stream.appendNative({ dir: "out", t_ms: sequence, type: `type_${sequence % 11}`, disposition: "mapped", raw });
  const text = JSON.stringify({ sequence, type, text: "é".repeat((sequence * 7) % 90) });
  stream.append({ text, sequence, type, native });
}

type Answers = Map<string, string>;

/** Every question, with its answer or the code of its refusal. Anything else that is thrown is a fault. */
async function ask(log: Log): Promise<Answers> {
  const answers: Answers = new Map();
  const put = async (question: string, answer: () => unknown): Promise<void> => {
    try {
      answers.set(question, JSON.stringify(await answer()) ?? "undefined");
    } catch (error) {
      if (!(error instanceof LogError) || !REFUSALS.has(error.code)) throw error;
      answers.set(question, `refused: ${error.code}`);
    }
  };
  const list = (order: "created" | "updated", onlyOpen: boolean) => async () => {
    const { streams, damaged } = await log.list("session", { order, onlyOpen });
    if (damaged.length > 0) throw new LogError("corrupt_chunk", "named as damaged");
    return streams;
  };
  await put("identity", () => log.id);
  for (const order of ["created", "updated"] as const) await put(`list ${order}`, list(order, false));
  await put("list open", list("created", true));
  await put("other kind", async () => (await log.list("task")).streams);
  for (const id of [...SESSIONS, "ses_gone"]) await askStream(log, id, put);
  await put("global", () => allEvents(log));
  await put("global followed", () => followGlobal(log));
  await put("idempotency", () => Promise.all([log.documents.get("idempotency", "k"), log.documents.get("idempotency", "other")]));
  const artifactId = `art_${createHash("sha256").update(ARTIFACT).digest("hex")}`;
  await put("artifact", () => log.artifacts.stat(artifactId));
  await put("artifact bytes", async () => {
    const found = await log.artifacts.openRead(artifactId);
    return found && (await buffer(found)).toString();
  });
  return answers;
}

async function askStream(log: Log, id: string, put: (question: string, answer: () => unknown) => Promise<void>): Promise<void> {
  const stream = (): Promise<Stream | undefined> => log.stream("session", id);
  const writer = (): Promise<StreamWriter | undefined> => log.writer("session", id);
  await put(`${id} is there`, async () => (await stream()) !== undefined);
  await put(`${id} documents`, () => log.documents.list("queued_message", { prefix: `${id}/` }));
  for (let n = 0; n < 6; n++) await put(`${id} document ${n}`, () => log.documents.get("queued_message", `${id}/${n}`));
  await put(`${id} row`, async () => {
    const found = await writer();
    return [found?.last, found?.lastNative, found?.created_at, found?.openSince()];
  });
  await put(`${id} state`, async () => (await writer())?.state());
  await put(`${id} own documents`, async () => (await writer())?.documents.list("queued_message"));
  await put(`${id} reader`, async () => {
    const found = await stream();
    return [found?.lastCommitted, found?.updatedAt];
  });
  await put(`${id} stated`, async () => [await log.row("session", id), await (await stream())?.row()]);
  await put(`${id} coverage`, async () => (await stream())?.coverage());
  for (const after of [0, 150, 500, 900]) {
    for (const reverse of [false, true]) {
      const options: ReadOptions = { limit: 120, reverse, ...(reverse ? { before: after + 121 } : { after }) };
      await put(`${id} page ${after} ${reverse}`, async () => (await stream())?.read(options));
      await put(`${id} types ${after} ${reverse}`, async () => (await stream())?.read({ ...options, types: ["item.completed"] }));
    }
    await put(`${id} natives ${after}`, async () => (await stream())?.readNative({ after, limit: 150 }));
    await put(`${id} raw ${after}`, async () => [...((await (await stream())?.readRaw([after + 1, after + 40])) ?? [])]);
    await put(`${id} followed ${after}`, async () => follow(await stream(), after));
  }
}

const framedBy = (batch: Batch, name: (index: number) => string): string =>
  batch.framed((index) => `id: ${name(index)}\ndata: `, "\n\n").toString();

/** Without the epoch, which is another one at each opening. */
const placeOfCursor = (cursor: string): string => cursor.replace(/@.*/, "");

function follow(stream: Stream | undefined, after: number): Promise<string[]> | undefined {
  const got: string[] = [];
  return (
    stream &&
    new Promise((resolve, reject) => {
      const subscription = stream.subscribe({
        after,
        onBatch: (batch) =>
          void got.push(
            framedBy(batch, (index) => String(batch.first + index)),
            batch.types.join(),
            batch.natives.join(),
          ),
        onLive: () => {
          subscription.close();
          // How the pages of a catch-up are cut is not part of the answer.
          resolve([got.filter((_, index) => index % 3 === 0).join(""), got.filter((_, index) => index % 3 !== 0).join()]);
        },
        onEnd: (_, error) => reject(error),
      });
    })
  );
}

function followGlobal(log: Log): Promise<string> {
  let got = "";
  return new Promise((resolve, reject) => {
    const subscription = log.subscribeAll({
      after: log.beginning,
      onBatch: (batch) => {
        got += framedBy(batch, (index) => placeOfCursor(batch.cursorOf(index)));
        return true;
      },
      onLive: () => {
        subscription.close();
        resolve(got);
      },
      onEnd: (_, error) => reject(error),
    });
  });
}

async function allEvents(log: Log): Promise<unknown> {
  return (await readAll(log)).map((event) => ({ ...event, cursor: placeOfCursor(event.cursor) }));
}

async function answersOf(dataDir: string): Promise<Answers | string> {
  let log: Log;
  try {
    log = await openSqliteLog({ dataDir });
  } catch (error) {
    if (!(error instanceof LogError) || !REFUSALS.has(error.code)) throw error;
    return error.code;
  }
  const answers = await ask(log);
  await log.close().catch(() => undefined);
  return answers;
}

const PAGE_BYTES = 16_384;

/** Every other one hits what holds a page together (its header, its list of cells): there are few of those bytes, and they matter most. */
function placeOf(next: () => number, size: number, flip: number): number {
  const anywhere = Math.floor(next() * size);
  return flip % 2 === 0 ? anywhere : anywhere - (anywhere % PAGE_BYTES) + Math.floor(next() * 128);
}

describe("flipped bits", () => {
  it(`[D6] ${FLIPS} single ones: none is served as truth (seed ${SEED})`, { timeout: 240_000 + FLIPS * 3_000 }, async () => {
    const original = join(root, "original");
    await fill(original);
    const bytes = readFileSync(join(original, "dragoman.db"));
    const copy = join(root, "copy");
    const reset = (): void => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(original, copy, { recursive: true });
    };
    reset();
    const truth = await answersOf(copy);
    if (typeof truth === "string") throw new Error(`the undamaged log was refused: ${truth}`);
    expect([...truth.values()].filter((answer) => answer.startsWith("refused"))).toEqual([]);
    const next = random(SEED);
    const tally = { refused_at_start: 0, refused_in_part: 0, harmless: 0 };
    const wrong: string[] = [];
    for (let flip = 0; flip < FLIPS; flip++) {
      const [at, bit] = [placeOf(next, bytes.length, flip), Math.floor(next() * 8)];
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
      reset();
      writeFileSync(join(copy, "dragoman.db"), damaged);
      const answers = await answersOf(copy);
      if (typeof answers === "string") {
        tally.refused_at_start++;
        continue;
      }
      const refused = [...answers.values()].filter((answer) => answer.startsWith("refused")).length;
      if (refused > 0) tally.refused_in_part++;
      else tally.harmless++;
      for (const [question, answer] of answers)
        if (!answer.startsWith("refused") && answer !== truth.get(question))
          wrong.push(
            `byte ${at} bit ${bit}: ${question}: ${answer.slice(0, 300)} instead of ${truth.get(question)?.slice(0, 300)}`,
          );
    }
    console.info(`seed ${SEED}, ${FLIPS} flips in ${bytes.length} bytes: ${JSON.stringify(tally)}`);
    expect(wrong).toEqual([]);
  });
});
