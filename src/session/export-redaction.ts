/**
 * An export without secrets. The events still obey the grammar: deltas add up to the final text, which holds the same marks. Reads the session twice: first for
 * secrets that are divided over deltas, then line by line. Not here: the lines themselves (transfer.ts), how secrets are found (redaction/).
 */
import { createHash } from "node:crypto";
import type { Stream } from "../log/contract.ts";
import type { Found, Redactor } from "../redaction/redactor.ts";
import { shownAddress, withoutEnvironment } from "../redaction/secret-values.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { SessionRow } from "./session-row.ts";

type Delta = Extract<UniversalEvent, { type: "item.delta" }>;
type Piece = { sequence: number; from: number; to: number; native: number | null };
type Growing = { text: string; pieces: Piece[] };

const ITEM_TYPES = ["item.started", "item.updated", "item.delta", "item.completed", "item.removed"];
/** A field of that name, or one whose name is written with escapes. */
const MAY_HOLD_ENVIRONMENT = /"(?:env|environment|headers|http_headers)"\s*:|\\u/i;
const PAGE_BYTES = 512 * 1024;
const TEXT = /^(text\/|application\/(json|xml|javascript|x-ndjson))/;

export class ExportRedaction {
  readonly #redactor: Pick<Redactor, "text" | "find">;
  /** What deltas become that hold a secret or a piece of one, by sequence. */
  readonly #deltas = new Map<number, string>();
  /** Native messages such deltas came from. */
  readonly #tainted = new Set<number>();
  /** Digests of artifacts that changed. */
  readonly #digests = new Map<string, string>();

  private constructor(redactor: Pick<Redactor, "text" | "find">) {
    this.#redactor = redactor;
  }

  /** `pause` is awaited after each page, so that others get their turn. */
  static async of(
    stream: Stream,
    redactor: Pick<Redactor, "text" | "find">,
    pause: () => Promise<void>,
  ): Promise<ExportRedaction> {
    const redaction = new ExportRedaction(redactor);
    const open = new Map<string, Map<number, Growing>>();
    for (let after = 0, more = true; more; ) {
      const page = await stream.read({ after, limit: 1_000, types: ITEM_TYPES, maxBytes: PAGE_BYTES });
      for (const [index, json] of page.events.entries())
        redaction.#survey(JSON.parse(json) as UniversalEvent, page.natives[index] ?? null, open);
      more = page.has_more;
      after = page.next;
      await pause();
    }
    for (const parts of open.values()) for (const part of parts.values()) redaction.#settle(part);
    return redaction;
  }

  /** Environment and headers are gone, and so is what an address holds beside the place. */
  row(row: SessionRow): SessionRow {
    const mcp_servers = row.mcp_servers.map((server) =>
      server.type === "stdio" ? { ...server, env: {} } : { ...server, url: shownAddress(server.url), headers: {} },
    );
    return { ...this.#strings(row), env: {}, mcp_servers: this.#strings(mcp_servers) };
  }

  /** Whether this delta holds a secret or a piece of one. */
  changesDelta(sequence: number): boolean {
    return this.#deltas.has(sequence);
  }

  event(event: UniversalEvent): UniversalEvent {
    const delta = event.type === "item.delta" ? this.#deltas.get(event.sequence) : undefined;
    if (event.type !== "item.delta") return this.#strings(event);
    return delta === undefined ? event : { ...event, data: { ...event.data, delta } };
  }

  native(sequence: number, body: Buffer): Buffer {
    if (this.#tainted.has(sequence)) return Buffer.from('{"redacted":"a piece of a secret"}');
    const text = body.toString("utf8");
    try {
      const value: unknown = JSON.parse(text);
      const shown = this.#strings(MAY_HOLD_ENVIRONMENT.test(text) ? withoutEnvironment(value) : value);
      return shown === value || JSON.stringify(shown) === JSON.stringify(value) ? body : Buffer.from(JSON.stringify(shown));
    } catch {
      const shown = this.#redactor.text(text);
      return shown === text ? body : Buffer.from(shown);
    }
  }

  /** An artifact is named by its bytes: with others it has another name, and events that come later use it. */
  artifact(id: string, mime: string, bytes: Buffer): { id: string; bytes: Buffer } {
    if (!TEXT.test(mime)) return { id, bytes };
    const text = bytes.toString("utf8");
    const shown = this.#redactor.text(text);
    if (shown === text) return { id, bytes };
    const changed = Buffer.from(shown);
    const [digest, other] = [id.slice("art_".length), createHash("sha256").update(changed).digest("hex")];
    this.#digests.set(digest, other);
    return { id: `art_${other}`, bytes: changed };
  }

  #survey(event: UniversalEvent, native: number | null, open: Map<string, Map<number, Growing>>): void {
    if (event.type === "item.delta") {
      const parts = open.get(event.data.item_id) ?? new Map<number, Growing>();
      open.set(event.data.item_id, parts);
      return grow(parts, event, native);
    }
    if (!event.type.startsWith("item.")) return;
    const id = event.type === "item.removed" ? event.data.item_id : itemOf(event)?.item_id;
    if (id === undefined) return;
    for (const part of open.get(id)?.values() ?? []) this.#settle(part);
    open.delete(id);
    if (event.type === "item.updated" || event.type === "item.started") open.set(id, grown(event));
  }

  #settle({ text, pieces }: Growing): void {
    const found = this.#redactor.find(text);
    if (found.length === 0) return;
    for (const piece of pieces) {
      const touched = found.filter(({ from, to }) => from < piece.to && to > piece.from);
      if (touched.length === 0) continue;
      this.#deltas.set(piece.sequence, without(text, piece, touched));
      if (piece.native !== null) this.#tainted.add(piece.native);
    }
  }

  #strings<T>(value: T): T {
    return mapStrings(value, (text) => {
      let shown = this.#redactor.text(text);
      for (const [digest, other] of this.#digests) shown = shown.replaceAll(digest, other);
      return shown;
    }) as T;
  }
}

/** The piece without what it holds of secrets; the mark stands in the piece where the secret begins. */
function without(text: string, { from, to }: Piece, found: readonly Found[]): string {
  let out = "";
  let at = from;
  for (const each of found) {
    if (each.from >= at) out += `${text.slice(at, each.from)}[redacted:${each.kind}]`;
    at = Math.max(at, Math.min(each.to, to));
  }
  return out + text.slice(at, to);
}

const itemOf = (event: UniversalEvent) =>
  event.type === "item.started" || event.type === "item.updated" || event.type === "item.completed" ? event.data.item : undefined;

/** What an item holds already, before deltas add to it. */
function grown(event: UniversalEvent): Map<number, Growing> {
  const parts = new Map<number, Growing>();
  itemOf(event)?.content.forEach((part, index) => {
    const text =
      part.type === "tool_call" ? part.arguments : part.type === "tool_result" ? part.output : "text" in part ? part.text : "";
    parts.set(index, { text: text ?? "", pieces: [] });
  });
  return parts;
}

function grow(parts: Map<number, Growing>, { sequence, data }: Delta, native: number | null): void {
  const part = parts.get(data.part_index) ?? { text: "", pieces: [] };
  parts.set(data.part_index, part);
  part.pieces.push({ sequence, from: part.text.length, to: part.text.length + data.delta.length, native });
  part.text += data.delta;
}

/** The value itself when nothing in it changes, which is nearly always so. */
function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  let changed: Record<string, unknown> | unknown[] | null = null;
  for (const [name, each] of Object.entries(value)) {
    const next = mapStrings(each, change);
    if (next === each) continue;
    changed ??= Array.isArray(value) ? [...value] : { ...value };
    // Not assigned: a message may have a field `__proto__`.
    Object.defineProperty(changed, name, { value: next, enumerable: true, configurable: true, writable: true });
  }
  return changed ?? value;
}
