// A value that components can watch. Listeners are called at most once a frame, so that a flood of events costs one render.
import { useSyncExternalStore } from "react";

export class Signal {
  readonly #listeners = new Set<() => void>();
  #scheduled = false;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Calls the listeners now. */
  readonly flush = (): void => {
    this.#scheduled = false;
    for (const listener of [...this.#listeners]) listener();
  };

  /** Calls the listeners with the next frame; a hidden page has no frames, so there a timer does. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (document.hidden) setTimeout(this.flush, 100);
    else requestAnimationFrame(this.flush);
  }
}

export class Store<T> {
  readonly changed = new Signal();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.changed.flush();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.#value));
  }
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.changed.subscribe, store.get);

/** What `read` returns must be the same value as long as nothing changed. */
export const useSignal = <T>(signal: Signal, read: () => T): T => useSyncExternalStore(signal.subscribe, read);
