// A map that forgets its oldest entries: what a session remembers of finished items must not grow with its length.

export class BoundedMap<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
