/** Clients of the simulation: one follows a session over any node, one sends messages under keys until somebody accepts them. */
import type { Subscription } from "../../log/contract.ts";
import type { SimNode } from "./test-sim-node.ts";
import type { Tables } from "./test-tables.ts";
import { Violation, type World } from "./test-world.ts";

/** Must see 1, 2, 3 … once, and nothing that is not committed at that moment. */
export class Client {
  readonly id: string;
  readonly #world: World;
  readonly #tables: Tables;
  readonly #up: () => readonly SimNode[];
  #seen = 0;
  /** Which connection counts: what comes over an earlier one comes too late. */
  #connection = 0;

  constructor(world: World, tables: Tables, up: () => readonly SimNode[], id: string) {
    this.id = id;
    this.#world = world;
    this.#tables = tables;
    this.#up = up;
    this.#follow();
  }

  get seen(): number {
    return this.#seen;
  }

  check(): void {
    const written = this.#tables.lines.get(this.id)?.length ?? 0;
    if (this.#seen !== written) throw new Violation(`a client is stuck at ${this.id}:${this.#seen} of ${written}`);
  }

  #follow(): void {
    const world = this.#world;
    const connection = ++this.#connection;
    const nodes = this.#up();
    const node = nodes[Math.floor(world.random() * nodes.length)];
    let [subscription, over]: [Subscription | undefined, boolean] = [undefined, false];
    const end = (): void => {
      if (over) return;
      over = true;
      if (node) world.at(0, node, () => subscription?.close());
      world.at(50, null, () => this.#follow());
    };
    world.at(1_000 + world.random() * 3_000, null, end);
    if (!node) return;
    let arrival = 0;
    const take = (first: number, events: readonly string[]): void => {
      if (connection !== this.#connection) return;
      events.forEach((text, index) => void this.#take(first + index, text));
    };
    world
      .hop(null, node, async () => {
        const stream = await node.log?.stream("session", this.id);
        if (over) return;
        subscription = stream?.subscribe({
          after: this.#seen,
          onBatch: ({ first, events }) => {
            for (const [index, text] of events.entries()) this.#mustBeCommitted(first + index, text);
            arrival = Math.max(arrival, world.now + 1 + world.random() * 20);
            world.at(arrival - world.now, null, () => take(first, events));
            return true;
          },
          onEnd: () => world.at(0, null, end),
        });
      })
      .catch(() => world.at(0, null, end));
  }

  #mustBeCommitted(sequence: number, text: string): void {
    if (this.#tables.lines.get(this.id)?.[sequence - 1]?.text !== text)
      this.#world.fail(new Violation(`${this.id}:${sequence} is shown, and is not in the log`));
  }

  #take(sequence: number, text: string): void {
    if (sequence !== this.#seen + 1)
      return this.#world.fail(new Violation(`a client of ${this.id} saw ${sequence} after ${this.#seen}`));
    this.#mustBeCommitted(sequence, text);
    this.#seen++;
  }
}

export class Sender {
  /** Which session accepted each text. */
  readonly accepted = new Map<string, string>();
  readonly #world: World;
  readonly #up: () => readonly SimNode[];

  constructor(world: World, up: () => readonly SimNode[]) {
    this.#world = world;
    this.#up = up;
  }

  send(id: string, text: string): void {
    const world = this.#world;
    const retry = (): void => void world.at(100 + world.random() * 400, null, () => this.send(id, text));
    const nodes = this.#up();
    const node = nodes[Math.floor(world.random() * nodes.length)];
    if (!node) return retry();
    world.hop(null, node, () => node.send(id, text)).then(() => void this.accepted.set(text, id), retry);
  }
}
