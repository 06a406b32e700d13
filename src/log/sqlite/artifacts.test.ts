import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { codeOfLater } from "../log.suite.ts";
import { type Artifacts, type ArtifactWriter, type Log, openSqliteLog } from "./log.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-artifacts-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function open(dataDir: string): Promise<Log> {
  const log = await openSqliteLog({ dataDir });
  cleanups.push(() => log.close());
  return log;
}

/** What a session of this id stores. */
const ownedBy = async (log: Log, id: string): Promise<ArtifactWriter> =>
  ((await log.writer("session", id)) ?? (await log.create("session", id, "{}"))).artifacts;

async function bytesOf(artifacts: Artifacts, id: string, range?: { start?: number; end?: number }): Promise<Buffer> {
  const stream = await artifacts.openRead(id, range);
  if (stream === undefined) throw new Error(`${id} is not there`);
  return buffer(stream);
}

const bytes = Buffer.from("0123456789");
const sha = createHash("sha256").update(bytes).digest("hex");
const png = { kind: "image", mime: "image/png" };

describe("artifacts", () => {
  it("are named after their bytes, stored once, and keep their first description", async () => {
    const dataDir = tempDir();
    const log = await open(dataDir);
    const artifacts = await ownedBy(log, "ses_1");
    expect(await log.artifacts.stat(`art_${sha}`)).toBeUndefined();
    const first = artifacts.put(bytes, { ...png, name: "a.png" });
    expect(first).toMatchObject({
      artifact_id: `art_${sha}`,
      path: `/v1/artifacts/art_${sha}`,
      bytes: 10,
      digest: `sha256:${sha}`,
      ...png,
      name: "a.png",
    });
    const again = artifacts.put(Buffer.from(bytes), { kind: "output", mime: "text/plain" });
    expect(again).toEqual(first);
    await log.documents.committed();
    expect(artifacts.put(bytes, { kind: "output", mime: "text/plain" })).toEqual(first);
    expect(await log.artifacts.stat(`art_${sha}`)).toEqual(first);
    expect(readdirSync(join(dataDir, "artifacts", sha.slice(0, 2)))).toEqual([sha]);
    expect(readdirSync(join(dataDir, "artifacts", "tmp"))).toEqual([]);
  });

  it("with a NUL in what an agent calls them are read like others", async () => {
    const dataDir = tempDir();
    const log = await open(dataDir);
    const put = (await ownedBy(log, "ses_1")).put(bytes, { ...png, name: "a\0b.png" });
    await log.documents.committed();
    await log.close();
    const again = await open(dataDir);
    expect(await again.artifacts.stat(put.artifact_id)).toEqual({ ...put, name: "a\ufffdb.png" });
    expect(await bytesOf(again.artifacts, put.artifact_id)).toEqual(bytes);
  });

  it("are read in whole and in ranges, before and after a reopening", async () => {
    const dataDir = tempDir();
    const log = await open(dataDir);
    const { artifact_id } = (await ownedBy(log, "ses_1")).put(bytes, png);
    const empty = (await ownedBy(log, "ses_1")).put(Buffer.alloc(0), png);
    expect(await bytesOf(log.artifacts, artifact_id, { start: 2, end: 4 })).toEqual(Buffer.from("234"));
    await log.close();
    const { artifacts } = await open(dataDir);
    expect(await artifacts.stat(artifact_id)).toMatchObject({ mime: "image/png", bytes: 10, name: null });
    expect(await bytesOf(artifacts, artifact_id)).toEqual(bytes);
    expect(await bytesOf(artifacts, artifact_id, { start: 8 })).toEqual(Buffer.from("89"));
    expect(await bytesOf(artifacts, empty.artifact_id)).toEqual(Buffer.alloc(0));
  });

  it("are not found under ids that are none, wherever these would lead", async () => {
    const dataDir = tempDir();
    const { artifacts } = await open(dataDir);
    writeFileSync(join(dataDir, "secret"), "x");
    for (const id of ["", "art_", "art_../../secret", `art_${"g".repeat(64)}`, `art_${sha}/../x`, `ART_${sha}`, `art_${sha}\n`]) {
      expect([id, await codeOfLater(artifacts.stat(id)), await codeOfLater(artifacts.openRead(id))]).toEqual([
        id,
        "invalid_artifact_id",
        "invalid_artifact_id",
      ]);
    }
    expect([await artifacts.stat(`art_${sha}`), await artifacts.openRead(`art_${sha}`)]).toEqual([undefined, undefined]);
  });

  it("heal: a lost file comes back with the next put, what was half written is swept away", async () => {
    const dataDir = tempDir();
    const log = await open(dataDir);
    const { artifact_id } = (await ownedBy(log, "ses_1")).put(bytes, png);
    rmSync(join(dataDir, "artifacts", sha.slice(0, 2), sha));
    expect(await log.artifacts.openRead(artifact_id)).toBeUndefined();
    // Known all along: it keeps its first description.
    expect((await ownedBy(log, "ses_1")).put(bytes, { kind: "output", mime: "text/plain" })).toMatchObject({
      artifact_id,
      ...png,
    });
    expect(await bytesOf(log.artifacts, artifact_id)).toEqual(bytes);
    const half = join(dataDir, "artifacts", "tmp", "half");
    writeFileSync(half, "x");
    await log.close();
    await open(dataDir);
    expect(existsSync(half)).toBe(false);
  });

  it("[D6] are verified by their hash before a byte is given, also a range, and after a change of the file", async () => {
    const dataDir = tempDir();
    const log = await open(dataDir);
    const { artifact_id } = (await ownedBy(log, "ses_1")).put(bytes, png);
    const file = join(dataDir, "artifacts", sha.slice(0, 2), sha);
    expect(await bytesOf(log.artifacts, artifact_id)).toEqual(bytes);
    for (const wrong of ["0123456780", "01234567890", ""]) {
      writeFileSync(file, wrong);
      for (const range of [undefined, { start: 0, end: 3 }])
        expect([wrong, await codeOfLater(log.artifacts.openRead(artifact_id, range))]).toEqual([wrong, "corrupt_artifact"]);
    }
    expect(log.health().damage).toMatchObject({ places: 1, message: expect.stringContaining(artifact_id) });
    // Known all along: it keeps its first description.
    expect((await ownedBy(log, "ses_1")).put(bytes, { kind: "output", mime: "text/plain" })).toMatchObject({
      artifact_id,
      ...png,
    });
    expect(await bytesOf(log.artifacts, artifact_id)).toEqual(bytes);
  });

  it("are never read through a link, not even to the right bytes", async () => {
    const dataDir = tempDir();
    const log = await open(dataDir);
    const { artifact_id } = (await ownedBy(log, "ses_1")).put(bytes, png);
    const folder = join(dataDir, "artifacts", sha.slice(0, 2));
    const elsewhere = join(dataDir, "elsewhere");
    renameSync(join(folder, sha), elsewhere);
    symlinkSync(elsewhere, join(folder, sha));
    expect(await codeOfLater(log.artifacts.openRead(artifact_id))).toBe("corrupt_artifact");
    rmSync(join(folder, sha));
    renameSync(folder, `${folder}-moved`);
    symlinkSync(`${folder}-moved`, folder);
    renameSync(elsewhere, join(folder, sha));
    expect(await codeOfLater(log.artifacts.openRead(artifact_id))).toBe("corrupt_artifact");
  });

  it("go with the last stream that stored them, and not before", async () => {
    const dataDir = tempDir();
    const log = await open(dataDir);
    const { artifact_id } = (await ownedBy(log, "ses_1")).put(bytes, png);
    const alone = (await ownedBy(log, "ses_2")).put(Buffer.from("only here"), png);
    (await ownedBy(log, "ses_2")).put(bytes, png);
    await log.documents.committed();
    await log.delete("session", "ses_2");
    await log.erased();
    expect([await log.artifacts.stat(alone.artifact_id), await bytesOf(log.artifacts, artifact_id)]).toEqual([undefined, bytes]);
    // The same bytes, stored again in the tick in which their last stream goes.
    const third = await ownedBy(log, "ses_3");
    const gone = log.delete("session", "ses_1");
    third.put(bytes, png);
    expect(await gone).toBe(true);
    await log.erased();
    expect(await bytesOf(log.artifacts, artifact_id)).toEqual(bytes);
    await log.delete("session", "ses_3");
    await log.erased();
    expect(await log.artifacts.stat(artifact_id)).toBeUndefined();
    const left = readdirSync(join(dataDir, "artifacts"), { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile())).toEqual([]);
    expect(await codeOfLater(ownedBy(log, "ses_4"))).toBe("nothing was thrown");
  });
});
