/**
 * One search for all that ask at the same time: a hundred connections in one moment cost about as much as two. Who asks while a search runs waits for the next
 * one, because what they look for may be newer than what was looked at already.
 */
type Search<T> = (wanted: ReadonlySet<string>) => Promise<ReadonlyMap<string, T>>;
type Round<T> = { wanted: Set<string>; result: Promise<ReadonlyMap<string, T>>; start(): void };

export class SharedSearch<T> {
  readonly #search: Search<T>;
  #running = false;
  #next: Round<T> | null = null;

  /** `search` answers for everything that is wanted. */
  constructor(search: Search<T>) {
    this.#search = search;
  }

  async get(key: string): Promise<T> {
    this.#next ??= this.#prepare();
    const { wanted, result } = this.#next;
    wanted.add(key);
    if (!this.#running) this.#begin();
    const found = (await result).get(key);
    if (found === undefined) throw new Error(`The search does not answer for ${key}.`);
    return found;
  }

  #prepare(): Round<T> {
    const wanted = new Set<string>();
    let start = (): void => {};
    const begun = new Promise<void>((resolve) => {
      start = resolve;
    });
    return { wanted, result: begun.then(() => this.#search(wanted)), start };
  }

  #begin(): void {
    const next = this.#next;
    if (next === null) return;
    this.#next = null;
    this.#running = true;
    const ended = (): void => {
      this.#running = false;
      this.#begin();
    };
    next.result.then(ended, ended);
    next.start();
  }
}
