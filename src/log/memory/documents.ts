/** Documents in memory. Those of a stream have ids that begin with `<stream id>/`, or `<kind>:<stream id>/` for kinds other than sessions. */

import type { StoredDocument, StreamKind } from "../contract.ts";
import { documentPrefix } from "../document-prefix.ts";

type Entry = { kind: string; id: string; body: string; expiresAt: number | null };
type StreamKey = { kind: StreamKind; id: string };

export class MemoryDocuments {
  readonly #entries = new Map<string, Entry>();

  get(kind: string, id: string): string | undefined {
    const entry = this.#entries.get(keyOf(kind, id));
    return entry && isAlive(entry) ? entry.body : undefined;
  }

  put(kind: string, id: string, body: string, expiresAt: number | null = null): void {
    this.#entries.set(keyOf(kind, id), { kind, id, body, expiresAt });
  }

  delete(kind: string, id: string): void {
    this.#entries.delete(keyOf(kind, id));
  }

  list(kind: string, options: { prefix?: string; after?: string; limit?: number } = {}): { id: string; body: string }[] {
    const { prefix = "", after = "", limit = 1000 } = options;
    return [...this.#entries.values()]
      .filter((entry) => entry.kind === kind && entry.id.startsWith(prefix) && entry.id > after && isAlive(entry))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit)
      .map(({ id, body }) => ({ id, body }));
  }

  dump({ after, limit }: { after?: { kind: string; id: string }; limit: number }): StoredDocument[] {
    const from = after === undefined ? "" : keyOf(after.kind, after.id);
    return [...this.#entries.entries()]
      .filter(([key, entry]) => key > from && isAlive(entry))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([, { kind, id, body, expiresAt }]) => ({ kind, id, body, expires_at: expiresAt }));
  }

  /** Those of the stream, and of these kinds those that name it as a value. */
  forget(stream: StreamKey, kinds: readonly string[]): void {
    const [prefix, name] = [documentPrefix(stream), JSON.stringify(stream.id).slice(1, -1)];
    const value = new RegExp(`"${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\\\?"(?!\\s*:)`);
    for (const [key, { kind, id, body }] of this.#entries)
      if (id.startsWith(prefix) || (kinds.includes(kind) && value.test(body))) this.#entries.delete(key);
  }
}

const isAlive = ({ expiresAt }: Entry): boolean => expiresAt === null || expiresAt > Date.now();

const keyOf = (kind: string, id: string): string => `${kind}\0${id}`;
