// All threads of one process: which session each belongs to, and how sub-agent threads find their parents.
import type { ItemKey } from "../../../schema/draft.ts";
import { openSpawn } from "./subagents.ts";
import { Thread } from "./thread.ts";

export class Threads {
  readonly #threads = new Map<string, Thread>();
  /** Threads we started, resumed or forked, or that were announced as such: they are sessions of their own. */
  readonly #own = new Set<string>();
  /** Threads that were spoken of under their own id before it was known that they are somebody's children. */
  readonly #orphans = new Set<string>();
  #binds: string[] = [];

  all(): Iterable<Thread> {
    return this.#threads.values();
  }

  get(id: string): Thread {
    let thread = this.#threads.get(id);
    if (!thread) {
      thread = new Thread(id);
      this.#threads.set(id, thread);
    }
    return thread;
  }

  find(id: string | undefined): Thread | undefined {
    return id === undefined ? undefined : this.#threads.get(id);
  }

  own(id: string): Thread {
    this.#own.add(id);
    return this.get(id);
  }

  forget(id: string): void {
    this.#threads.delete(id);
    this.#own.delete(id);
  }

  /** The session a thread's messages are addressed to: its root's. */
  address(thread: Thread): string {
    const root = this.rootId(thread);
    if (root === thread.id && !this.#own.has(root)) this.#orphans.add(root);
    return root;
  }

  rootId(thread: Thread): string {
    let at = thread;
    for (let depth = 0; at.child !== null && depth < 32; depth++) at = this.get(at.child.parentThread);
    return at.id;
  }

  root(thread: Thread): Thread {
    return this.get(this.address(thread));
  }

  *descendants(root: Thread): Iterable<Thread> {
    for (const thread of this.#threads.values())
      if (thread !== root && thread.child !== null && this.address(thread) === root.id) yield thread;
  }

  link(childId: string, parent: Thread, spawnKey: ItemKey | null, guessed = false): void {
    const child = this.get(childId);
    if (child === parent || this.#own.has(childId)) return;
    if (child.child !== null) {
      if (spawnKey !== null && !guessed && (child.child.guessed || child.child.spawnKey === null))
        child.child = { parentThread: parent.id, spawnKey, guessed };
      return;
    }
    child.child = { parentThread: parent.id, spawnKey, guessed };
    child.openIds = parent.openIds;
    if (this.#orphans.delete(childId)) this.#binds.push(childId);
  }

  /**
   * A thread nobody announced. codex 0.166 names a child only when its spawn call ends; before that, the root of its turn or a spawn that is still
   * running shows whose it is. Of several that run it may be another one: the call that names the thread has the last word.
   */
  adopt(thread: Thread, rootTurnId?: string): void {
    if (thread.child !== null || this.#own.has(thread.id)) return;
    const parent =
      rootTurnId === undefined
        ? undefined
        : [...this.#threads.values()].find((other) => other !== thread && other.turn?.id === rootTurnId);
    const taken = new Set([...this.#threads.values()].map(({ child }) => child?.spawnKey ?? null));
    if (parent) return this.link(thread.id, parent, openSpawn(parent, taken)?.key ?? null, true);
    for (const other of this.#threads.values()) {
      const spawn = other === thread ? undefined : openSpawn(other, taken);
      if (spawn) return this.link(thread.id, other, spawn.key, true);
    }
  }

  /** Addresses that turned out to be others', once. */
  takeBind(): string | undefined {
    return this.#binds.shift();
  }
}
