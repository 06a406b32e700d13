/** Artifacts of a fleet in a bucket: real nodes, a real database, and a store that checks every signature. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../../src/log/postgres/connection.ts";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { S3_KEYS, startS3, type TestS3 } from "../../src/log/postgres/test-s3.ts";
import { cli } from "../daemon-process.ts";
import { TestCluster } from "./test-cluster.ts";

describe.skipIf(withoutPostgres())("artifacts of a fleet in a bucket", () => {
  let cluster: TestCluster;
  let store: TestS3;
  let database: Postgres;
  const env = (bucket = "bucket", more: Record<string, string> = {}) => ({
    DRAGOMAN_ARTIFACTS: `s3://${bucket}/artifacts?endpoint=${store.url}`,
    ...S3_KEYS,
    ...more,
  });

  beforeAll(async () => {
    store = await startS3("bucket");
    cluster = await TestCluster.start([]);
    for (const name of ["a", "b"]) await cluster.start(name, { env: env() });
    database = await Postgres.open({ url: cluster.postgres.url });
  });
  afterAll(async () => {
    await database?.close();
    await cluster?.stop();
    await store?.stop();
  });

  const inDatabase = async (): Promise<number> =>
    Number((await database.query("SELECT count(*) AS n FROM dragoman.artifact_parts")).rows[0]?.n);
  /** A message with a file; the bytes as a node gives them out. */
  const attach = async (id: string, text: string): Promise<string> => {
    const attachment = { mime: "text/plain", name: "note.txt", data: Buffer.from(text).toString("base64") };
    const sent = await cluster.call("b", "POST", `/v1/sessions/${id}/messages`, {
      message: "say got it",
      attachments: [attachment],
    });
    expect(sent.status, await sent.text()).toBe(202);
    const artifacts = async (): Promise<{ artifact_id: string }[]> =>
      (await cluster.json<{ artifacts: { artifact_id: string }[] }>("b", `/v1/sessions/${id}/artifacts`)).artifacts;
    await expect.poll(artifacts).toHaveLength(1);
    return (await artifacts())[0]?.artifact_id ?? "";
  };
  const read = (through: string, artifact: string): Promise<Response> =>
    cluster.call(through, "GET", `/v1/artifacts/${artifact}`);

  it("are moved there, and read through every node; what comes while it is away stays in the database", async () => {
    const id = await cluster.create("a");
    const first = await attach(id, "the first file");
    await expect.poll(inDatabase).toBe(0);
    expect([...store.objects.values()].map(String)).toEqual(["the first file"]);
    for (const through of ["a", "b"]) expect(await (await read(through, first)).text()).toBe("the first file");
    await store.stop();
    const other = await cluster.create("a");
    const second = await attach(other, "while it is away");
    expect(await (await read("b", second)).text()).toBe("while it is away");
    const port = Number(new URL(store.url).port);
    store = await startS3("bucket", port);
    await expect.poll(inDatabase).toBe(0);
    expect([...store.objects.values()].map(String)).toEqual(["while it is away"]);
    expect(await (await read("a", second)).text()).toBe("while it is away");
  });

  it.each([
    ["keys that are refused", () => env("bucket", { AWS_SECRET_ACCESS_KEY: "wrong" }), "SignatureDoesNotMatch"],
    ["a bucket that is not there", () => env("none"), "There is no bucket none"],
    ["no keys", () => env("bucket", { AWS_ACCESS_KEY_ID: "" }), "AWS_ACCESS_KEY_ID"],
  ])("stop the start of a node, with words: %s", async (_, given, words) => {
    await expect(cluster.start("c", { env: given() })).rejects.toThrow(words);
  });

  it("are looked after by the check of the cluster", async () => {
    const check = (more: Record<string, string>) =>
      cli(cluster.home, ["cluster", "check", "--cluster", cluster.postgres.url], "", more);
    expect(await check(env())).toMatchObject({ code: 0, err: "" });
    const wrong = await check(env("none"));
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining("There is no bucket none")]);
  });
});
