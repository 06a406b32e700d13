/** Statements about one tenant: `$tenant` in them is its name, behind the values that a statement has of its own. */
import type { Sql } from "../log/postgres/connection.ts";

export const ofTenant = (sql: Sql, tenant: string): Sql => ({
  query: (text, values = []) =>
    text.includes("$tenant")
      ? sql.query(text.replaceAll("$tenant", `$${values.length + 1}`), [...values, tenant])
      : sql.query(text, values),
});
