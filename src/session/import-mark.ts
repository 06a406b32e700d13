/**
 * All or nothing, also when the daemon dies: a session that is being imported carries a mark in its stored row until its last event is written, and a
 * document names it. While the mark is there nobody is shown the session; at the next start it is removed. The mark decides, the document only finds it:
 * a session that carries no mark, or another one, is never removed.
 */
import { randomBytes } from "node:crypto";
import type { Log } from "../log/contract.ts";
import type { SessionRow } from "./session-row.ts";

const KIND = "importing";
const PAGE = 100;

type Noted = { session_id: string; mark: string };

const startOf = (mark: string): string => `{"importing":${JSON.stringify(mark)},`;

/** True for the stored row of a session that is not whole yet. */
export const isImporting = (state: string): boolean => state.startsWith('{"importing":');

export class ImportMark {
  readonly #log: Log;
  readonly #id: string;
  readonly #mark: string;

  private constructor(log: Log, id: string, mark: string) {
    this.#log = log;
    this.#id = id;
    this.#mark = mark;
  }

  /** Committed before the session is created: it can be found whatever happens then. */
  static async put(log: Log, sessionId: string): Promise<ImportMark> {
    const mark = randomBytes(12).toString("hex");
    const noted: Noted = { session_id: sessionId, mark };
    log.documents.put(KIND, mark, JSON.stringify(noted), { sync: true });
    await log.documents.committed();
    return new ImportMark(log, mark, mark);
  }

  /** The row as it is stored until the import is complete. */
  stateOf(row: SessionRow): string {
    return startOf(this.#mark) + JSON.stringify(row).slice(1);
  }

  /** The session is whole, or gone. */
  remove(): void {
    this.#log.documents.delete(KIND, this.#id);
  }
}

/** At start, before any session is read. Returns the ids of the sessions that were removed. */
export async function removeUnfinishedImports(log: Log): Promise<string[]> {
  const removed: string[] = [];
  for (;;) {
    const documents = await log.documents.list(KIND, { limit: PAGE });
    for (const { id, body } of documents) {
      const { session_id = "", mark = "" } = notedIn(body);
      const row = await log.row("session", session_id).catch(() => undefined);
      if (row?.state.startsWith(startOf(mark)) && (await log.delete("session", session_id))) removed.push(session_id);
      log.documents.delete(KIND, id);
    }
    if (documents.length < PAGE) return removed;
    await log.documents.committed();
  }
}

function notedIn(body: string): Partial<Noted> {
  try {
    return JSON.parse(body) as Noted;
  } catch {
    return {};
  }
}
