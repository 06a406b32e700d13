/** The database of a fleet, looked after without a node: made, examined, and put right after a restore. Loaded by the command line alone. */

import { FLEET_TABLES } from "../cluster/fleet-tables.ts";
import { isLiving, unclaimable } from "../cluster/placement.ts";
import { PostgresRegistry } from "../cluster/postgres-registry.ts";
import { LogError } from "../log/log-error.ts";
import { OBJECT_TABLES } from "../log/postgres/artifact-mover.ts";
import { Postgres, PostgresError } from "../log/postgres/connection.ts";
import { migrate } from "../log/postgres/migrations.ts";
import { s3From } from "../log/postgres/s3.ts";
import { logTables } from "../log/postgres/schema.ts";

async function within<T>(url: string, work: (database: Postgres) => Promise<T>): Promise<T> {
  const database = await Postgres.open({ url, connections: 2 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const hasNodes = async (database: Postgres): Promise<boolean> =>
  (await database.query("SELECT to_regclass('dragoman.nodes') IS NOT NULL AS there")).rows[0]?.there === 1;

/** The same, in a database that has the tables of a fleet. */
const withinFleet = <T>(url: string, work: (database: Postgres) => Promise<T>): Promise<T> =>
  within(url, async (database) => {
    if (await hasNodes(database)) return work(database);
    const message = `The database ${database.place} has no tables of a fleet. Make them with \`dragoman cluster init\`.`;
    throw new PostgresError("refused", "no_tables", message, undefined);
  });

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

async function bucketFaults(artifacts: string): Promise<string[]> {
  try {
    await s3From(artifacts, process.env).check();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Where the tables are now. */
export const initCluster = (url: string): Promise<string> =>
  within(url, async (database) => {
    await migrate(database, [logTables, OBJECT_TABLES, FLEET_TABLES]);
    return database.place;
  });

/** How many sessions there are. */
export const afterRestore = (url: string): Promise<number> =>
  withinFleet(url, (database) => new PostgresRegistry(database).afterRestore());

/** Throws `data_dir_locked` while nodes of a fleet share the log there: one who has it to himself would write beside them. */
export const mustBeWithoutNodes = (url: string): Promise<void> =>
  within(url, async (database) => {
    if (!(await hasNodes(database))) return;
    const living = (await new PostgresRegistry(database).nodes()).filter(isLiving).map(({ node_id }) => node_id);
    if (living.length === 0) return;
    const message = `The log in ${database.place} is shared by nodes of a fleet: ${living.join(", ")}. Stop them first.`;
    throw new LogError("data_dir_locked", message, { place: database.place });
  });

/** `artifacts`: `s3://…`, if they are moved there. */
export const checkCluster = (url: string, artifacts?: string): Promise<{ facts: string[]; faults: string[] }> =>
  withinFleet(url, async (database) => {
    const registry = new PostgresRegistry(database);
    const { rows } = await database.query("SELECT version() AS version, current_setting('synchronous_commit') AS sync");
    const nodes = await registry.nodes();
    const living = nodes.filter(isLiving);
    const orphans = await registry.unowned(1_000);
    const waiting = orphans.filter((session) => unclaimable(session, nodes) !== null);
    const facts = [
      `${String(rows[0]?.version)} at ${database.place}`,
      `${living.length} of ${counted(nodes.length, "node")} live${living.map(({ node_id, kind, state, sessions }, index) => `${index === 0 ? ": " : ", "}${node_id} (${kind}, ${state}, ${counted(sessions, "session")})`).join("")}`,
    ];
    const { rows: history } = await database.query(
      `SELECT (SELECT count(*) FROM dragoman.streams WHERE NOT deleted AND kind = 'session') AS sessions,
         (SELECT count(*) FROM dragoman.sealed_streams z JOIN dragoman.streams s ON s.no = z.stream WHERE s.kind = 'session') AS packed,
         pg_size_pretty(sum(pg_total_relation_size(c.oid))) AS size FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'dragoman' AND c.relkind = 'r' AND c.relname ~ '^(event|native|sealed)_chunks'`,
    );
    facts.push(
      `${history[0]?.packed} of ${history[0]?.sessions} sessions rest and are packed; the history takes ${history[0]?.size}`,
    );
    const bucket = artifacts === undefined ? [] : await bucketFaults(artifacts);
    const faults = [
      ...bucket,
      ...(rows[0]?.sync === "off"
        ? ["synchronous_commit is off: what clients have read can be lost when the database crashes."]
        : []),
      ...(living.some(({ kind, state }) => kind === "node" && state === "up") ? [] : ["No node takes sessions."]),
      ...(new Set(living.map(({ version }) => version)).size > 1 ? ["Nodes of different versions run side by side."] : []),
      ...waiting
        .slice(0, 20)
        .map(
          (session) =>
            `Session ${session.session_id} waits for ${session.place === null ? `node ${session.home}` : `a node with the place ${session.place}`}: its ${unclaimable(session, nodes)} is on no node that takes sessions.`,
        ),
    ];
    return { facts, faults };
  });
