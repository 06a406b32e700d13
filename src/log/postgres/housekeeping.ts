/** What is done from time to time: the owner says that it is alive, and documents that have expired are removed, as are the numbers of processes that died. */
import { LogError } from "../log-error.ts";
import { sweepCommitters } from "./commit-numbers.ts";
import type { Database } from "./connection.ts";
import { giveUpOwner, stayOwner } from "./epochs.ts";

const ALIVE_MS = 4_000;
/** How many of those until documents are swept. */
const SWEEP_EVERY = 75;

type Options = {
  tenant: string;
  /** Null where nodes share the log. */
  owner: string | null;
  onFenced(error: LogError): void;
  /** Packs what rests. */
  seal(): Promise<unknown>;
};

export class Housekeeping {
  readonly #database: Database;
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;
  #turns = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(database: Database, options: Options) {
    this.#database = database;
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running = this.#turn();
    }, ALIVE_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    const { tenant, owner } = this.#options;
    if (owner !== null) await giveUpOwner(this.#database, tenant, owner).catch(() => undefined);
  }

  async #turn(): Promise<void> {
    const { tenant, owner, onFenced, seal } = this.#options;
    try {
      if (owner !== null) await stayOwner(this.#database, tenant, owner);
      if (this.#turns++ % SWEEP_EVERY !== 0) return;
      await this.#sweep();
      // Where nodes share the log, one of them does it when all know packed rows.
      if (owner !== null) void seal().catch(() => undefined);
    } catch (error) {
      // When the database is gone, the next commit says so.
      if (error instanceof LogError && error.code === "fenced") onFenced(error);
    }
  }

  async #sweep(): Promise<void> {
    await this.#database.query("DELETE FROM dragoman.documents WHERE tenant = $1 AND expires_at <= $2", [
      this.#options.tenant,
      Date.now(),
    ]);
    await sweepCommitters(this.#database, this.#options.tenant);
  }
}
