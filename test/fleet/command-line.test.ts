/** What a person reads who looks after a fleet with the command line: its database before there is a fleet, nodes that start, a turn whose node dies, and a fleet whose nodes are all gone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../../src/log/postgres/connection.ts";
import { freePort, startPostgres, type TestPostgres, withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { CLI, cleanEnv, cli } from "../daemon-process.ts";
import { SECRET, TestCluster, TOKEN } from "./test-cluster.ts";

describe.skipIf(withoutPostgres())("a fleet on the command line", () => {
  let postgres: TestPostgres;
  let cluster: TestCluster;
  beforeAll(async () => {
    postgres = await startPostgres();
    cluster = new TestCluster(postgres);
  });
  afterAll(() => cluster?.stop());

  const run = (args: string[], through?: string) => {
    const env = through === undefined ? {} : { DRAGOMAN_URL: cluster.node(through).url, DRAGOMAN_TOKEN: TOKEN };
    return cli(cluster.home, args, "", env);
  };
  const elsewhere = async (): Promise<string> => `postgres://postgres@127.0.0.1:${await freePort()}/dragoman`;

  it.each(["check", "after-restore"])("cluster %s before there are tables names the command that makes them", async (word) => {
    const { code, err } = await run(["cluster", word, "--cluster", postgres.url]);
    expect({ code, lines: err.trim().split("\n").length }).toEqual({ code: 1, lines: 1 });
    expect(err).toContain("has no tables of a fleet. Make them with `dragoman cluster init`. [database_refused]");
  });

  it.each([
    ["cluster init", async () => ["cluster", "init", "--cluster", await elsewhere()]],
    ["cluster check", async () => ["cluster", "check", "--cluster", await elsewhere()]],
    ["migrate", async () => ["migrate", "--from", await elsewhere(), "--to", cluster.home]],
  ])("%s says in one sentence that a database cannot be reached", async (_, args) => {
    const { code, err } = await run(await args());
    expect({ code, lines: err.trim().split("\n").length }).toEqual({ code: 1, lines: 1 });
    expect(err).toMatch(
      /^dragoman: The database 127\.0\.0\.1:\d+\/dragoman cannot be reached \(.*\)\. \[database_unreachable\]$/m,
    );
  });

  it("an address of something else is refused", async () => {
    const { code, err } = await run(["cluster", "check", "--cluster", "mysql://db/dragoman"]);
    expect([code, err]).toEqual([
      1,
      "dragoman: This is no address of a Postgres: write postgres://user@host:5432/name. [database_refused]\n",
    ]);
  });

  it("a node whose database cannot be reached does not start, and does not promise to go on", async () => {
    const { code, err } = await cli(cluster.home, ["serve", "--port", "0", "--cluster", await elsewhere()], "", {
      DRAGOMAN_CLUSTER_SECRET: SECRET,
    });
    expect([code, err]).toEqual([1, expect.stringContaining("Start dragoman again when the database is there.")]);
  });

  it("a node that starts says which one it is, and where the log is, without the password", async () => {
    const url = postgres.url.replace("postgres@", "postgres:secret@");
    const args = [
      CLI,
      "serve",
      "--port",
      "0",
      "--no-open",
      "--cluster",
      url,
      "--node-id",
      "z",
      "--data-dir",
      `${cluster.home}/z`,
    ];
    const env = { ...cleanEnv(cluster.home), DRAGOMAN_CLUSTER_SECRET: SECRET };
    const node = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(node, "exit");
    let said = "";
    for await (const text of node.stdout.setEncoding("utf8")) {
      said += text;
      if (said.includes("Ctrl-C stops")) node.kill("SIGTERM");
    }
    await ended;
    expect(said).toContain(
      `  Fleet      z, with the log in ${new URL(postgres.url).host}/postgres; its nodes: dragoman nodes ls`,
    );
  });

  it("sessions are listed with their nodes, a turn whose node dies says that it was interrupted, and check names what sessions wait for", async () => {
    for (const name of ["a", "b"]) await cluster.start(name);
    const id = await cluster.create("a", "b");
    const running = run(["run", "mock", "hang", "-s", id], "b");
    await cluster.hasEvents("b", id, "turn.started");
    expect((await run(["ls"], "b")).out).toMatch(/DIRECTORY +NODE\n.* a\n/);
    await cluster.kill("a");
    const { code, err } = await running;
    expect([code, err]).toEqual([130, expect.stringContaining("The turn ended: interrupted.")]);
    await expect.poll(async () => (await run(["ls"], "b")).out).toMatch(/ b\n/);
    await cluster.kill("b");
    const database = await Postgres.open({ url: postgres.url });
    await database.query("UPDATE dragoman.nodes SET state = 'fenced'");
    await database.close();
    const check = await run(["cluster", "check", "--cluster", postgres.url]);
    expect(check.code).toBe(1);
    expect(check.out).toContain("0 of 3 nodes live\n");
    expect(check.out).toContain(
      `! Session ${id} waits for a node with the place shared: its directory is on no node that takes sessions.\n`,
    );
  });
});
