/** What a node of the build before asks the tables of this one, while its sessions wait to be moved: its statements as they were. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemoryLog } from "../log/memory/log.ts";
import { OBJECT_TABLES } from "../log/postgres/artifact-mover.ts";
import { Postgres } from "../log/postgres/connection.ts";
import { migrate } from "../log/postgres/migrations.ts";
import { logTables } from "../log/postgres/schema.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "../log/postgres/test-postgres.ts";
import { toProblemError } from "../server/problems.ts";
import { fleetLog } from "./fleet-log.ts";
import { FLEET_TABLES } from "./fleet-tables.ts";
import { PostgresRegistry } from "./postgres-registry.ts";
import type { NodeProfile, NodeRef } from "./registry.ts";

const FIND = `SELECT o.*, (o.node_id IS NOT NULL AND dragoman.is_living(o.node_id, o.incarnation)) AS owned FROM dragoman.owners o
  WHERE o.session_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))`;
const CLAIM = `WITH free AS (
    SELECT o.session_id, o.node_id AS owner, coalesce(o.node_id, o.released_by) AS from_node FROM dragoman.owners o
    WHERE (o.node_id IS NULL OR NOT dragoman.is_living(o.node_id, o.incarnation))
      AND dragoman.is_living($1, $2) AND dragoman.takes($1, o.home, o.place, o.agent)
      AND (o.wanted IS NULL OR o.wanted = $1 OR NOT dragoman.takes(o.wanted, o.home, o.place, o.agent))
    ORDER BY o.session_id LIMIT $3 FOR UPDATE OF o SKIP LOCKED),
  streams AS (
    UPDATE dragoman.streams s SET owner = n.writer, epoch = s.epoch + 1 FROM free, dragoman.nodes n
    WHERE n.node_id = $1 AND s.kind = 'session' AND s.id = free.session_id)
  UPDATE dragoman.owners o SET node_id = $1, incarnation = $2, epoch = o.epoch + 1, wanted = NULL, released_by = NULL
  FROM free WHERE o.session_id = free.session_id RETURNING o.session_id, o.epoch`;
const RELEASE = `UPDATE dragoman.owners SET node_id = NULL, incarnation = NULL, wanted = $4, released_by = $1
  WHERE session_id = $3 AND node_id = $1 AND incarnation = $2`;

describe.skipIf(withoutPostgres())("a node of the build before, with the tables of this one", () => {
  let server: TestPostgres;
  let database: Postgres;
  beforeAll(async () => {
    server = await startPostgres();
    database = await Postgres.open({ url: server.url });
    await migrate(database, [logTables, OBJECT_TABLES, FLEET_TABLES]);
  });
  afterAll(async () => {
    await database?.close();
    await server?.stop();
  });

  it("finds the owners of sessions, gives its own away, and takes what it is given", async () => {
    const registry = new PostgresRegistry(database);
    const join = async (node_id: string): Promise<NodeRef> => {
      const at = { node_id, kind: "node", writer: `${node_id}/1`, url: `http://${node_id}`, version: "1" } as const;
      const profile: NodeProfile = { ...at, labels: {}, places: ["p"], agents: ["mock"], capacity: 5 };
      return registry.join(profile, { term_ms: 60_000, birth: await registry.birth() });
    };
    const [before, here] = [await join("before"), await join("here")];
    await registry.own(before, { session_id: "s", agent: "mock", place: "p" });
    const found = async () => (await database.query(FIND, [JSON.stringify(["s"])])).rows[0];
    expect(await found()).toMatchObject({ node_id: "before", owned: 1 });
    expect((await database.query(RELEASE, [before.node_id, before.incarnation, "s", "here"])).count).toBe(1);
    const claimed = async () => (await database.query(CLAIM, [before.node_id, before.incarnation, 5])).rows;
    // The one that it is meant for comes first.
    expect(await claimed()).toEqual([]);
    expect(await registry.claim(here, { limit: 5 })).toMatchObject([
      { session_id: "s", epoch: 2, from: "before", reason: "move" },
    ]);
    await registry.release(here, { session_id: "s", epoch: 2 }, { to: "before" });
    expect(await claimed()).toMatchObject([{ session_id: "s", epoch: 3 }]);
    expect(await found()).toMatchObject({ node_id: "before", owned: 1, epoch: 3 });
  });

  it("is told what to do when it asks for what is not there any more", async () => {
    const refused = async (statement: string): Promise<unknown> => {
      const own = () => database.query(statement).then(() => 1);
      const node = { own, forget: async () => undefined, epochOf: () => undefined, refused: () => undefined };
      return fleetLog(new MemoryLog({}), { node, placeOf: () => null })
        .create("session", "s", "{}")
        .then(() => null, toProblemError);
    };
    const ON_CONFLICT = `INSERT INTO dragoman.owners (session_id, tenant, agent, home, epoch) VALUES ('x', '', 'mock', 'before', 1)
      ON CONFLICT (session_id) DO NOTHING`;
    for (const statement of [
      ON_CONFLICT,
      "SELECT dragoman.commit_0()",
      "SELECT none FROM dragoman.owners",
      "SELECT FROM dragoman.none",
    ])
      expect(await refused(statement)).toMatchObject({ code: "not_ready", message: expect.stringContaining("update this one") });
  });
});
