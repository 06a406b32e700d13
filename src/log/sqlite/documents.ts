/**
 * Small JSON documents beside the streams (queued messages, idempotency keys). Written with the tick, read with what is pending on top.
 */

import type { Documents, StoredDocument } from "../contract.ts";
import { checksumOf } from "../packing/checksum.ts";
import type { Damage } from "../packing/damage.ts";
import { intOrNull, text } from "../packing/row-readers.ts";
import type { Committer, Writer } from "./committer.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";
import { documentChecksum, isDocumentIntact } from "./verify-tables.ts";

type Key = { kind: string; id: string };
type Pending = Key & { body: string | null; expiresAt: number | null };

/** Of one check: about a millisecond. */
const CHECK_ROWS = 200;

const placeOf = (kind: string, id: string): string => `The document ${kind}/${id}`;

export class SqliteDocuments implements Documents, Writer {
  readonly #committer: Committer;
  readonly #damage: Damage;
  readonly #get: Statement;
  readonly #put: Statement;
  readonly #delete: Statement;
  readonly #list: Statement;
  readonly #expired: Statement;
  readonly #dump: Statement;
  readonly #naming: Statement;
  #pending = new Map<string, Pending>();

  constructor(db: Database, committer: Committer, damage: Damage) {
    this.#committer = committer;
    this.#damage = damage;
    const columns = "kind, id, body, expires_at, row_checksum";
    this.#get = db.prepare(`SELECT ${columns} FROM documents WHERE kind = ? AND id = ?`);
    this.#put = db.prepare(
      "INSERT OR REPLACE INTO documents (kind, id, body, expires_at, key_checksum, row_checksum) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#delete = db.prepare("DELETE FROM documents WHERE kind = ? AND id = ?");
    this.#list = db.prepare(`SELECT ${columns} FROM documents WHERE kind = ? AND id >= ? ORDER BY id`);
    this.#dump = db.prepare(`SELECT ${columns} FROM documents WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?`);
    this.#expired = db.prepare(`SELECT ${columns} FROM documents WHERE expires_at IS NOT NULL AND expires_at <= ?`);
    this.#naming = db.prepare("SELECT kind, id, body FROM documents WHERE instr(id, ?) = 1 OR instr(body, ?) > 0");
  }

  async get(kind: string, id: string): Promise<string | undefined> {
    const pending = this.#pending.get(key(kind, id));
    if (pending !== undefined) return pending.body !== null && alive(pending) ? pending.body : undefined;
    const row = this.#damage.guard(placeOf(kind, id), undefined, () => this.#get.get(kind, id));
    return row === undefined ? undefined : (this.#checked(row) ?? undefined);
  }

  /** Null when it has expired. */
  #checked(row: SqlRow): string | null {
    if (!isDocumentIntact(row)) throw this.#damage.found(placeOf(text(row, "kind"), text(row, "id")));
    return alive({ expiresAt: intOrNull(row, "expires_at") }) ? text(row, "body") : null;
  }

  put(kind: string, id: string, body: string, options: { expiresAt?: number; sync?: boolean } = {}): void {
    this.#set({ kind, id, body, expiresAt: options.expiresAt ?? null }, options.sync);
  }

  delete(kind: string, id: string): void {
    this.#set({ kind, id, body: null, expiresAt: null }, false);
  }

  async list(
    kind: string,
    options: { prefix?: string; after?: string; limit?: number } = {},
  ): Promise<{ id: string; body: string }[]> {
    return this.listNow(kind, options);
  }

  async dump({ after, limit }: { after?: { kind: string; id: string }; limit: number }): Promise<StoredDocument[]> {
    const rows = this.#dump.all(after?.kind ?? "", after?.id ?? "", limit);
    return rows.flatMap((row) => {
      const body = this.#checked(row);
      const [kind, id, expires_at] = [text(row, "kind"), text(row, "id"), intOrNull(row, "expires_at")];
      return body === null ? [] : [{ kind, id, body, expires_at }];
    });
  }

  /** Looks at some more; returns the last of them, null at the end. */
  check(after: Key): Key | null {
    const rows = this.#dump.all(after.kind, after.id, CHECK_ROWS);
    for (const row of rows) if (!isDocumentIntact(row)) this.#damage.found(placeOf(text(row, "kind"), text(row, "id")));
    const last = rows.at(-1);
    return last === undefined ? null : { kind: text(last, "kind"), id: text(last, "id") };
  }

  committed(): Promise<void> {
    return this.#committer.committed(true);
  }

  listNow(kind: string, options: { prefix?: string; after?: string; limit?: number } = {}): { id: string; body: string }[] {
    const prefix = options.prefix ?? "";
    const limit = options.limit ?? 1000;
    const { after = "" } = options;
    const from = after.startsWith(prefix) ? after : prefix;
    const found = new Map<string, string>();
    for (const row of this.#list.iterate(kind, from)) {
      const id = text(row, "id");
      if (id <= after) continue;
      if (!id.startsWith(prefix) || found.size >= limit + this.#pending.size) break;
      const body = this.#checked(row);
      if (body !== null) found.set(id, body);
    }
    for (const pending of this.#pending.values()) {
      if (pending.kind !== kind || !pending.id.startsWith(prefix) || pending.id <= after) continue;
      if (pending.body === null || !alive(pending)) found.delete(pending.id);
      else found.set(pending.id, pending.body);
    }
    const documents = Array.from(found, ([id, body]) => ({ id, body }));
    return documents.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
  }

  write(): void {
    for (const { kind, id, body, expiresAt } of this.#pending.values()) {
      if (body === null) this.#delete.run(kind, id);
      else this.#put.run(kind, id, body, expiresAt, checksumOf(kind, id), documentChecksum(kind, id, body, expiresAt));
    }
    // One whose content is damaged may only seem to have expired.
    for (const row of this.#expired.all(Date.now()))
      if (isDocumentIntact(row)) this.#delete.run(text(row, "kind"), text(row, "id"));
  }

  /** Deletes the documents of a stream, and of these kinds also those that name it. Others, such as records of who did what, stay. */
  forget(streamId: string, prefix: string, kinds: readonly string[]): void {
    const names = namesStream(streamId, prefix, new Set(kinds));
    for (const row of this.#naming.all(prefix, streamId)) {
      const [kind, id, body] = [text(row, "kind"), text(row, "id"), String(row.body)];
      if (names({ kind, id, body })) this.delete(kind, id);
    }
    for (const pending of [...this.#pending.values()]) if (names(pending)) this.delete(pending.kind, pending.id);
  }

  settle(): void {
    this.#pending = new Map();
  }

  #set(pending: Pending, sync: boolean | undefined): void {
    this.#committer.admit();
    this.#pending.set(key(pending.kind, pending.id), pending);
    this.#committer.enlist(this, pending.body?.length ?? 0, sync);
  }
}

function alive({ expiresAt }: { expiresAt: number | null }): boolean {
  return expiresAt === null || expiresAt > Date.now();
}

/** As a value, not as the name of a field; also inside a text of JSON, such as the reply that an idempotency key keeps. */
function namesStream(
  streamId: string,
  prefix: string,
  kinds: ReadonlySet<string>,
): (document: { kind: string; id: string; body: string | null }) => boolean {
  const escaped = JSON.stringify(streamId)
    .slice(1, -1)
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const value = new RegExp(`"${escaped}\\\\?"(?!\\s*:)`);
  return ({ kind, id, body }) => id.startsWith(prefix) || (body !== null && kinds.has(kind) && value.test(body));
}

function key(kind: string, id: string): string {
  return `${kind}\0${id}`;
}
