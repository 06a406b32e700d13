/**
 * Small JSON documents beside the streams. Written with the commit, read with what waits and what is in flight on top. Those of a stream are loaded with
 * its writer, because a writer reads them without waiting.
 */
import type { Documents, StoredDocument } from "../contract.ts";
import { intOrNull, text } from "../packing/row-readers.ts";
import { textArray } from "./attempt.ts";
import type { Committer, Enlisted } from "./committer.ts";
import type { Database, Sql } from "./connection.ts";
import { mustBeText, toLogError } from "./errors.ts";
import { type DocumentChange, plain, type WriteSet } from "./write-set.ts";

type Changes = Map<string, DocumentChange>;
type Entry = { kind: string; id: string; body: string };
type PutOptions = { sync?: boolean; apart?: boolean };

export class PostgresDocuments implements Documents, Enlisted {
  readonly followers = 1;
  readonly isShared = true;
  readonly #database: Database;
  readonly #tenant: string;
  readonly #committer: Committer;
  #pending: Changes = new Map();
  #inFlight: Changes = new Map();
  /** Of streams whose writer is here, by their numbers: all their documents, changes included. */
  readonly #loaded = new Map<number, Map<string, Entry>>();
  /** Whose each of them is. */
  readonly #owners = new Map<string, number>();

  constructor(database: Database, tenant: string, committer: Committer) {
    this.#database = database;
    this.#tenant = tenant;
    this.#committer = committer;
  }

  async get(kind: string, id: string): Promise<string | undefined> {
    const change = this.#changed(key(kind, plain(id)));
    if (change !== undefined) return isAlive(change) ? (change.body ?? undefined) : undefined;
    const { rows } = await this.#query(
      `SELECT body FROM dragoman.documents WHERE tenant = $1 AND kind = $2 AND id = $3 AND ${ALIVE}`,
      [this.#tenant, kind, plain(id)],
    );
    return rows[0] && text(rows[0], "body");
  }

  put(kind: string, id: string, body: string, options: { expiresAt?: number; sync?: boolean } = {}): void {
    this.#set({ kind, id: plain(id), stream: null, body, expiresAt: options.expiresAt ?? null }, options.sync);
  }

  delete(kind: string, id: string): void {
    this.#set({ kind, id: plain(id), stream: null, body: null, expiresAt: null }, false);
  }

  async list(
    kind: string,
    options: { prefix?: string; after?: string; limit?: number } = {},
  ): Promise<{ id: string; body: string }[]> {
    const { prefix = "", after = "", limit = 1000 } = options;
    const changes = [...this.#inFlight.values(), ...this.#pending.values()].filter(
      (change) => change.kind === kind && change.id.startsWith(prefix) && change.id > after,
    );
    const { rows } = await this.#query(
      `SELECT id, body FROM dragoman.documents WHERE tenant = $1 AND kind = $2 AND id > $3 AND starts_with(id, $4) AND id >= $4 AND ${ALIVE}
       ORDER BY id LIMIT $5`,
      [this.#tenant, kind, plain(after), plain(prefix), Math.min(limit + changes.length, MOST)],
    );
    const found = new Map(rows.map((row) => [text(row, "id"), text(row, "body")]));
    for (const change of changes) {
      if (change.body === null || !isAlive(change)) found.delete(change.id);
      else found.set(change.id, change.body);
    }
    return Array.from(found, ([id, body]) => ({ id, body }))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  async dump({ after, limit }: { after?: { kind: string; id: string }; limit: number }): Promise<StoredDocument[]> {
    const { rows } = await this.#query(
      `SELECT kind, id, body, expires_at FROM dragoman.documents WHERE tenant = $1 AND (kind COLLATE "C", id) > ($2, $3) AND ${ALIVE}
       ORDER BY kind COLLATE "C", id LIMIT $4`,
      [this.#tenant, after?.kind ?? "", after?.id ?? "", limit],
    );
    return rows.map((row) => ({
      ...{ kind: text(row, "kind"), id: text(row, "id"), body: text(row, "body"), expires_at: intOrNull(row, "expires_at") },
    }));
  }

  committed(): Promise<void> {
    return this.#committer.committed(true, [this]);
  }

  // ── for the writer of a stream ──

  /** Before its writer is given out. */
  async load(stream: number): Promise<void> {
    const { rows } = await this.#query("SELECT kind, id, body FROM dragoman.documents WHERE stream = $1", [stream]);
    const entries = rows.map((row) => ({ kind: text(row, "kind"), id: text(row, "id"), body: text(row, "body") }));
    this.unload(stream);
    this.#loaded.set(stream, new Map(entries.map((entry) => [key(entry.kind, entry.id), entry])));
    for (const { kind, id } of entries) this.#owners.set(key(kind, id), stream);
  }

  /** Nobody has its writer any more. */
  unload(stream: number): void {
    for (const name of this.#loaded.get(stream)?.keys() ?? []) this.#owners.delete(name);
    this.#loaded.delete(stream);
  }

  /** A new stream has none. */
  loadNothing(stream: number): void {
    this.#loaded.set(stream, new Map());
  }

  of(stream: number, kind: string): { id: string; body: string }[] {
    const entries = [...(this.#loaded.get(stream)?.values() ?? [])].filter((entry) => entry.kind === kind);
    return entries.map(({ id, body }) => ({ id, body })).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  putOf(stream: number, kind: string, id: string, body: string | null, { sync, apart = false }: PutOptions = {}): void {
    this.#set({ kind, id: plain(id), stream, apart, body, expiresAt: null }, sync);
  }

  /** Nothing of this stream is to be committed any more. */
  drop(stream: number): void {
    for (const changes of [this.#pending, this.#inFlight])
      for (const [name, change] of changes) if (change.stream === stream) changes.delete(name);
    this.unload(stream);
  }

  take(set: WriteSet): void {
    this.#inFlight = this.#pending;
    this.#pending = new Map();
    set.documents.push(...this.#inFlight.values());
  }

  settle(): void {
    this.#inFlight = new Map();
  }

  #changed(name: string): DocumentChange | undefined {
    return this.#pending.get(name) ?? this.#inFlight.get(name);
  }

  #set(change: DocumentChange, sync: boolean | undefined): void {
    this.#committer.admit();
    if (change.body !== null) mustBeText(change.body, `The document ${change.kind}/${change.id}`);
    const name = key(change.kind, change.id);
    const owner = change.stream ?? this.#owners.get(name) ?? null;
    this.#pending.set(name, { ...change, stream: owner });
    if (owner !== null && !change.apart) this.#note(owner, name, change);
    this.#committer.enlist(this, change.body?.length ?? 0, sync);
  }

  #note(owner: number, name: string, { kind, id, body }: DocumentChange): void {
    const loaded = this.#loaded.get(owner);
    if (body === null) {
      loaded?.delete(name);
      this.#owners.delete(name);
    } else {
      loaded?.set(name, { kind, id, body });
      this.#owners.set(name, owner);
    }
  }

  async #query(sql: string, values: readonly (string | number)[]): ReturnType<Sql["query"]> {
    try {
      return await this.#database.query(sql, values);
    } catch (error) {
      throw toLogError(error, "Reading documents");
    }
  }
}

const MOST = 2 ** 31 - 1;
const ALIVE = "(expires_at IS NULL OR expires_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint)";

/** Inside the transaction that deletes a stream: its documents, and of these kinds those that name it. */
export async function forgetDocuments(
  sql: Sql,
  tenant: string,
  stream: { id: string; prefix: string },
  kinds: readonly string[],
): Promise<void> {
  await sql.query("DELETE FROM dragoman.documents WHERE tenant = $1 AND id >= $2 AND starts_with(id, $2)", [
    tenant,
    plain(stream.prefix),
  ]);
  if (kinds.length === 0) return;
  const { rows } = await sql.query(
    "SELECT kind, id, body FROM dragoman.documents WHERE tenant = $1 AND kind = ANY($2::text[]) AND position($3 IN body) > 0",
    [tenant, textArray(kinds), plain(stream.id)],
  );
  // As a value, not as the name of a field; also inside a text of JSON, such as the reply that an idempotency key keeps.
  const escaped = JSON.stringify(stream.id)
    .slice(1, -1)
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const value = new RegExp(`"${escaped}\\\\?"(?!\\s*:)`);
  const naming = rows.filter((row) => value.test(text(row, "body")));
  await sql.query(
    `DELETE FROM dragoman.documents d USING unnest($2::text[], $3::text[]) AS u(kind, id) WHERE d.tenant = $1 AND d.kind = u.kind AND d.id = u.id`,
    [tenant, textArray(naming.map((row) => text(row, "kind"))), textArray(naming.map((row) => text(row, "id")))],
  );
}

const isAlive = ({ expiresAt }: { expiresAt: number | null }): boolean => expiresAt === null || expiresAt > Date.now();

const key = (kind: string, id: string): string => `${kind}\0${id}`;
