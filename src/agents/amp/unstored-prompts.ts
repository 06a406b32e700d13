// Messages Amp may have lost. may: a thread whose first turn was cut short before the model answered is stored nowhere, and cannot be continued.
// What was said in it is kept here, on disk because the next turn may come to another daemon, and goes along with the next message.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { arr, rec, str } from "../json.ts";

const KEPT = 10;

export class UnstoredPrompts {
  readonly #path: string;
  /** Threads that never got an answer. */
  #threads: string[] = [];
  #texts: string[] = [];

  constructor(path: string) {
    this.#path = path;
    try {
      const kept = rec(JSON.parse(readFileSync(path, "utf8")));
      this.#threads = arr(kept.threads).flatMap((id) => str(id) ?? []);
      this.#texts = arr(kept.texts).flatMap((text) => str(text) ?? []);
    } catch {
      // There are none.
    }
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  /** Whether this thread is known to have no answer yet. */
  has(thread: string): boolean {
    return this.#threads.includes(thread);
  }

  add(text: string): void {
    this.#texts = [...this.#texts, text].slice(-KEPT);
    this.#save();
  }

  began(thread: string): void {
    if (this.has(thread)) return;
    this.#threads = [...this.#threads, thread].slice(-KEPT);
    this.#save();
  }

  /** The model has answered: Amp has stored everything up to here. */
  clear(): void {
    if (this.#texts.length === 0 && this.#threads.length === 0) return;
    this.#texts = [];
    this.#threads = [];
    rmSync(this.#path, { force: true });
  }

  #save(): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    writeFileSync(this.#path, JSON.stringify({ threads: this.#threads, texts: this.#texts }), { mode: 0o600 });
  }
}
