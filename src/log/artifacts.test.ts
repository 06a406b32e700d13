import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { type Log, openLog } from "./log.ts";
import { codeOf } from "./log-contract.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(dataDir?: string): Promise<Log> {
  const dir = dataDir ?? mkdtempSync(join(tmpdir(), "dragoman-artifacts-"));
  if (dataDir === undefined) cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  const log = await openLog({ dataDir: dir });
  cleanups.push(() => log.close());
  return log;
}

const bytes = Buffer.from("0123456789");
const sha = createHash("sha256").update(bytes).digest("hex");
const png = { kind: "image", mime: "image/png" };

describe("artifacts", () => {
  it("are named after their bytes, stored once, and keep their first description", async () => {
    const { artifacts, dataDir } = await open();
    const first = artifacts.put(bytes, { ...png, name: "a.png" });
    expect(first).toMatchObject({
      artifact_id: `art_${sha}`,
      path: `/v1/artifacts/art_${sha}`,
      bytes: 10,
      digest: `sha256:${sha}`,
      existed: false,
    });
    const again = artifacts.put(Buffer.from(bytes), { kind: "output", mime: "text/plain" });
    expect(again).toEqual({ ...first, existed: true });
    expect(readdirSync(join(dataDir, "artifacts", sha.slice(0, 2)))).toEqual([sha]);
    expect(readdirSync(join(dataDir, "artifacts", "tmp"))).toEqual([]);
  });

  it("are read in whole and in ranges, before and after a reopening", async () => {
    const log = await open();
    const { artifact_id } = log.artifacts.put(bytes, png);
    const empty = log.artifacts.put(Buffer.alloc(0), png);
    expect(await buffer(log.artifacts.openRead(artifact_id, { start: 2, end: 4 })!)).toEqual(Buffer.from("234"));
    await log.close();
    const { artifacts } = await open(log.dataDir);
    expect(artifacts.stat(artifact_id)).toMatchObject({ mime: "image/png", bytes: 10, name: null });
    expect(await buffer(artifacts.openRead(artifact_id)!)).toEqual(bytes);
    expect(await buffer(artifacts.openRead(artifact_id, { start: 8 })!)).toEqual(Buffer.from("89"));
    expect(await buffer(artifacts.openRead(empty.artifact_id)!)).toEqual(Buffer.alloc(0));
  });

  it("are not found under ids that are none, wherever these would lead", async () => {
    const { artifacts, dataDir } = await open();
    writeFileSync(join(dataDir, "secret"), "x");
    for (const id of ["", "art_", "art_../../secret", `art_${"g".repeat(64)}`, `art_${sha}/../x`, `ART_${sha}`, `art_${sha}\n`]) {
      expect([id, codeOf(() => artifacts.stat(id)), codeOf(() => artifacts.openRead(id))]).toEqual([
        id,
        "invalid_artifact_id",
        "invalid_artifact_id",
      ]);
    }
    expect([artifacts.stat(`art_${sha}`), artifacts.openRead(`art_${sha}`)]).toEqual([undefined, undefined]);
  });

  it("heal: a lost file comes back with the next put, what was half written is swept away", async () => {
    const log = await open();
    const { artifact_id } = log.artifacts.put(bytes, png);
    rmSync(join(log.dataDir, "artifacts", sha.slice(0, 2), sha));
    expect(log.artifacts.openRead(artifact_id)).toBeUndefined();
    expect(log.artifacts.put(bytes, png).existed).toBe(true);
    expect(await buffer(log.artifacts.openRead(artifact_id)!)).toEqual(bytes);
    const half = join(log.dataDir, "artifacts", "tmp", "half");
    writeFileSync(half, "x");
    await log.close();
    await open(log.dataDir);
    expect(existsSync(half)).toBe(false);
  });
});
