// Messages Amp may have lost. may: a thread is stored when its process leaves in good order; one whose first turn was cut short may be stored nowhere, and
// cannot be continued. What was said in it is kept here, on disk because the next turn may come to another daemon, and goes along with the next message.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { arr, rec, str } from "../../json.ts";

const KEPT = 10;

export class UnstoredPrompts {
  readonly #path: string;
  /** Threads of which nothing proves that Amp has them. */
  #threads: string[] = [];
  /** Threads Amp has but cannot continue. */
  #blocked: string[] = [];
  #texts: string[] = [];

  constructor(path: string) {
    this.#path = path;
    try {
      const kept = rec(JSON.parse(readFileSync(path, "utf8")));
      this.#threads = strings(kept.threads);
      this.#blocked = strings(kept.blocked);
      this.#texts = strings(kept.texts);
    } catch {
      // There are none.
    }
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  isDoubtful(thread: string): boolean {
    return this.#threads.includes(thread);
  }

  isBlocked(thread: string): boolean {
    return this.#blocked.includes(thread);
  }

  add(text: string): void {
    this.#texts = [...this.#texts, text].slice(-KEPT);
    this.#save();
  }

  began(thread: string): void {
    if (this.isDoubtful(thread)) return;
    this.#threads = [...this.#threads, thread].slice(-KEPT);
    this.#save();
  }

  block(thread: string): void {
    this.#blocked = [...this.#blocked, thread].slice(-KEPT);
    this.#save();
  }

  /** Amp has everything up to here. */
  clear(): void {
    if (this.#texts.length === 0 && this.#threads.length === 0) return;
    this.#texts = [];
    this.#threads = [];
    if (this.#blocked.length > 0) this.#save();
    else rmSync(this.#path, { force: true });
  }

  #save(): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    writeFileSync(this.#path, JSON.stringify({ threads: this.#threads, blocked: this.#blocked, texts: this.#texts }), {
      mode: 0o600,
    });
  }
}

const strings = (value: unknown): string[] => arr(value).flatMap((text) => str(text) ?? []);
