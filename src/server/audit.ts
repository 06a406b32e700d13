/**
 * The audit record: one entry for each command that changes something, and for wrong tokens. Entries are only added; they are kept for 90 days. Not
 * here: the events of a session, which name the actor of each effect themselves.
 */
import type { Log } from "../log/contract.ts";
import type { AuditList, AuditRecord } from "../schema/audit.ts";
import type { Logger } from "./logger.ts";

const KIND = "audit";
const KEEP_MS = 90 * 24 * 60 * 60_000;
/** Ids count down from here, so that reading in order of id gives the newest first. */
const END_OF_TIME = 9_999_999_999_999;
/** Wrong tokens of one range of addresses in this time are one record: guessing must not fill the log. */
const REFUSED_MS = 60_000;
const MAX_RANGES = 1_000;

export type NewRecord = Omit<AuditRecord, "audit_id" | "time">;

export class Audit {
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #refused = new Map<string, { id: string; record: AuditRecord; since: number }>();
  #lastMs = 0;
  #count = 0;

  constructor(log: Log, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Commits with the tick, together with what the command appended. */
  record(entry: NewRecord): void {
    const { id, ms } = this.#nextId();
    this.#put(id, { audit_id: id, time: new Date(ms).toISOString(), ...entry });
  }

  /** A wrong token, from this range of addresses. */
  refused(remote: string): void {
    const now = Date.now();
    const known = this.#refused.get(remote);
    if (known && now - known.since < REFUSED_MS) {
      known.record.count = (known.record.count ?? 1) + 1;
      // 1, 2, 4, 8 …: the number is never off by more than half, and guessing costs few writes.
      if ((known.record.count & (known.record.count - 1)) === 0) this.#put(known.id, known.record);
      return;
    }
    if (this.#refused.size >= MAX_RANGES) this.#refused.clear();
    const { id, ms } = this.#nextId();
    const record: AuditRecord = {
      audit_id: id,
      time: new Date(ms).toISOString(),
      operation: "token.refused",
      outcome: "refused",
      status: 401,
      actor: null,
      remote,
      count: 1,
    };
    this.#refused.set(remote, { id, record, since: now });
    this.#put(id, record);
  }

  /** The newest first. */
  async list({ limit, after }: { limit: number; after?: string }): Promise<AuditList> {
    const found = await this.#log.documents.list(KIND, { limit: limit + 1, ...(after === undefined ? {} : { after }) });
    const page = found.slice(0, limit);
    return {
      records: page.map(({ body }) => JSON.parse(body) as AuditRecord),
      next: found.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
  }

  #nextId(): { id: string; ms: number } {
    const ms = Math.max(Date.now(), this.#lastMs);
    this.#count = ms === this.#lastMs ? this.#count + 1 : 0;
    this.#lastMs = ms;
    return { id: `${String(END_OF_TIME - ms).padStart(13, "0")}-${String(999_999 - this.#count).padStart(6, "0")}`, ms };
  }

  /** A log that cannot take it must not undo what was done: the daemon's own log says so then. */
  #put(id: string, record: AuditRecord): void {
    try {
      this.#log.documents.put(KIND, id, JSON.stringify(record), { expiresAt: Date.now() + KEEP_MS });
    } catch (error) {
      this.#logger.error({ err: error, audit: record }, "an audit record could not be stored");
    }
  }
}
