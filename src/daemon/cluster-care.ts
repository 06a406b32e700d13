/** The database of a fleet, looked after without a node: made, examined, and put right after a restore. Loaded by the command line alone. */
import { unclaimable } from "../cluster/placement.ts";
import { FLEET_TABLES, PostgresRegistry } from "../cluster/postgres-registry.ts";
import { Postgres } from "../log/postgres/connection.ts";
import { migrate } from "../log/postgres/migrations.ts";
import { logTables } from "../log/postgres/schema.ts";

async function within<T>(url: string, work: (database: Postgres) => Promise<T>): Promise<T> {
  const database = await Postgres.open({ url, connections: 2 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Where the tables are now. */
export const initCluster = (url: string): Promise<string> =>
  within(url, async (database) => {
    await migrate(database, [logTables, FLEET_TABLES]);
    return database.place;
  });

/** How many sessions there are. */
export const afterRestore = (url: string): Promise<number> =>
  within(url, (database) => new PostgresRegistry(database).afterRestore());

export const checkCluster = (url: string): Promise<{ facts: string[]; faults: string[] }> =>
  within(url, async (database) => {
    const registry = new PostgresRegistry(database);
    const { rows } = await database.query("SELECT version() AS version, current_setting('synchronous_commit') AS sync");
    const nodes = await registry.nodes();
    const living = nodes.filter(({ state, lease_ms }) => state !== "fenced" && lease_ms >= 0);
    const orphans = await registry.unowned(1_000);
    const waiting = orphans.filter((session) => unclaimable(session, nodes) !== null);
    const facts = [
      `${String(rows[0]?.version)} at ${database.place}`,
      `${living.length} of ${nodes.length} nodes live: ${living.map(({ node_id, kind, state, sessions }) => `${node_id} (${kind}, ${state}, ${sessions} sessions)`).join(", ")}`,
    ];
    const faults = [
      ...(rows[0]?.sync === "off"
        ? ["synchronous_commit is off: what clients were told can be lost when the database crashes."]
        : []),
      ...(living.some(({ kind, state }) => kind === "node" && state === "up") ? [] : ["No node takes sessions."]),
      ...(new Set(living.map(({ version }) => version)).size > 1 ? ["Nodes of different versions run side by side."] : []),
      ...waiting
        .slice(0, 20)
        .map(
          (session) =>
            `Session ${session.session_id} waits for node ${session.home}: its ${unclaimable(session, nodes)} is nowhere else.`,
        ),
    ];
    return { facts, faults };
  });
