/**
 * Small JSON documents beside the streams (queued messages, idempotency keys). Written with the tick, read with what is pending on top.
 */
import { text } from "./columns.ts";
import type { Committer, Writer } from "./committer.ts";
import type { Documents } from "./contract.ts";
import type { Database, Statement } from "./driver.ts";

type Pending = { kind: string; id: string; body: string | null; expiresAt: number | null };

export class SqliteDocuments implements Documents, Writer {
  readonly #committer: Committer;
  readonly #get: Statement;
  readonly #put: Statement;
  readonly #delete: Statement;
  readonly #list: Statement;
  readonly #expire: Statement;
  #pending = new Map<string, Pending>();

  constructor(db: Database, committer: Committer) {
    this.#committer = committer;
    this.#get = db.prepare("SELECT body FROM documents WHERE kind = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)");
    this.#put = db.prepare("INSERT OR REPLACE INTO documents (kind, id, body, expires_at) VALUES (?, ?, ?, ?)");
    this.#delete = db.prepare("DELETE FROM documents WHERE kind = ? AND id = ?");
    this.#list = db.prepare(
      "SELECT id, body FROM documents WHERE kind = ? AND id >= ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ?",
    );
    this.#expire = db.prepare("DELETE FROM documents WHERE expires_at IS NOT NULL AND expires_at <= ?");
  }

  get(kind: string, id: string): string | undefined {
    const pending = this.#pending.get(key(kind, id));
    if (pending !== undefined) return pending.body !== null && alive(pending) ? pending.body : undefined;
    const row = this.#get.get(kind, id, Date.now());
    return row === undefined ? undefined : text(row, "body");
  }

  put(kind: string, id: string, body: string, options: { expiresAt?: number; sync?: boolean } = {}): void {
    this.#set({ kind, id, body, expiresAt: options.expiresAt ?? null }, options.sync);
  }

  delete(kind: string, id: string): void {
    this.#set({ kind, id, body: null, expiresAt: null }, false);
  }

  list(kind: string, options: { prefix?: string; after?: string; limit?: number } = {}): { id: string; body: string }[] {
    const prefix = options.prefix ?? "";
    const limit = options.limit ?? 1000;
    const { after = "" } = options;
    const from = options.after ?? prefix;
    const found = new Map<string, string>();
    // One more: the scan begins at `after` itself.
    for (const row of this.#list.all(kind, from, Date.now(), limit + this.#pending.size + 1)) {
      const id = text(row, "id");
      if (id === after) continue;
      if (!id.startsWith(prefix)) break;
      found.set(id, text(row, "body"));
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
      else this.#put.run(kind, id, body, expiresAt);
    }
    this.#expire.run(Date.now());
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

function alive(pending: Pending): boolean {
  return pending.expiresAt === null || pending.expiresAt > Date.now();
}

function key(kind: string, id: string): string {
  return `${kind}\0${id}`;
}
