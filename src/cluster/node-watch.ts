/**
 * What changes among the nodes of a fleet, for whoever watches. The registry is looked at while somebody does, and compared with the last look: what happened between
 * two looks is reported by its result. No timer of its own.
 */
import type { Node, NodeChange } from "../schema/node.ts";
import type { FleetClock } from "./fleet-node.ts";

type Listener = (changes: readonly NodeChange[]) => void;

export type NodeWatchOptions = {
  nodes(): Promise<Node[]>;
  clock: FleetClock;
  now(): number;
  /** How often it is looked. */
  everyMs?: number;
};

const EVERY_MS = 1_000;

export class NodeWatch {
  readonly #options: NodeWatchOptions;
  readonly #listeners = new Set<Listener>();
  #known: Map<string, Node> | null = null;
  #cancel: (() => void) | null = null;
  #looking: Promise<void> | null = null;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
  }

  /** All nodes now, and every change from then on. `stop` ends it. Rejects when the registry does not answer. */
  async open(listener: Listener): Promise<{ nodes: Node[]; stop(): void }> {
    await this.look();
    if (!this.#known) throw new Error("the registry of the fleet does not answer");
    const nodes = [...this.#known.values()];
    this.#listeners.add(listener);
    this.#schedule();
    return { nodes, stop: () => this.#remove(listener) };
  }

  /** At once: something was just changed here. */
  async look(): Promise<void> {
    this.#looking ??= this.#compare().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  close(): void {
    this.#listeners.clear();
    this.#cancel?.();
    this.#cancel = null;
  }

  #remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.close();
  }

  #schedule(): void {
    if (this.#cancel || this.#listeners.size === 0) return;
    this.#cancel = this.#options.clock.after(this.#options.everyMs ?? EVERY_MS, () => {
      this.#cancel = null;
      // A registry that does not answer is looked at again: its nodes are informed when it does.
      void this.look()
        .catch(() => undefined)
        .finally(() => this.#schedule());
    });
  }

  async #compare(): Promise<void> {
    const rows = await this.#options.nodes();
    const before = this.#known;
    this.#known = new Map(rows.map((node) => [node.node_id, node]));
    if (!before || this.#listeners.size === 0) return;
    const at = new Date(this.#options.now()).toISOString();
    const changes = rows.flatMap((node) => changesOf(before.get(node.node_id), node).map((type) => ({ type, at, node })));
    for (const [id, node] of before) if (!this.#known.has(id)) changes.push({ type: "node.forgotten", at, node });
    if (changes.length > 0) for (const listener of [...this.#listeners]) listener(changes);
  }
}

/** What a node has become since the last look, in the order in which it happened. */
export function changesOf(before: Node | undefined, node: Node): NodeChange["type"][] {
  const changes: NodeChange["type"][] = [];
  const isNew = before === undefined || before.incarnation !== node.incarnation;
  if (isNew) changes.push("node.joined");
  const was = isNew ? "node.up" : conditionOf(before);
  const is = conditionOf(node);
  if (is !== was) changes.push(is);
  const moved = before && (before.load !== node.load || before.sessions !== node.sessions || before.capacity !== node.capacity);
  if (moved && changes.length === 0) changes.push("node.load");
  return changes;
}

function conditionOf({ state, lease_ms }: Node): NodeChange["type"] {
  if (state === "left" || state === "fenced") return `node.${state}`;
  return lease_ms < 0 ? "node.lease_lost" : `node.${state}`;
}
