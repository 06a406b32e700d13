/**
 * An export without secrets. The events still obey the grammar: deltas add up to the final text, which holds the same marks. The session is surveyed first for
 * secrets that are divided over deltas, then exported line by line. Not here: the survey (delta-survey.ts), the lines (transfer.ts), how secrets are found
 * (redaction/).
 */
import { createHash } from "node:crypto";
import type { Stream } from "../log/contract.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { shownAddress, withoutEnvironment } from "../redaction/secret-values.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { surveyDeltas } from "./delta-survey.ts";
import type { SessionRow } from "./session-row.ts";

/** A field of that name, or one whose name is written with escapes. */
const MAY_HOLD_ENVIRONMENT = /"(?:env|environment|headers|http_headers)"\s*:|\\u/i;
const TEXT = /^(text\/|application\/(json|xml|javascript|x-ndjson))/;

export class ExportRedaction {
  /** The first event that was not surveyed: the export ends before it. */
  readonly before: number;
  readonly #redactor: Pick<Redactor, "text" | "find">;
  /** What deltas become that hold a secret or a piece of one, by sequence. */
  readonly #deltas: ReadonlyMap<number, string>;
  /** Native messages such deltas came from. */
  readonly #tainted: ReadonlySet<number>;
  /** Digests of artifacts that changed. */
  readonly #digests = new Map<string, string>();

  private constructor(
    redactor: Pick<Redactor, "text" | "find">,
    before: number,
    { deltas, tainted }: Awaited<ReturnType<typeof surveyDeltas>>,
  ) {
    this.before = before;
    this.#redactor = redactor;
    this.#deltas = deltas;
    this.#tainted = tainted;
  }

  /** `pause` is awaited after each page, so that others get their turn. */
  static async of(
    stream: Stream,
    redactor: Pick<Redactor, "text" | "find">,
    pause: () => Promise<void>,
  ): Promise<ExportRedaction> {
    const before = stream.lastCommitted + 1;
    return new ExportRedaction(redactor, before, await surveyDeltas(stream, before, redactor, pause));
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

  #strings<T>(value: T): T {
    return mapStrings(value, (text) => {
      let shown = this.#redactor.text(text);
      for (const [digest, other] of this.#digests) shown = shown.replaceAll(digest, other);
      return shown;
    }) as T;
  }
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
