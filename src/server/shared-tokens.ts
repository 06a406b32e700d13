/**
 * Tokens that were made, where several nodes share them: each node keeps a copy, writes what it changes before it answers, and asks for what others changed, every second and whenever it is shown a token that it does not
 * know. So a token counts everywhere at once, and one that was ended is refused everywhere a second later. Not here: the table itself, and which tokens are valid.
 */
import { ProblemError } from "../schema/problem-codes.ts";

/** `body`: the token as JSON; null: it has ended. `expires_at`: milliseconds since 1970. */
export type TokenRow = { id: string; body: string | null; expires_at: number };

/** The table that all nodes have. */
export interface TokenTable {
  /** What changed after this version, in the order in which it did. */
  since(version: number): Promise<{ version: number; rows: Pick<TokenRow, "id" | "body">[] }>;
  put(rows: readonly TokenRow[]): Promise<void>;
  /** Ends one. False: it has ended already, or never was. */
  take(id: string): Promise<boolean>;
}

const POLL_MS = 1_000;

export class SharedTokens {
  readonly #table: TokenTable;
  readonly #apply: (rows: readonly Pick<TokenRow, "id" | "body">[]) => void;
  readonly #timer: NodeJS.Timeout;
  /** Changes of this node that are not in the table yet. */
  readonly #unsaved = new Map<string, TokenRow>();
  #saving: Promise<void> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #version = 0;

  /** `apply`: told what other nodes changed, and its own changes again. */
  constructor(table: TokenTable, apply: (rows: readonly Pick<TokenRow, "id" | "body">[]) => void) {
    this.#table = table;
    this.#apply = apply;
    this.#timer = setInterval(() => void this.#tick(), POLL_MS).unref();
  }

  change(row: TokenRow): void {
    this.#unsaved.set(row.id, row);
  }

  /** Writes what was changed. Rejects with `not_ready` when the database does not take it; it is tried again then. */
  save(): Promise<void> {
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#write());
    return this.#saving;
  }

  /** Resolves when all that others changed before this call is known. */
  look(): Promise<void> {
    // One that is under way may have begun too early.
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        this.#running = this.#read();
        return this.#running;
      });
    return this.#next;
  }

  /** Of several nodes that end the same one at the same time, one is told true. */
  async take(id: string): Promise<boolean> {
    await this.save();
    return this.#table.take(id).catch(notReady);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A database that does not answer is asked again a second later. */
  async #tick(): Promise<void> {
    await this.save().catch(() => undefined);
    await this.look().catch(() => undefined);
  }

  async #write(): Promise<void> {
    const rows = [...this.#unsaved.values()];
    if (rows.length === 0) return;
    await this.#table.put(rows).catch(notReady);
    for (const row of rows) if (this.#unsaved.get(row.id) === row) this.#unsaved.delete(row.id);
  }

  async #read(): Promise<void> {
    const { version, rows } = await this.#table.since(this.#version).catch(notReady);
    this.#version = version;
    const others = rows.filter(({ id }) => !this.#unsaved.has(id));
    if (others.length > 0) this.#apply(others);
  }
}

function notReady(): never {
  throw new ProblemError(
    "not_ready",
    "The database of the fleet, which keeps the tokens, does not answer. Try again when it does.",
  );
}
