/** Removes sessions, with all they left in the log and elsewhere: on request, whatever state they are in, or unasked when nobody uses them. */
import { LogError } from "../log/log-error.ts";
import { type Actor, EMBEDDED } from "../schema/actor.ts";
import { isImporting } from "./import-mark.ts";
import type { LoadedSessions } from "./loaded-sessions.ts";
import type { ManagerOptions } from "./manager-options.ts";
import type { Session } from "./session.ts";
import { parseRow, type SessionRow } from "./session-row.ts";
import { QUEUED, UNREADABLE } from "./stored-queue.ts";

type Sources = {
  get(id: string): Promise<Session>;
  rowOf(id: string): Promise<Readonly<SessionRow> | undefined>;
  isCreating(id: string): boolean;
};

export class SessionRemoval {
  readonly #options: ManagerOptions;
  readonly #loaded: LoadedSessions;
  readonly #sources: Sources;
  /** Called when a session is gone from the log. */
  onGone: ((id: string) => void) | undefined;

  constructor(options: ManagerOptions, loaded: LoadedSessions, sources: Sources) {
    this.#options = options;
    this.#loaded = loaded;
    this.#sources = sources;
  }

  /** Removes the session and all it left in the log. Its agent is ended first. */
  async remove(id: string, actor: Actor = EMBEDDED): Promise<void> {
    const { log, checkpoints } = this.#options;
    const { directory } = (await this.#sources.rowOf(id)) ?? {};
    await this.#terminateForRemoval(id, actor);
    const row = await this.#sources.rowOf(id);
    log.assertWritable();
    for (const kind of [QUEUED, UNREADABLE])
      for (const document of await log.documents.list(kind, { prefix: `${id}/` })) log.documents.delete(kind, document.id);
    await this.#delete(id);
    this.onGone?.(id);
    if (directory !== undefined) checkpoints?.removed(directory);
    if (row) await this.#forget(row);
    await this.#options.onRemoved?.(id);
    await log.erased();
  }

  /** True while nobody needs it: it has no process, nothing is open in it, and no message waits for it. */
  async isUnused(id: string): Promise<boolean> {
    const { log } = this.#options;
    if ((await log.documents.list(QUEUED, { prefix: `${id}/`, limit: 1 })).length > 0) return false;
    const row = await log.row("session", id);
    return row !== undefined && row.open_since === null && !isImporting(row.state) && this.#isLeft(id);
  }

  /** Removes it if it is unused. False when it is not, or is gone. Its bytes are gone with `Log.erased`. */
  async removeUnused(id: string): Promise<boolean> {
    const { log, checkpoints } = this.#options;
    const row = await this.#sources.rowOf(id);
    const messages = await log.documents.list(UNREADABLE, { prefix: `${id}/` });
    if (!(await this.isUnused(id))) return false;
    // Nothing is waited for from here on: nobody can take it up in between.
    if (!this.#isLeft(id)) return false;
    for (const message of messages) log.documents.delete(UNREADABLE, message.id);
    const removed = await this.#delete(id);
    if (removed) this.onGone?.(id);
    if (row) checkpoints?.removed(row.directory);
    if (row) await this.#forget(row);
    await this.#options.onRemoved?.(id);
    return removed;
  }

  #delete(id: string): Promise<boolean> {
    // A kept reply can hold what the session was created with.
    return this.#loaded.remove(id, () => this.#options.log.delete("session", id, { documents: ["idempotency"] }));
  }

  /** What its agent keeps of it goes, too, unless another session has the same conversation or branches off from it. */
  async #forget({ agent: id, native_session_id, fork }: Readonly<SessionRow>): Promise<void> {
    const { agent, host } = this.#options.agent(id) ?? {};
    if (!agent?.forget || !host || native_session_id === null || fork) return;
    for await (const { state } of this.#loaded.rows({ where: { agent: id } }))
      if (nativeIdOf(state) === native_session_id) return;
    await agent.forget(native_session_id, host).catch((error: unknown) => {
      this.#options.warn("what an agent kept of a session could not be removed", { agent: id, error: String(error) });
    });
  }

  #isLeft(id: string): boolean {
    return !this.#options.isUsed?.(id) && !this.#sources.isCreating(id) && !this.#loaded.isInUse(id);
  }

  /** A session whose stored data is damaged has no agent to end, and can be removed all the same. */
  async #terminateForRemoval(id: string, actor: Actor): Promise<void> {
    if (this.#loaded.isUnreadable(id)) return;
    try {
      await (await this.#sources.get(id)).terminate(actor);
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "corrupt_chunk") throw error;
    }
  }
}

/** Null when the row cannot be read. */
function nativeIdOf(state: string): string | null {
  try {
    return parseRow(state).native_session_id;
  } catch {
    return null;
  }
}
