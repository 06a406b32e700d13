import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LogError } from "../log-error.ts";
import { Postgres, PostgresError } from "./connection.ts";
import { migrate } from "./migrations.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";

const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "done",
    (error: unknown) => (error instanceof PostgresError ? error.reason : error instanceof LogError ? error.code : String(error)),
  );

describe.skipIf(withoutPostgres())("the connection to Postgres", () => {
  let server: TestPostgres;
  let database: Postgres;
  beforeAll(async () => {
    server = await startPostgres();
    database = await Postgres.open({ url: server.url });
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });

  it("gives bytes, numbers and texts back as they are", async () => {
    const bytes = Buffer.from([0, 255, 10, 92]);
    const { rows } = await database.query(
      "SELECT $1::bytea AS bytes, 9007199254740991::bigint AS big, $2::text AS word, NULL AS none",
      [bytes, "größe"],
    );
    expect(rows).toEqual([{ bytes, big: Number.MAX_SAFE_INTEGER, word: "größe", none: null }]);
  });

  it("keeps all of a transaction or nothing", async () => {
    await database.query("CREATE TABLE kept (n integer PRIMARY KEY)");
    await database.transaction(async (sql) => sql.query("INSERT INTO kept VALUES (1)"));
    const refused = database.transaction(async (sql) => {
      await sql.query("INSERT INTO kept VALUES (2)");
      await sql.query("INSERT INTO kept VALUES (1)");
    });
    expect(await reasonOf(refused)).toBe("refused");
    expect((await database.query("SELECT n FROM kept")).rows).toEqual([{ n: 1 }]);
  });

  it("tells a lost connection from a refusal, and goes on when the database is back", async () => {
    expect(await reasonOf(database.query("SELECT nothing_there"))).toBe("refused");
    const slow = reasonOf(database.query("SELECT pg_sleep(60)"));
    const inside = reasonOf(database.transaction((sql) => sql.query("SELECT pg_sleep(60)")));
    await expect
      .poll(
        async () =>
          (await database.query("SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'")).rows[0]?.n,
      )
      .toBe(2);
    await server.kill();
    expect(await Promise.all([slow, inside])).toEqual(["lost", "lost"]);
    expect(await reasonOf(database.query("SELECT 1"))).toBe("lost");
    await server.restart();
    expect((await database.query("SELECT n FROM kept")).rows).toEqual([{ n: 1 }]);
  });

  it("never shows user and password", async () => {
    const other = await Postgres.open({ url: "postgres://somebody:secret@127.0.0.1:1/there" });
    const said = await other.query("SELECT 1").catch(String);
    expect(said).toContain("127.0.0.1:1/there");
    expect(said).not.toMatch(/somebody|secret/);
    await other.close();
  });

  it("runs the steps of every room once, also when many begin at once", async () => {
    const rooms = [
      { room: "one", steps: ["CREATE TABLE dragoman.one (n integer); INSERT INTO dragoman.one VALUES (1)"] },
      { room: "two", steps: ["CREATE TABLE dragoman.two (n integer)"] },
    ];
    await Promise.all([1, 2, 3, 4].map(() => migrate(database, rooms)));
    await migrate(database, [{ room: "one", steps: [...(rooms[0]?.steps ?? []), "INSERT INTO dragoman.one VALUES (2)"] }]);
    expect((await database.query("SELECT n FROM dragoman.one ORDER BY n")).rows).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it("refuses a database that a newer program wrote, and undoes a step that fails", async () => {
    expect(await reasonOf(migrate(database, [{ room: "one", steps: [] }]))).toBe("database_newer");
    const broken = {
      room: "three",
      steps: ["CREATE TABLE dragoman.three (n integer)", "CREATE TABLE dragoman.three (n integer)"],
    };
    expect(await reasonOf(migrate(database, [broken]))).toBe("migration_failed");
    expect((await database.query("SELECT to_regclass('dragoman.three') AS there")).rows).toEqual([{ there: null }]);
  });
});
