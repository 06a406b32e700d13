/**
 * Who gets what is stored as it is, and who gets it without secrets: readers below `operate`, and exports. Not here: how secrets are found (redaction/).
 */
import { pipeline, type Readable, Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Log, Stream } from "../log/contract.ts";
import { EventRedactor } from "../redaction/event-redactor.ts";
import { PieceRedactor } from "../redaction/piece-redactor.ts";
import { Redactor } from "../redaction/redactor.ts";
import { placedSecrets } from "../redaction/secret-values.ts";
import { type Role, reaches } from "../schema/actor.ts";
import { taskPlace } from "./session-place.ts";

export type RedactionOptions = {
  /** `off`: every reader gets everything. Default `known`. */
  mode?: "known" | "off";
  /** Regular expressions of the user's own. */
  patterns?: readonly string[];
  /** Values that are secret in this daemon. */
  values?: readonly string[];
};

/** Sessions whose secrets are kept at hand. */
const MAX_SESSIONS = 500;
const HISTORY_TYPES = ["item.started", "item.updated", "item.delta", "task.output"];

/** `values`: also those of sessions that were removed and had the same id, of which an event may still be on its way. */
type Known = { redactor: Redactor; values: readonly string[]; stream: WeakRef<Stream> };

export class Redactions {
  readonly #options: RedactionOptions;
  readonly #log: Log;
  readonly #isToken: (word: string) => boolean;
  readonly #general: Redactor;
  readonly #ofSessions = new Map<string, Known>();

  constructor(options: RedactionOptions, log: Log, isToken: (word: string) => boolean) {
    this.#options = options;
    this.#log = log;
    this.#isToken = isToken;
    this.#general = this.#redactor([]);
  }

  get enabled(): boolean {
    return this.#options.mode !== "off";
  }

  /** True when this caller may not see secrets. */
  applyTo(caller: { role: Role } | null): boolean {
    return this.enabled && caller !== null && !reaches(caller.role, "operate");
  }

  /** For the events of one reader; null: they are sent as they are stored. */
  reader(caller: { role: Role } | null): EventRedactor | null {
    if (!this.applyTo(caller)) return null;
    return new EventRedactor((id) => this.ofSession(id), {
      before: async (id, sequence, limit) => {
        const stream = (await this.#log.stream("session", id)) ?? (await this.#log.stream("task", id));
        const page = await stream?.read({ before: sequence, limit, reverse: true, types: HISTORY_TYPES });
        return page?.events ?? [];
      },
    });
  }

  /** Known shapes, and what this session was given: its variables, and those and the headers of its MCP servers. For a task: those of its session. */
  async ofSession(id: string | undefined): Promise<Redactor> {
    if (id === undefined) return this.#general;
    const known = this.#ofSessions.get(id);
    const stream = await this.#log.stream("session", id);
    if (known && (stream === undefined || known.stream.deref() === stream)) return known.redactor;
    if (stream === undefined) {
      const session = (await taskPlace(this.#log, id))?.session_id ?? undefined;
      return session === undefined ? this.#general : this.ofSession(session);
    }
    const row = await this.#log.row("session", id);
    if (row === undefined) return known?.redactor ?? this.#general;
    const values = [...new Set([...(known?.values ?? []), ...placedSecrets(row.state)])];
    const redactor = values.length === 0 ? this.#general : this.#redactor(values);
    this.#ofSessions.set(id, { redactor, values, stream: new WeakRef(stream) });
    if (this.#ofSessions.size > MAX_SESSIONS)
      for (const oldest of this.#ofSessions.keys()) {
        this.#ofSessions.delete(oldest);
        break;
      }
    return redactor;
  }

  /** Switched off, only environment and headers are left out. */
  async ofExport(id: string): Promise<Pick<Redactor, "text" | "find">> {
    return this.enabled ? this.ofSession(id) : { text: (text) => text, find: () => [] };
  }

  /** A text without the secrets of any of these sessions and tasks. */
  async text(text: string, ids: readonly string[]): Promise<string> {
    return (await this.cleaner(ids))(text);
  }

  async cleaner(ids: readonly string[]): Promise<(text: string) => string> {
    const redactors = [...(await this.#ofAll(ids))];
    return (text) => redactors.reduce((left, redactor) => redactor.text(left), text);
  }

  async #ofAll(ids: readonly string[]): Promise<Set<Redactor>> {
    return new Set([this.#general, ...(await Promise.all(ids.map((id) => this.ofSession(id))))]);
  }

  /** Text that comes in chunks, such as a file, without the secrets of any of these sessions and tasks. */
  async cleaned(text: Readable, ids: readonly string[]): Promise<Readable> {
    const steps = [...(await this.#ofAll(ids))].map((redactor) => {
      const pieces = new PieceRedactor(redactor);
      const decoder = new StringDecoder("utf8");
      return new Transform({
        transform: (chunk: Buffer, _, done) => done(null, pieces.add(decoder.write(chunk))),
        flush: (done) => done(null, pieces.add(decoder.end()) + pieces.end()),
      });
    });
    // An error of one ends them all, and so the answer.
    return steps.reduce((before: Readable, step) => pipeline(before, step, () => {}), text);
  }

  #redactor(values: readonly string[]): Redactor {
    return new Redactor({
      values: [...(this.#options.values ?? []), ...values],
      patterns: this.#options.patterns ?? [],
      isToken: this.#isToken,
    });
  }
}
