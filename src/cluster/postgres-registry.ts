/**
 * The registry in Postgres: one statement or one short transaction for each method, by the database's clock. A claim skips rows that somebody else is claiming, so that nodes
 * never wait for one another. Every statement is about one tenant: `$tenant` in it is the last of its values.
 */
import type { Database, Sql, SqlParameter, SqlResult } from "../log/postgres/connection.ts";
import { DEFAULT_TENANT } from "../log/postgres/schema.ts";
import { plain } from "../log/postgres/write-set.ts";
import { ofTenant } from "./of-tenant.ts";
import {
  type Claim,
  type GoneTimes,
  type Held,
  type JoinOptions,
  type NodeProfile,
  type NodeRef,
  NodeReplaced,
  type NodeRow,
  type NodeState,
  type Ownership,
  type Registry,
  type SessionHome,
} from "./registry.ts";

const TERM = "make_interval(secs => $3::float8 / 1000)";

export class PostgresRegistry implements Registry {
  readonly #sql: Sql;
  readonly #transaction: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

  constructor(database: Database, tenant: string = DEFAULT_TENANT) {
    this.#sql = ofTenant(database, tenant);
    this.#transaction = (work) => database.transaction((sql) => work(ofTenant(sql, tenant)));
  }

  async birth(): Promise<number> {
    const { rows } = await this.#sql.query("SELECT nextval('dragoman.incarnations') AS birth");
    return Number(rows[0]?.birth);
  }

  join({ node_id, ...profile }: NodeProfile, { term_ms, birth, before }: JoinOptions): Promise<NodeRef> {
    return this.#transaction(async (sql) => {
      const { rows: earlier } = await sql.query(
        "SELECT writer FROM dragoman.nodes WHERE tenant = $tenant AND node_id = $1 FOR UPDATE",
        [node_id],
      );
      const { rows } = await sql.query(
        `INSERT INTO dragoman.nodes AS n (tenant, node_id, incarnation, kind, writer, url, version, labels, places, agents, capacity, load, lease_until, lease_since, state, birth)
         VALUES ($tenant, $1, nextval('dragoman.incarnations'), $2, $10, $4, $5, $6::text::jsonb, $7::text::jsonb, $8::text::jsonb, $9, 0, clock_timestamp() + ${TERM}, clock_timestamp(), 'up', $11)
         ON CONFLICT (tenant, node_id) DO UPDATE SET incarnation = excluded.incarnation, kind = excluded.kind, writer = excluded.writer, url = excluded.url, version = excluded.version,
           labels = excluded.labels, places = excluded.places, agents = excluded.agents, capacity = excluded.capacity, load = 0,
           lease_until = excluded.lease_until, lease_since = excluded.lease_since, state = 'up', left_at = NULL, birth = excluded.birth
         WHERE n.birth <= excluded.birth RETURNING incarnation`,
        [
          node_id,
          profile.kind,
          term_ms,
          profile.url,
          profile.version,
          JSON.stringify(profile.labels),
          JSON.stringify(profile.places),
          JSON.stringify(profile.agents),
          profile.capacity,
          profile.writer,
          birth,
        ],
      );
      if (rows[0] === undefined) throw new NodeReplaced(node_id);
      const incarnation = Number(rows[0].incarnation);
      if (before !== undefined)
        await sql.query(
          "UPDATE dragoman.owners SET incarnation = $3 WHERE tenant = $tenant AND node_id = $1 AND incarnation = $2",
          [node_id, before, incarnation],
        );
      // Sessions are claimed; what else this node wrote in an earlier life is its own at once.
      else if (earlier[0] !== undefined)
        await sql.query(
          "UPDATE dragoman.streams SET owner = $2, epoch = epoch + 1 WHERE owner = $1 AND kind <> 'session' AND tenant = $tenant",
          [String(earlier[0].writer), profile.writer],
        );
      return { node_id, incarnation };
    });
  }

  async renew({ node_id, incarnation }: NodeRef, { term_ms, load }: { term_ms: number; load: number }): Promise<NodeState> {
    const { rows } = await this.#sql.query(
      `UPDATE dragoman.nodes SET lease_until = clock_timestamp() + ${TERM}, load = $4,
         lease_since = CASE WHEN lease_until < clock_timestamp() THEN clock_timestamp() ELSE lease_since END
       WHERE tenant = $tenant AND node_id = $1 AND incarnation = $2 AND state <> 'fenced' RETURNING state`,
      [node_id, incarnation, term_ms, load],
    );
    return stateOf(rows[0]?.state);
  }

  async leave({ node_id, incarnation }: NodeRef): Promise<void> {
    await this.#sql.query(
      "UPDATE dragoman.nodes SET state = 'fenced', left_at = clock_timestamp() WHERE tenant = $tenant AND node_id = $1 AND incarnation = $2 AND state <> 'fenced'",
      [node_id, incarnation],
    );
  }

  async fenceDead({ node_id, incarnation }: NodeRef, { term_ms }: { term_ms: number }): Promise<string[]> {
    const { rows } = await this.#sql.query(
      `UPDATE dragoman.nodes SET state = 'fenced'
       WHERE state <> 'fenced' AND tenant = $tenant AND lease_until < clock_timestamp() AND EXISTS (
         SELECT 1 FROM dragoman.nodes m WHERE m.tenant = $tenant AND m.node_id = $1 AND m.incarnation = $2 AND m.state <> 'fenced'
           AND m.lease_until >= clock_timestamp() AND m.lease_since <= clock_timestamp() - ${TERM})
       RETURNING node_id`,
      [node_id, incarnation, term_ms],
    );
    return rows.map((row) => String(row.node_id));
  }

  /** From its commit on the log refuses whoever wrote these sessions, and the tasks that ran for them, before. */
  async claim({ node_id, incarnation }: NodeRef, { limit }: { limit: number }): Promise<Claim[]> {
    const { rows } = await this.#sql.query(
      `WITH free AS (
         SELECT o.session_id, o.node_id AS owner, coalesce(o.node_id, o.released_by) AS from_node FROM dragoman.owners o
         WHERE o.tenant = $tenant AND (o.node_id IS NULL OR NOT dragoman.is_living($tenant, o.node_id, o.incarnation))
           AND dragoman.is_living($tenant, $1, $2) AND dragoman.takes($tenant, $1, o.home, o.place, o.agent)
           AND (o.wanted IS NULL OR o.wanted = $1 OR NOT dragoman.takes($tenant, o.wanted, o.home, o.place, o.agent))
         ORDER BY o.session_id LIMIT $3 FOR UPDATE OF o SKIP LOCKED),
       streams AS (
         UPDATE dragoman.streams s SET owner = n.writer, epoch = s.epoch + 1 FROM free, dragoman.nodes n
         WHERE n.tenant = $tenant AND n.node_id = $1 AND s.tenant = $tenant AND s.kind = 'session' AND s.id = free.session_id),
       tasks AS (
         UPDATE dragoman.streams s SET owner = n.writer, epoch = s.epoch + 1 FROM free, dragoman.nodes n, dragoman.stream_states t
         WHERE n.tenant = $tenant AND n.node_id = $1 AND s.tenant = $tenant AND s.kind = 'task' AND t.no = s.no AND t.kind = 'task' AND t.tags @> ARRAY['session:' || free.session_id])
       UPDATE dragoman.owners o SET node_id = $1, incarnation = $2, epoch = o.epoch + 1, wanted = NULL, released_by = NULL, moved_from = free.from_node,
         moved_reason = CASE WHEN free.from_node = $1 THEN 'restart' WHEN free.owner IS NULL THEN 'move' ELSE 'takeover' END
       FROM free WHERE o.tenant = $tenant AND o.session_id = free.session_id
       RETURNING o.session_id, o.epoch, o.moved_from, o.moved_reason`,
      [node_id, incarnation, limit],
    );
    return rows.map(claimOf);
  }

  async own({ node_id, incarnation }: NodeRef, { session_id, agent, place }: SessionHome): Promise<number | undefined> {
    const { rows } = await this.#sql.query(
      `INSERT INTO dragoman.owners (tenant, session_id, agent, home, place, node_id, incarnation, epoch)
       SELECT $tenant, $3, $4, $1, $5, $1, $2, 1 WHERE dragoman.is_living($tenant, $1, $2)
       ON CONFLICT (tenant, session_id) DO NOTHING RETURNING epoch`,
      [node_id, incarnation, session_id, agent, place],
    );
    return rows[0] === undefined ? undefined : Number(rows[0].epoch);
  }

  async release({ node_id, incarnation }: NodeRef, { session_id, epoch }: Held, { to }: { to?: string } = {}): Promise<boolean> {
    const { count } = await this.#sql.query(
      `UPDATE dragoman.owners SET node_id = NULL, incarnation = NULL, wanted = $5, released_by = $1
       WHERE tenant = $tenant AND session_id = $3 AND node_id = $1 AND incarnation = $2 AND epoch = $4`,
      [node_id, incarnation, session_id, epoch, to ?? null],
    );
    return count === 1;
  }

  async keep({ node_id, incarnation }: NodeRef, { session_id, epoch }: Held): Promise<number | undefined> {
    const { rows } = await this.#sql.query(
      `UPDATE dragoman.owners SET epoch = epoch + 1, moved_from = NULL, moved_reason = NULL
       WHERE tenant = $tenant AND session_id = $3 AND node_id = $1 AND incarnation = $2 AND epoch = $4 RETURNING epoch`,
      [node_id, incarnation, session_id, epoch],
    );
    return rows[0] === undefined ? undefined : Number(rows[0].epoch);
  }

  async forget(sessionId: string): Promise<void> {
    await this.#sql.query("DELETE FROM dragoman.owners WHERE tenant = $tenant AND session_id = $1", [sessionId]);
  }

  async owned({ node_id, incarnation }: NodeRef): Promise<Claim[]> {
    const { rows } = await this.#sql.query(
      "SELECT session_id, epoch, moved_from, moved_reason FROM dragoman.owners WHERE tenant = $tenant AND node_id = $1 AND incarnation = $2",
      [node_id, incarnation],
    );
    return rows.map(claimOf);
  }

  async ownedBy(nodeIds: readonly string[]): Promise<string[]> {
    const { rows } = await this.#sql.query(
      `SELECT o.session_id FROM dragoman.owners o JOIN dragoman.nodes n ON n.tenant = o.tenant AND n.node_id = o.node_id AND n.incarnation = o.incarnation
       WHERE o.tenant = $tenant AND n.state <> 'fenced' AND n.node_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))`,
      [listOf(nodeIds)],
    );
    return rows.map((row) => String(row.session_id));
  }

  async taskOwner(taskId: string): Promise<string | undefined> {
    const { rows } = await this.#sql.query(
      `SELECT n.node_id FROM dragoman.streams s JOIN dragoman.nodes n ON n.tenant = s.tenant AND n.writer = s.owner
       WHERE s.tenant = $tenant AND s.kind = 'task' AND s.id = $1 AND NOT s.deleted AND n.state <> 'fenced'`,
      [taskId],
    );
    return rows[0] === undefined ? undefined : String(rows[0].node_id);
  }

  async find(sessionIds: readonly string[]): Promise<Ownership[]> {
    return this.#owners("o.session_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))", [listOf(sessionIds)]);
  }

  /** Sessions that no living node owns. */
  unowned(limit: number): Promise<Ownership[]> {
    return this.#owners("(o.node_id IS NULL OR NOT dragoman.is_living($tenant, o.node_id, o.incarnation)) LIMIT $1", [limit]);
  }

  async #owners(which: string, values: readonly SqlParameter[]): Promise<Ownership[]> {
    const { rows } = await this.#sql.query(
      `SELECT o.*, (o.node_id IS NOT NULL AND dragoman.is_living($tenant, o.node_id, o.incarnation)) AS owned FROM dragoman.owners o WHERE o.tenant = $tenant AND ${which}`,
      values,
    );
    return rows.map((row) => ({
      session_id: String(row.session_id),
      agent: String(row.agent),
      home: String(row.home),
      place: row.place === null ? null : String(row.place),
      owner: refOf(row.node_id, row.incarnation),
      owned: row.owned === 1,
      epoch: Number(row.epoch),
    }));
  }

  async nodes(): Promise<NodeRow[]> {
    const { rows } = await this.#sql.query(
      `SELECT n.*, (extract(epoch FROM n.lease_until - clock_timestamp()) * 1000)::bigint AS lease_ms, (n.left_at IS NOT NULL) AS has_left,
         (SELECT count(*) FROM dragoman.owners o WHERE o.tenant = n.tenant AND o.node_id = n.node_id AND o.incarnation = n.incarnation) AS sessions
       FROM dragoman.nodes n WHERE n.tenant = $tenant ORDER BY n.node_id`,
    );
    return rows.map((row) => ({
      node_id: String(row.node_id),
      kind: row.kind === "gateway" ? "gateway" : "node",
      writer: String(row.writer),
      url: String(row.url),
      version: String(row.version),
      labels: JSON.parse(String(row.labels)),
      places: JSON.parse(String(row.places)),
      agents: JSON.parse(String(row.agents)),
      capacity: Number(row.capacity),
      incarnation: Number(row.incarnation),
      state: stateOf(row.state),
      load: Number(row.load),
      sessions: Number(row.sessions),
      lease_ms: Number(row.lease_ms),
      left: row.has_left === 1,
    }));
  }

  /** Sessions that nobody ever owned: they were moved here from the log of one daemon. */
  async unknown(): Promise<{ session_id: string; agent: string; directory: string }[]> {
    const { rows } = await this.#sql.query(
      `SELECT s.id, t.agent, t.directory FROM dragoman.streams s JOIN dragoman.stream_states t ON t.no = s.no
       WHERE s.tenant = $tenant AND s.kind = 'session' AND NOT s.deleted
         AND NOT EXISTS (SELECT 1 FROM dragoman.owners o WHERE o.tenant = s.tenant AND o.session_id = s.id)`,
    );
    return rows.map((row) => ({ session_id: String(row.id), agent: String(row.agent), directory: String(row.directory) }));
  }

  /** Makes them known, with this node as their home. They are claimed like others that nobody owns. */
  async adopt(nodeId: string, sessions: readonly SessionHome[]): Promise<void> {
    await this.#sql.query(
      `INSERT INTO dragoman.owners (tenant, session_id, agent, home, place, epoch, released_by)
       SELECT $tenant, u.session_id, u.agent, $1, u.place, 0, $1 FROM jsonb_to_recordset($2::text::jsonb) AS u(session_id text, agent text, place text)
       ON CONFLICT (tenant, session_id) DO NOTHING`,
      [nodeId, JSON.stringify(sessions)],
    );
  }

  async forgetGone({ left_ms, dead_ms }: GoneTimes): Promise<string[]> {
    const { rows } = await this.#sql.query(
      `DELETE FROM dragoman.nodes n WHERE n.tenant = $tenant AND n.state = 'fenced'
         AND CASE WHEN n.left_at IS NOT NULL THEN n.left_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
              ELSE n.lease_until < clock_timestamp() - make_interval(secs => (CASE WHEN n.kind = 'gateway' THEN $1::float8 ELSE $2::float8 END) / 1000) END
         AND NOT EXISTS (SELECT 1 FROM dragoman.owners o WHERE o.tenant = n.tenant AND (o.node_id = n.node_id OR (o.home = n.node_id AND o.place IS NULL)))
         AND NOT EXISTS (SELECT 1 FROM dragoman.streams s WHERE s.tenant = n.tenant AND s.owner = n.writer AND s.kind <> 'session' AND NOT s.deleted)
       RETURNING n.node_id`,
      [left_ms, dead_ms],
    );
    return rows.map((row) => String(row.node_id));
  }

  async mark(nodeId: string, state: NodeState): Promise<boolean> {
    const { count } = await this.#sql.query(
      "UPDATE dragoman.nodes SET state = $2 WHERE tenant = $tenant AND node_id = $1 AND state <> 'fenced'",
      [nodeId, state],
    );
    return count === 1;
  }

  /** After a restore of the database: nodes that lived on are refused, by their leases and by every epoch. How many sessions there are. */
  async afterRestore(): Promise<number> {
    return this.#transaction(async (sql) => {
      await sql.query("UPDATE dragoman.nodes SET state = 'fenced' WHERE tenant = $tenant");
      await sql.query("SELECT setval('dragoman.incarnations', nextval('dragoman.incarnations') + 1000000)");
      await sql.query("UPDATE dragoman.streams SET epoch = epoch + 1000000 WHERE tenant = $tenant");
      return (await sql.query("UPDATE dragoman.owners SET epoch = epoch + 1000000 WHERE tenant = $tenant")).count;
    });
  }
}

/** Names as JSON of the database: in an escape, too, it takes no NUL. */
const listOf = (names: readonly string[]): string => JSON.stringify(names.map(plain));

const stateOf = (state: unknown): NodeState => (state === "up" || state === "draining" ? state : "fenced");

const claimOf = (row: SqlResult["rows"][number]): Claim => ({
  session_id: String(row.session_id),
  epoch: Number(row.epoch),
  from: typeof row.moved_from === "string" ? row.moved_from : null,
  reason: row.moved_reason === "move" || row.moved_reason === "takeover" ? row.moved_reason : "restart",
});

const refOf = (nodeId: unknown, incarnation: unknown): NodeRef | null =>
  nodeId === null || nodeId === undefined ? null : { node_id: String(nodeId), incarnation: Number(incarnation) };
