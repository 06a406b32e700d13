// Replays a recorded trace through a translator and a scribe, offline: the same code that runs live, with the trace's clock and counted ids.
// One session for each native session in the trace.
import type { Disposition, NativeDirection, Translation, Translator } from "../agents/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar, type Violation } from "../schema/grammar.ts";
import { dispositionOf, sha256 } from "../session/channel.ts";
import { EventWriter } from "../session/event-writer.ts";
import { countingIds, isoClock } from "../session/ids.ts";
import type { ArtifactWriter } from "../session/part-store.ts";
import { Scribe } from "../session/scribe.ts";

export type TraceRow = { t_ms: number; dir: NativeDirection; data: unknown };

export type LedgerCount = { type: string; disposition: Disposition; count: number };

export type ReplayedSession = { session_id: string; native_session: string; events: UniversalEvent[]; violations: Violation[] };

export type Replay = {
  sessions: ReplayedSession[];
  /** Native messages by type and disposition. */
  ledger: LedgerCount[];
  totals: Record<Disposition, number>;
  unparsed: { row: number; type: string; error: string }[];
};

/** Address of what belongs to no session, in a trace that has none. */
const NOBODY = "none";
const EPOCH = Date.UTC(2026, 0, 1);

export function replayTrace(translator: Translator, rows: TraceRow[], options: { location: string; prefix?: string }): Replay {
  const translated = rows.map((row) => ({ row, translations: translateRow(translator, row) }));
  const address = addressBook(translated.flatMap(({ translations }) => translations));
  const sessions = new Map<string, ReplayedStream>();
  let now = EPOCH;
  for (const native of address.sessions)
    sessions.set(
      native,
      new ReplayedStream(native, `${options.prefix ?? "sess"}_${sessions.size + 1}`, () => now, options.location),
    );

  const counts = new Map<string, LedgerCount>();
  const totals: Record<Disposition, number> = { mapped: 0, noted: 0, heartbeat: 0, unparsed: 0 };
  const unparsed: Replay["unparsed"] = [];
  const lastExit = translated.findLastIndex(({ row }) => row.dir === "exit");
  translated.forEach(({ row, translations }, index) => {
    now = EPOCH + Math.max(0, Math.round(row.t_ms));
    const { type, disposition } = dispositionOf(translations);
    const name = `${disposition} ${type}`;
    const count = counts.get(name) ?? { type, disposition, count: 0 };
    count.count++;
    counts.set(name, count);
    totals[disposition]++;
    for (const { disposition, type, error } of translations)
      if (disposition === "unparsed") unparsed.push({ row: index + 1, type, error: error ?? "" });
    for (const translation of translations) {
      const native = address.of(translation.session);
      for (const [id, session] of sessions) if (native === null || id === native) session.apply(translation, row, index + 1);
    }
    if (row.dir === "exit") for (const session of sessions.values()) session.exit(row, index === lastExit);
  });
  return { sessions: [...sessions.values()].map((session) => session.result()), ledger: [...counts.values()], totals, unparsed };
}

function translateRow(translator: Translator, row: TraceRow): Translation[] {
  try {
    const translations = translator.translate({ dir: row.dir, data: row.data });
    if (translations.length > 0) return translations;
    return [{ session: null, type: "silent", disposition: "unparsed", drafts: [], error: "the translator said nothing" }];
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ session: null, type: "fault", disposition: "unparsed", drafts: [], error: `the translator threw: ${text}` }];
  }
}

/** Which native sessions there are, and where provisional addresses lead. Provisional ones (`req:…`) that were never bound belong to everybody. */
function addressBook(translations: Translation[]): { sessions: string[]; of(session: string | null): string | null } {
  const bound = new Map<string, string>();
  for (const { session, bind } of translations)
    if (bind && session !== null && session !== bind.from) bound.set(bind.from, session);
  const of = (session: string | null): string | null => {
    let at = session;
    for (let hops = 0; at !== null && bound.has(at) && hops < 10; hops++) at = bound.get(at) ?? null;
    return at?.startsWith("req:") ? null : at;
  };
  const sessions = new Set<string>();
  for (const { session } of translations) {
    const native = of(session);
    if (native !== null) sessions.add(native);
  }
  return { sessions: sessions.size > 0 ? [...sessions] : [NOBODY], of };
}

class ReplayedStream {
  readonly #native: string;
  readonly #id: string;
  readonly #location: string;
  readonly #events: UniversalEvent[] = [];
  readonly #scribe: Scribe;
  #raw: unknown = null;
  #began = false;

  constructor(native: string, id: string, now: () => number, location: string) {
    this.#native = native;
    this.#id = id;
    this.#location = location;
    const sink = { append: (entry: { json: string; native: number | null }) => this.#keep(entry) };
    const writer = new EventWriter({ sessionId: id, sink, ids: countingIds(`${id.replace(/^\D+/, "")}_`), clock: isoClock(now) });
    this.#scribe = new Scribe(writer, hashOnly);
  }

  #keep(entry: { json: string; native: number | null }): void {
    const event = JSON.parse(entry.json) as UniversalEvent;
    this.#events.push(entry.native === null ? event : { ...event, raw: this.#raw });
  }

  #begin(): void {
    if (this.#began) return;
    this.#began = true;
    this.#scribe.begin({ agent: this.#location, replay: true });
  }

  apply(translation: Translation, row: TraceRow, native: number): void {
    this.#begin();
    this.#raw = row.data;
    this.#scribe.translation(translation, native, row.dir !== "in", {
      location: this.#location,
      rawHash: () => sha256(JSON.stringify(row.data) ?? ""),
    });
  }

  exit(row: TraceRow, last: boolean): void {
    this.#begin();
    if (!last) {
      this.#scribe.cut("interrupted");
      return this.#scribe.dormant();
    }
    const { code, signal } = exitOf(row.data);
    const failed = (code !== null && code !== 0) || (signal !== null && signal !== "SIGTERM" && signal !== "SIGINT");
    this.#scribe.end({
      reason: failed ? "error" : "completed",
      terminated_by: "agent",
      ...(failed
        ? {
            message: signal ? `The agent was ended by ${signal}.` : `The agent exited with code ${code}.`,
            exit_code: code,
            signal,
          }
        : {}),
    });
  }

  result(): ReplayedSession {
    this.#begin();
    return { session_id: this.#id, native_session: this.#native, events: this.#events, violations: checkGrammar(this.#events) };
  }
}

function exitOf(data: unknown): { code: number | null; signal: string | null } {
  const exit = typeof data === "object" && data !== null ? (data as { code?: unknown; signal?: unknown }) : {};
  return { code: typeof exit.code === "number" ? exit.code : null, signal: typeof exit.signal === "string" ? exit.signal : null };
}

/** Names artifacts without keeping them: a replay shows where bytes would lie. */
const hashOnly: ArtifactWriter = {
  put(bytes) {
    const digest = sha256(bytes);
    return { artifact_id: `art_${digest}`, path: `/v1/artifacts/art_${digest}`, bytes: bytes.length, digest: `sha256:${digest}` };
  },
};
