// Replays a recorded trace through a translator and a scribe, offline: the same code that runs live, with the trace's clock and counted ids.
// One session for each native session in the trace.
import type { Disposition, NativeDirection, Translation, Translator } from "../agents/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { Grammar, type Violation } from "../schema/grammar.ts";
import { dispositionOf, sha256, translateSafely } from "../session/channel.ts";
import { carryOut, type Decision } from "../session/decision.ts";
import { EventWriter, jsonOf, type LogEntry } from "../session/event-writer.ts";
import { countingIds, isoClock } from "../session/ids.ts";
import type { ArtifactWriter } from "../session/part-store.ts";
import { Scribe } from "../session/scribe.ts";

/** `daemon`: a decision, as it stands in the ledger of a session. */
export type TraceRow = { t_ms: number; dir: NativeDirection | "daemon"; data: unknown };

export type LedgerCount = { type: string; disposition: Disposition; count: number };

export type ReplayedSession = { session_id: string; native_session: string; events: UniversalEvent[]; violations: Violation[] };

export type ReplayLedger = {
  /** Native messages by type and disposition. */
  ledger: LedgerCount[];
  totals: Record<Disposition, number>;
  unparsed: { row: number; type: string; error: string }[];
  /** U16: mapped, but it made no event and nobody says why. */
  unexplained: { row: number; type: string }[];
};

export type Replay = ReplayLedger & { sessions: ReplayedSession[] };

export type ReplayOptions = {
  location: string;
  prefix?: string;
  /** Called with every event as it is written. */
  onEvent?: (event: UniversalEvent) => void;
};

/** Address of what belongs to no session, in a trace that has none. */
const NOBODY = "none";
const EPOCH = Date.UTC(2026, 0, 1);

/**
 * Where the next process of the agent begins. A ledger says it. In other traces it is what follows an exit, but for stderr of the dead process, which may
 * still arrive, and for agents that start a process for each message.
 */
class Lives {
  readonly #manyProcesses: boolean;
  #gone = true;
  #decided = false;

  constructor({ manyProcesses }: Translator) {
    this.#manyProcesses = manyProcesses === true;
  }

  /** Asked for each row, in order. */
  nextBegins({ dir, data }: TraceRow): boolean {
    if (dir === "daemon") {
      this.#decided = true;
      return decisionOf(data)?.do === "process";
    }
    const begins = this.#gone && dir !== "exit" && dir !== "err";
    this.#gone = (dir === "exit" && !this.#manyProcesses) || (this.#gone && !begins);
    return begins && !this.#decided;
  }
}

/** `freshKeys`: with it a process begins whose keys of items are its own, and no decision in the trace says so. */
export type TranslatedRow = { row: TraceRow; translations: Translation[]; freshKeys: boolean };

/** A translator for each process of the agent, as live. */
export class TraceTranslator {
  readonly #make: () => Translator;
  readonly #lives: Lives;
  #translator: Translator;

  constructor(make: () => Translator) {
    this.#make = make;
    this.#translator = make();
    this.#lives = new Lives(this.#translator);
  }

  translate(row: TraceRow): TranslatedRow {
    const begins = this.#lives.nextBegins(row);
    if (begins) this.#translator = this.#make();
    const { dir, data } = row;
    if (dir === "daemon") return { row, translations: [], freshKeys: false };
    const translations = translateSafely(this.#translator, { dir, data });
    // Asked after the first message: a translator may know only then which of two streams it is.
    return { row, translations, freshKeys: begins && this.#translator.keys !== "session" };
  }
}

export function replayTrace(make: () => Translator, rows: TraceRow[], options: ReplayOptions): Replay {
  const translator = new TraceTranslator(make);
  const translated = rows.map((row) => translator.translate(row));
  const survey = new Survey();
  for (const row of translated) survey.add(row);
  const events = new Map<string, UniversalEvent[]>();
  const replayer = new Replayer(survey, {
    ...options,
    onEvent: (event) => {
      options.onEvent?.(event);
      const list = events.get(event.session_id);
      if (list) list.push(event);
      else events.set(event.session_id, [event]);
    },
  });
  for (const row of translated) replayer.add(row);
  const { sessions, ...ledger } = replayer.result();
  return { ...ledger, sessions: sessions.map((session) => ({ ...session, events: events.get(session.session_id) ?? [] })) };
}

/**
 * The first reading of a trace: which native sessions there are, where provisional addresses lead, and which exit is the end.
 * Provisional addresses (`req:…`) that were never bound belong to everybody.
 */
export class Survey {
  readonly #bound = new Map<string, string>();
  readonly #named = new Set<string>();
  #rows = 0;
  #finalExit = 0;
  #decided = false;

  /** True when the trace itself says what the daemon did, as a session's ledger does: an exit then ends nothing by itself. */
  get decided(): boolean {
    return this.#decided;
  }

  add({ row, translations }: TranslatedRow): void {
    this.#rows++;
    if (row.dir === "daemon") {
      this.#decided = true;
      return;
    }
    // Stderr of a dead process may still arrive. Anything else after an exit is the next process: the session went on.
    if (row.dir === "exit") this.#finalExit = this.#rows;
    else if (row.dir !== "err") this.#finalExit = 0;
    for (const { session, bind } of translations) {
      if (session !== null) this.#named.add(session);
      if (bind && session !== null && session !== bind.from) this.#bound.set(bind.from, session);
    }
  }

  /** Number of the row that ends the sessions: the process is gone and no other one follows. 0 when the trace ends with a living process. */
  get finalExit(): number {
    return this.#finalExit;
  }

  of(session: string | null): string | null {
    let at = session;
    for (let hops = 0; at !== null && this.#bound.has(at) && hops < 10; hops++) at = this.#bound.get(at) ?? null;
    return at?.startsWith("req:") ? null : at;
  }

  sessions(): string[] {
    const found = new Set([...this.#named].map((session) => this.of(session)).filter((session) => session !== null));
    return found.size > 0 ? [...found] : [NOBODY];
  }
}

/** The second reading: rows in order, events out. Holds no events. */
export class Replayer {
  readonly #survey: Survey;
  readonly #sessions = new Map<string, ReplayedStream>();
  readonly #counts = new Map<string, LedgerCount>();
  readonly #totals: Record<Disposition, number> = { mapped: 0, noted: 0, heartbeat: 0, unparsed: 0 };
  readonly #unparsed: ReplayLedger["unparsed"] = [];
  readonly #unexplained: ReplayLedger["unexplained"] = [];
  #row = 0;
  #now = EPOCH;

  constructor(survey: Survey, options: ReplayOptions) {
    this.#survey = survey;
    const clock = isoClock(() => this.#now);
    for (const native of survey.sessions()) {
      const id = `${options.prefix ?? "sess"}_${this.#sessions.size + 1}`;
      this.#sessions.set(native, new ReplayedStream({ native, id, clock, location: options.location, onEvent: options.onEvent }));
    }
  }

  add({ row, translations, freshKeys }: TranslatedRow): void {
    this.#row++;
    this.#now = EPOCH + Math.max(0, Math.round(row.t_ms));
    if (freshKeys) for (const session of this.#sessions.values()) session.newKeys();
    if (row.dir === "daemon") {
      for (const session of this.#sessions.values()) session.decide(row.data);
      return;
    }
    this.#count(translations);
    for (const translation of translations) {
      const native = this.#survey.of(translation.session);
      for (const [id, session] of this.#sessions)
        if (native === null || id === native) session.apply(translation, row, this.#row);
    }
    if (row.dir === "exit" && !this.#survey.decided)
      for (const session of this.#sessions.values()) session.exit(row, this.#row, this.#row === this.#survey.finalExit);
  }

  #count(translations: readonly Translation[]): void {
    const { type, disposition } = dispositionOf([...translations]);
    const name = `${disposition} ${type}`;
    const count = this.#counts.get(name) ?? { type, disposition, count: 0 };
    count.count++;
    this.#counts.set(name, count);
    this.#totals[disposition]++;
    for (const { disposition, type, error } of translations)
      if (disposition === "unparsed") this.#unparsed.push({ row: this.#row, type, error: error ?? "" });
    for (const { disposition, type, drafts, silent } of translations)
      if (disposition === "mapped" && drafts.length === 0 && silent === undefined)
        this.#unexplained.push({ row: this.#row, type });
  }

  result(): ReplayLedger & { sessions: Omit<ReplayedSession, "events">[] } {
    return {
      sessions: [...this.#sessions.values()].map((session) => session.result()),
      ledger: [...this.#counts.values()],
      totals: this.#totals,
      unparsed: this.#unparsed,
      unexplained: this.#unexplained,
    };
  }
}

type StreamOptions = {
  native: string;
  id: string;
  clock: () => string;
  location: string;
  onEvent: ((event: UniversalEvent) => void) | undefined;
};

class ReplayedStream {
  readonly #options: StreamOptions;
  readonly #grammar = new Grammar({ strict: true });
  readonly #violations: Violation[] = [];
  readonly #scribe: Scribe;
  #raw: unknown = null;
  #began = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { id, clock } = options;
    const sink = { append: (entry: LogEntry) => this.#keep(entry) };
    const writer = new EventWriter({ sessionId: id, sink, ids: countingIds(`${id.replace(/^\D+/, "")}_`), clock });
    this.#scribe = new Scribe(writer, hashOnly);
  }

  #keep(entry: LogEntry): void {
    const written = JSON.parse(jsonOf(entry)) as UniversalEvent;
    const event = entry.native === null ? written : { ...written, raw: this.#raw };
    this.#violations.push(...this.#grammar.check(event, entry.native));
    this.#options.onEvent?.(event);
  }

  #begin(): void {
    if (this.#began) return;
    this.#began = true;
    this.#scribe.begin({ agent: this.#options.location, replay: true });
  }

  apply(translation: Translation, row: TraceRow, native: number): void {
    this.#begin();
    this.#raw = row.data;
    const unparsed =
      translation.disposition === "unparsed"
        ? { location: this.#options.location, raw_hash: sha256(JSON.stringify(row.data) ?? "") }
        : null;
    this.#scribe.translation(translation, native, row.dir !== "in", unparsed);
  }

  newKeys(): void {
    this.#scribe.items.newScope();
  }

  decide(data: unknown): void {
    this.#begin();
    const decision = decisionOf(data);
    if (decision) carryOut(this.#scribe, withoutQueue(decision));
  }

  exit(row: TraceRow, native: number, last: boolean): void {
    this.#begin();
    this.#raw = row.data;
    this.#scribe.exited = native;
    this.#scribe.afterExit(() => this.#over(row, last));
  }

  #over(row: TraceRow, last: boolean): void {
    if (!last) {
      this.#scribe.cut("interrupted");
      return this.#scribe.dormant();
    }
    const { code, signal } = exitOf(row.data);
    // 143 and 130: the agent took SIGTERM or SIGINT itself and said so by its code.
    const failed =
      (code !== null && ![0, 130, 143].includes(code)) || (signal !== null && signal !== "SIGTERM" && signal !== "SIGINT");
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

  result(): Omit<ReplayedSession, "events"> {
    this.#begin();
    return { session_id: this.#options.id, native_session: this.#options.native, violations: this.#violations };
  }
}

/** Nobody queues messages in a replay, so none is taken out of the queue. */
function withoutQueue(decision: Decision): Decision {
  if (decision.do !== "promise") return decision;
  const { message_id: _, ...message } = decision.message;
  return { do: "promise", message };
}

/** A ledger of a newer daemon may hold decisions that are not known here. */
function decisionOf(data: unknown): Decision | null {
  const known: Record<Decision["do"], true> = {
    process: true,
    promise: true,
    say: true,
    cut: true,
    lost: true,
    end: true,
  };
  const named = typeof data === "object" && data !== null && "do" in data && typeof data.do === "string" ? data.do : "";
  return Object.hasOwn(known, named) ? (data as Decision) : null;
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
