/** Keeps the search index of the log: always where one daemon has the log, and on one node of a fleet, which changes when that node goes. */
import { Indexer, type IndexerOptions, type IndexStatus } from "../search/indexer.ts";

const LOOK_MS = 5_000;

export class SearchKeeper {
  readonly #options: IndexerOptions;
  #indexer: Indexer | null = null;
  #timer: NodeJS.Timeout | undefined;
  #elsewhere = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** `mine`: whether this node keeps it; null: nobody else can. */
  keep(mine: (() => Promise<boolean>) | null): void {
    if (mine === null) return this.#begin();
    const look = async (): Promise<void> => {
      const own = await mine();
      this.#elsewhere = !own;
      if (own && !this.#indexer) this.#begin();
      if (own || !this.#indexer) return;
      const left = this.#indexer;
      this.#indexer = null;
      await left.close();
    };
    this.#timer = setInterval(() => void look().catch(() => undefined), LOOK_MS).unref();
  }

  status(): IndexStatus {
    return this.#indexer?.status() ?? { state: this.#elsewhere ? "ready" : "building" };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#indexer?.close();
  }

  #begin(): void {
    this.#indexer = new Indexer(this.#options);
    this.#indexer.start();
  }
}
