/**
 * Reports which paths may have changed since the last look: one watch a directory. On Linux all watches of a process share one queue, in order, so a file that we
 * make ourselves (the cookie) shows that everything before it has arrived. The kernel drops events when its queue is full and libuv does not say so; what shows
 * it is a lost cookie, or more events in one go than a healthy queue holds. Not noticed: writes through mmap and through hard links from outside; full looks find them.
 */
import { type FSWatcher, mkdirSync, readFileSync, rmSync, unlinkSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextRound } from "node:timers/promises";
import { isBelow, joinRaw, toFs } from "./raw-path.ts";

const IN_ONE_GO = 4_096;
const PATHS = 20_000;
const COOKIE_MS = 250;

/** The kernel's limits; a half each is left to others. */
const limit = (name: string, usual: number): number => {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, "utf8")) / 2;
  } catch {
    return usual;
  }
};
const burst = Math.min(IN_ONE_GO, limit("max_queued_events", IN_ONE_GO));
const mostWatches = limit("max_user_watches", 8_192);

/** All watches of the process, because they share the queue. */
const all = new Set<DirectoryWatches>();
let inOneGo = 0;

function countEvent(): void {
  if (inOneGo++ > 0) return;
  setImmediate(() => {
    if (inOneGo > burst) for (const watches of all) watches.overflowed = true;
    inOneGo = 0;
  });
}

export class DirectoryWatches {
  /** Events may be missing: look at everything. */
  overflowed = false;
  /** Why there are no watches (any more); null: they work. */
  failure: string | null = null;
  readonly #root: string;
  readonly #cookies: string | null;
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #cookieWatcher: FSWatcher | null = null;
  /** Path → whether an entry of this name came or went. */
  #dirty = new Map<string, boolean>();
  #waiting = new Map<string, () => void>();
  #cookie = 0;

  /** `cookies`: a folder of ours for cookies; null: `settle` is not used. `onChange` is called at every event. */
  constructor(root: string, cookies: string | null, onChange: () => void = () => {}) {
    this.#root = root;
    this.#cookies = cookies;
    this.#onChange = onChange;
    if (process.platform !== "linux") {
      this.failure = "Directories are watched on Linux only.";
      return;
    }
    all.add(this);
    if (cookies !== null) this.#watchCookies(cookies);
  }

  #watchCookies(cookies: string): void {
    rmSync(cookies, { recursive: true, force: true });
    mkdirSync(cookies, { recursive: true, mode: 0o700 });
    try {
      this.#cookieWatcher = watch(cookies, { persistent: false }, (_type, name) => {
        countEvent();
        this.#waiting.get(name ?? "")?.();
      });
      this.#cookieWatcher.on("error", () => this.#fail("The watch on our own folder failed."));
    } catch (error) {
      this.#fail(String(error));
    }
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Watches a directory, if it is not watched yet. */
  add(path: string): void {
    if (this.failure !== null || this.#watchers.has(path)) return;
    if (this.#watchers.size >= mostWatches) return this.#fail(`More than ${mostWatches} directories.`);
    try {
      const watcher = watch(
        toFs(path === "" ? this.#root : `${this.#root}/${path}`),
        { persistent: false, encoding: "latin1" },
        (type, name) => {
          countEvent();
          this.#onChange();
          if (name === null) this.overflowed = true;
          else this.#note(joinRaw(path, name), type === "rename");
        },
      );
      watcher.on("error", () => {
        this.overflowed = true;
      });
      this.#watchers.set(path, watcher);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      // The directory is gone again; its parent reports it.
      if (code !== "ENOENT" && code !== "ENOTDIR") this.#fail(`Directories cannot be watched: ${String(error)}`);
    }
  }

  /** Forgets a directory and all below it. */
  remove(path: string): void {
    for (const [at, watcher] of this.#watchers)
      if (isBelow(at, path)) {
        watcher.close();
        this.#watchers.delete(at);
      }
  }

  /** Resolves when all events up to now have arrived; false: some may be missing. */
  async settle(): Promise<boolean> {
    if (this.failure !== null || this.overflowed || this.#cookies === null) return false;
    const name = String(++this.#cookie);
    const path = join(this.#cookies, name);
    const arrived = new Promise<boolean>((resolve) => {
      // After a blocked loop the timer comes first although the event is there: one more round decides.
      const timer = setTimeout(() => setImmediate(() => setImmediate(() => resolve(false))), COOKIE_MS);
      this.#waiting.set(name, () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    try {
      writeFileSync(path, "");
      const came = await arrived;
      return came && !this.overflowed && inOneGo <= burst && this.failure === null;
    } catch {
      return false;
    } finally {
      this.#waiting.delete(name);
      try {
        unlinkSync(path);
      } catch {
        // The store is gone.
      }
    }
  }

  /** The paths since the last call. */
  takeDirty(): Map<string, boolean> {
    const dirty = this.#dirty;
    this.#dirty = new Map();
    return dirty;
  }

  /** Everything up to now is void: all will be looked at. What is still on its way, and the count of it, passes first. */
  async forget(): Promise<void> {
    await nextRound();
    await nextRound();
    this.#dirty.clear();
    this.overflowed = false;
  }

  /** Gives paths back that could not be looked at. */
  giveBack(dirty: Map<string, boolean>): void {
    for (const [path, renamed] of dirty) this.#note(path, renamed);
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#cookieWatcher?.close();
    this.#cookieWatcher = null;
    all.delete(this);
    for (const wake of this.#waiting.values()) wake();
    if (this.#cookies !== null) rmSync(this.#cookies, { recursive: true, force: true });
  }

  #note(path: string, renamed: boolean): void {
    if (renamed || !this.#dirty.has(path)) this.#dirty.set(path, renamed || this.#dirty.get(path) === true);
    if (this.#dirty.size > PATHS) {
      this.overflowed = true;
      this.#dirty.clear();
    }
  }

  #fail(reason: string): void {
    this.failure = reason;
    this.close();
  }
}
