/**
 * [O10] The drain of a node: every session that it has, or gets while it is drained, goes to a node that can take it. What failed (no node takes it now, the
 * registry or the log did not answer) is tried again until the drain ends, and told once for each session. How a session is given away is not here.
 */
import { ProblemError } from "../schema/problem-codes.ts";
import type { FleetClock } from "./fleet-node.ts";

/** How often it is looked for sessions that are still here. */
const LOOK_MS = 1_000;
/** Every how many looks those are tried again that no node took. */
const SELDOM = 15;

type DrainOptions = {
  owned(): readonly string[];
  /** Rejects with a `ProblemError` when no node takes it now. */
  move(sessionId: string): Promise<void>;
  clock: FleetClock;
  warn(message: string, fields: Record<string, unknown>): void;
};

export class Drain {
  readonly #options: DrainOptions;
  /** On their way: each goes when its turn has ended. */
  readonly #moving = new Set<string>();
  /** No node took them. */
  readonly #stay = new Set<string>();
  readonly #told = new Set<string>();
  #looks = 0;
  #cancel: (() => void) | null = null;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  begin(): void {
    if (this.#cancel === null) this.#look();
  }

  /** What is on its way goes all the same. */
  end(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#stay.clear();
    this.#told.clear();
  }

  #look(): void {
    const { owned, clock } = this.#options;
    this.#cancel = clock.after(LOOK_MS, () => this.#look());
    if (++this.#looks % SELDOM === 0) this.#stay.clear();
    for (const id of owned()) if (!this.#moving.has(id) && !this.#stay.has(id)) void this.#give(id);
  }

  async #give(session_id: string): Promise<void> {
    this.#moving.add(session_id);
    try {
      await this.#options.move(session_id);
    } catch (error) {
      if (error instanceof ProblemError) this.#stay.add(session_id);
      this.#tell(session_id, String(error));
    } finally {
      this.#moving.delete(session_id);
    }
  }

  #tell(session_id: string, error: string): void {
    if (this.#cancel === null || this.#told.has(session_id)) return;
    this.#told.add(session_id);
    this.#options.warn("a session of a node that is drained is still here, and is tried again", { session_id, error });
  }
}
