import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ArtifactMover } from "./artifact-mover.ts";
import { Postgres } from "./connection.ts";
import { openPostgresLog } from "./log.ts";
import { s3From } from "./s3.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";
import { S3_KEYS, startS3, type TestS3 } from "./test-s3.ts";

describe("a bucket", () => {
  let store: TestS3;
  beforeAll(async () => {
    store = await startS3("bucket");
  });
  afterAll(() => store.stop());

  const open = (place = `s3://bucket/a prefix/with (signs)`, env: NodeJS.ProcessEnv = S3_KEYS) =>
    s3From(`${place}?endpoint=${store.url}&region=eu-central-1`, env);

  it("keeps what is put, gives parts of it, and removes it", async () => {
    const bucket = open();
    const bytes = randomBytes(300_000);
    await bucket.put("art_1/x y+z", bytes);
    const part = Buffer.concat(await (await bucket.get("art_1/x y+z", { start: 100, end: 200_099 })).toArray());
    expect(part.equals(bytes.subarray(100, 200_100))).toBe(true);
    await bucket.remove("art_1/x y+z");
    await bucket.remove("art_1/x y+z");
    await expect(bucket.get("art_1/x y+z", { start: 0, end: 1 })).rejects.toMatchObject({ reason: "missing" });
    await bucket.check();
    expect(store.objects.size).toBe(0);
  });

  it.each([
    ["another key", () => open(undefined, { ...S3_KEYS, AWS_ACCESS_KEY_ID: "OTHER" }), "refused", "InvalidAccessKeyId"],
    ["another secret", () => open(undefined, { ...S3_KEYS, AWS_SECRET_ACCESS_KEY: "no" }), "refused", "SignatureDoesNotMatch"],
    ["another bucket", () => open("s3://none"), "refused", "There is no bucket none"],
    ["nobody there", () => s3From("s3://bucket?endpoint=http://127.0.0.1:9", S3_KEYS), "unreachable", "does not answer"],
  ])("says what is wrong: %s", async (_, make, reason, words) => {
    await expect(make().check()).rejects.toMatchObject({ reason, message: expect.stringContaining(words) });
  });

  it("is refused where its address or its keys are missing", () => {
    expect(() => open(undefined, {})).toThrow("AWS_ACCESS_KEY_ID");
    expect(() => s3From("https://bucket", S3_KEYS)).toThrow("s3://bucket/prefix");
  });
});

describe.skipIf(withoutPostgres())("artifacts on their way into a bucket", () => {
  let server: TestPostgres;
  let store: TestS3;
  let database: Postgres;
  beforeAll(async () => {
    [server, store] = await Promise.all([startPostgres(), startS3("bucket")]);
    database = await Postgres.open({ url: server.url });
  });
  afterAll(async () => {
    await database.close();
    await Promise.all([server.stop(), store.stop()]);
  });

  const setUp = async () => {
    const tenant = randomUUID();
    const bucket = s3From(`s3://bucket/artifacts?endpoint=${store.url}`, S3_KEYS);
    const log = await openPostgresLog({ url: server.url, tenant, as: { node: "test" }, bucket });
    const mover = new ArtifactMover(database, tenant, bucket, 0);
    const rows = async (): Promise<number> =>
      Number((await database.query("SELECT count(*) AS n FROM dragoman.artifact_parts WHERE tenant = $1", [tenant])).rows[0]?.n);
    const read = async (id: string, range?: { start: number; end: number }): Promise<Buffer> =>
      Buffer.concat((await (await log.artifacts.openRead(id, range))?.toArray()) ?? []);
    const put = async (stream: string, bytes: Buffer): Promise<string> => {
      const writer = (await log.writer("session", stream)) ?? (await log.create("session", stream, "{}"));
      const { artifact_id } = writer.artifacts.put(bytes, { kind: "file", mime: "application/octet-stream" });
      await writer.committed();
      return artifact_id;
    };
    return { log, mover, rows, read, put, tenant };
  };

  it("leaves one with damaged rows where it is, moves the others, and comes to an end", async () => {
    const { mover, put, tenant, rows, log } = await setUp();
    const damaged = await put("s", randomBytes(1_000));
    await put("s", randomBytes(2_000));
    await database.query("UPDATE dragoman.artifact_parts SET body = substr(body, 2) WHERE tenant = $1 AND artifact_id = $2", [
      tenant,
      damaged,
    ]);
    expect([await mover.move(), await mover.move(), await rows()]).toEqual([1, 0, 1]);
    await log.close();
    store.objects.clear();
  });

  it("are read the same before and after, whole and in part, also by a daemon that starts later", async () => {
    const { log, mover, rows, read, put, tenant } = await setUp();
    const [large, small] = [randomBytes(700_000), Buffer.from("small")];
    const ids = [await put("s1", large), await put("s1", small)];
    expect(await rows()).toBeGreaterThan(0);
    while ((await mover.move()) > 0);
    expect(await rows()).toBe(0);
    expect(store.objects.size).toBe(2);
    expect((await read(ids[0] ?? "")).equals(large)).toBe(true);
    expect((await read(ids[0] ?? "", { start: 255_000, end: 300_000 })).equals(large.subarray(255_000, 300_001))).toBe(true);
    expect((await read(ids[1] ?? "")).toString()).toBe("small");
    // The same bytes again, by another stream: they are in the bucket already.
    expect(await put("s2", large)).toBe(ids[0]);
    while ((await mover.move()) > 0);
    expect([await rows(), store.objects.size]).toEqual([0, 2]);
    await log.close();
    const without = await openPostgresLog({ url: server.url, tenant, as: { node: "other" } });
    await expect(without.artifacts.openRead(ids[0] ?? "")).rejects.toMatchObject({ code: "not_ready" });
    await without.close();
    store.objects.clear();
  });

  it("stay in the database while the bucket fails, and nothing is lost", async () => {
    const { log, mover, rows, read, put } = await setUp();
    const bytes = randomBytes(10_000);
    store.setFailing(true);
    const id = await put("s1", bytes);
    await expect(mover.move()).rejects.toMatchObject({ reason: "unreachable" });
    expect((await read(id)).equals(bytes)).toBe(true);
    expect(await rows()).toBe(1);
    store.setFailing(false);
    expect(await mover.move()).toBe(1);
    expect(await rows()).toBe(0);
    expect((await read(id)).equals(bytes)).toBe(true);
    // What was moved cannot be read while the bucket is away: a refusal, no damage.
    store.setFailing(true);
    log.artifacts.forgetAll();
    await expect(read(id)).rejects.toMatchObject({ code: "not_ready" });
    store.setFailing(false);
    expect((await read(id)).equals(bytes)).toBe(true);
    // Bytes that were changed in the bucket are never given out.
    for (const key of store.objects.keys()) store.objects.set(key, randomBytes(10_000));
    log.artifacts.forgetAll();
    await expect(read(id)).rejects.toMatchObject({ code: "corrupt_artifact" });
    await log.close();
    store.objects.clear();
  });

  it("go from the bucket with the last of their streams, and only then", async () => {
    const { log, mover, put, read } = await setUp();
    const bytes = randomBytes(1_000);
    const id = await put("s1", bytes);
    await put("s2", bytes);
    while ((await mover.move()) > 0);
    await log.delete("session", "s1");
    await log.erased();
    expect(await mover.sweep()).toBe(0);
    expect((await read(id)).equals(bytes)).toBe(true);
    await log.delete("session", "s2");
    await log.erased();
    expect(await mover.sweep()).toBe(1);
    expect(store.objects.size).toBe(0);
    expect(await log.artifacts.openRead(id)).toBeUndefined();
    await log.close();
  });
});
