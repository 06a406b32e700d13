/**
 * The tokens of a fleet in Postgres, as rows whose text is the server's business. Who writes locks the one row of `token_version` first, so that versions are in the order of commits, and who asks for what changed misses
 * nothing. A token that was ended stays as a row without text until it would have expired: others must hear of it.
 */
import { textArray } from "../log/postgres/attempt.ts";
import type { Database, Sql } from "../log/postgres/connection.ts";
import { DEFAULT_TENANT } from "../log/postgres/schema.ts";
import { ofTenant } from "./of-tenant.ts";

export const TOKEN_TABLES = `
  CREATE TABLE dragoman.tokens (id text PRIMARY KEY, tenant text NOT NULL DEFAULT '', body text, version bigint NOT NULL, expires_at bigint NOT NULL);
  CREATE INDEX tokens_version ON dragoman.tokens (version);
  CREATE TABLE dragoman.token_version (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version bigint NOT NULL);
  INSERT INTO dragoman.token_version (version) VALUES (0)`;

const NEXT = "next AS (UPDATE dragoman.token_version SET version = version + 1 RETURNING version)";
/** A node that was away for longer starts anew. */
const KEPT_MS = 24 * 60 * 60_000;

export class PostgresTokens {
  readonly #sql: Sql;

  constructor(database: Database, tenant: string = DEFAULT_TENANT) {
    this.#sql = ofTenant(database, tenant);
  }

  async since(version: number): Promise<{ version: number; rows: { id: string; body: string | null }[] }> {
    const { rows } = await this.#sql.query(
      "SELECT id, body, version FROM dragoman.tokens WHERE tenant = $tenant AND version > $1 ORDER BY version",
      [version],
    );
    return {
      version: Math.max(version, ...rows.map((row) => Number(row.version))),
      rows: rows.map((row) => ({ id: String(row.id), body: typeof row.body === "string" ? row.body : null })),
    };
  }

  async put(rows: readonly { id: string; body: string | null; expires_at: number }[]): Promise<void> {
    await this.#sql.query(
      `WITH ${NEXT}, old AS (DELETE FROM dragoman.tokens WHERE tenant = $tenant AND expires_at < $4 AND NOT id = ANY($1::text[]))
       INSERT INTO dragoman.tokens AS t (tenant, id, body, expires_at, version)
       SELECT $tenant, u.id, nullif(u.body, ''), u.expires::bigint, next.version
       FROM unnest($1::text[], $2::text[], $3::text[]) AS u(id, body, expires), next
       -- One that was ended stays ended: a node that renews it at the same moment does not bring it back.
       ON CONFLICT (tenant, id) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at, version = excluded.version WHERE t.body IS NOT NULL`,
      [
        textArray(rows.map(({ id }) => id)),
        textArray(rows.map(({ body }) => body ?? "")),
        textArray(rows.map(({ expires_at }) => String(expires_at))),
        Date.now() - KEPT_MS,
      ],
    );
  }

  async take(id: string): Promise<boolean> {
    const { count } = await this.#sql.query(
      `WITH ${NEXT} UPDATE dragoman.tokens t SET body = NULL, version = next.version FROM next WHERE t.tenant = $tenant AND t.id = $1 AND t.body IS NOT NULL`,
      [id],
    );
    return count === 1;
  }
}
