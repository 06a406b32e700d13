/**
 * One history of a fleet: nodes that crash, stop for a while and wake, a database that crashes, drains and moves, clients that send messages with keys and follow over random nodes.
 * Afterwards every promise of the protocol is checked against what the database holds.
 */
import { MemoryRegistry } from "../memory-registry.ts";
import { placeSession } from "../placement.ts";
import { type Follower, SimNode } from "./test-sim-node.ts";
import { type BrokenRule, type Line, Store } from "./test-store.ts";
import { Violation, World } from "./test-world.ts";

const END_MS = 60_000;
/** No faults any more: whatever is open must come right by itself. */
const CALM_MS = 20_000;
const POLL_MS = 250;

export type SimulationOptions = { seed: number; broken?: BrokenRule | null };
export type SimulationResult = Record<
  "events" | "takeovers" | "crashes" | "stops" | "database" | "moves" | "drains" | "messages",
  number
>;

export async function simulate({ seed, broken = null }: SimulationOptions): Promise<SimulationResult> {
  const history = new History(seed, broken);
  await history.run();
  return history.check();
}

class History {
  readonly #world: World;
  readonly #store: Store;
  readonly #registry: MemoryRegistry;
  readonly #nodes: SimNode[];
  readonly #clients: Client[] = [];
  readonly #acknowledged: { id: string; first: number; texts: readonly string[] }[] = [];
  readonly #prompts = new Map<string, number>();
  readonly #accepted = new Map<string, string>();
  /** Where messages come from: the owner alone, as in the daemon, or the store. */
  readonly #byStore: boolean;
  readonly #counts = { crashes: 0, stops: 0, database: 0, moves: 0, drains: 0, messages: 0 };

  constructor(seed: number, broken: BrokenRule | null) {
    const world = new World(seed);
    this.#world = world;
    this.#store = new Store(broken);
    this.#registry = new MemoryRegistry(
      () => world.now,
      (id, epoch) => this.#store.fence(id, epoch),
    );
    const checker = {
      acknowledged: (id: string, first: number, texts: readonly string[]) => void this.#acknowledged.push({ id, first, texts }),
      prompted: (message: string) => this.#prompted(message),
    };
    const context = { world, store: this.#store, registry: this.#registry, checker, broken };
    const count = 2 + Math.floor(world.random() * 4);
    this.#byStore = broken === "count" || (broken === null && world.random() < 0.3);
    this.#nodes = Array.from({ length: count }, (_, index) => {
      const node_id = `n${index}`;
      const named = { node_id, url: `http://${node_id}`, writer: node_id, kind: "node" as const, version: "1" };
      return new SimNode(context, { ...named, labels: {}, places: ["shared"], agents: ["mock"], capacity: 100 });
    });
    for (const node of this.#nodes) node.meet(this.#nodes);
  }

  async run(): Promise<void> {
    const world = this.#world;
    for (const node of this.#nodes) world.at(world.random() * 500, null, () => node.start());
    const sessions = 4 + Math.floor(world.random() * 8);
    for (let no = 0; no < sessions; no++) world.at(600 + world.random() * 2_000, null, () => void this.#create(`s${no}`, 0));
    world.at(3_000, null, () => this.#chaos());
    world.at(3_000, null, () => this.#message(0));
    await world.run(END_MS);
  }

  /** Placed by the real rule. Tried again under another id where nobody can say whether it is there. */
  async #create(id: string, tries: number): Promise<void> {
    const world = this.#world;
    const place = world.random() < 0.8 ? "shared" : null;
    const choice = placeSession(await this.#registry.nodes(), { agent: "mock", place: null }, world.random);
    const node = "node" in choice ? this.#nodes.find(({ id: each }) => each === choice.node.node_id) : undefined;
    try {
      if (!node?.alive) throw new Error("nobody takes it");
      await world.hop(null, node, () => node.create(id, place));
      this.#clients.push(new Client(this.#world, this.#store, this.#nodes, id));
    } catch {
      if (tries < 20) world.at(300, null, () => void this.#create(`${id}.${tries}`, tries + 1));
    }
  }

  #prompted(message: string): void {
    const times = (this.#prompts.get(message) ?? 0) + 1;
    this.#prompts.set(message, times);
    if (times > 1) this.#world.fail(new Violation(`message ${message} was given to an agent twice`));
  }

  #chaos(): void {
    const world = this.#world;
    const { random } = world;
    const node = this.#any(this.#nodes);
    const dice = random();
    if (dice < 0.25) {
      this.#counts.crashes++;
      node.crash(200 + random() * 6_000);
    } else if (dice < 0.6) {
      this.#counts.stops++;
      node.stoppedUntil = world.now + random() * 8_000;
    } else if (dice < 0.7) {
      this.#counts.database++;
      world.crashDatabase(100 + random() * 3_000);
    } else if (dice < 0.85) {
      this.#counts.moves++;
      const id = this.#any(node.fleet?.owned() ?? []);
      if (id !== undefined) void node.move(id, this.#any(this.#nodes).id).catch(() => undefined);
    } else if (dice < 0.9) {
      this.#counts.drains++;
      void this.#registry.mark(node.id, "draining");
      world.at(3_000, null, () => void this.#registry.mark(node.id, "up"));
    }
    if (world.now < END_MS - CALM_MS) world.at(300 + random() * 4_000, null, () => this.#chaos());
  }

  /** With a key: tried again over any node until somebody accepts it. */
  #message(no: number): void {
    const world = this.#world;
    const message = `m${no}`;
    const id = this.#clients.length === 0 ? undefined : this.#any(this.#clients).id;
    const send = async (): Promise<void> => {
      if (id === undefined) return;
      const node = this.#any(this.#nodes);
      try {
        if (this.#byStore) await this.#enqueue(id, message);
        else await world.hop(null, node, () => node.send(id, message));
        this.#accepted.set(message, id);
      } catch {
        world.at(100 + world.random() * 400, null, () => void send());
      }
    };
    this.#counts.messages++;
    void send();
    if (world.now < END_MS - CALM_MS) world.at(world.random() * 2_000, null, () => this.#message(no + 1));
  }

  async #enqueue(id: string, message: string): Promise<void> {
    const world = this.#world;
    await world.ask(null, () => this.#store.enqueue(id, message));
    for (const node of this.#nodes) if (node.alive) world.at(world.random() * 400, node, () => node.notice(id, message));
    // What nobody was informed of is found by whoever takes the session next; here nobody waits for that.
    world.at(END_MS - 8_000 - world.now, null, () => this.#nodes.forEach((node) => void this.#remind(node, id)));
  }

  #remind(node: SimNode, id: string): void {
    for (const message of this.#store.queued(id)) node.notice(id, message);
  }

  #any<T>(of: readonly T[]): T {
    return of[Math.floor(this.#world.random() * of.length)] as T;
  }

  async check(): Promise<SimulationResult> {
    const { streams } = this.#store;
    for (const { id, first, texts } of this.#acknowledged)
      texts.forEach((text, index) => {
        if (streams.get(id)?.lines[first - 1 + index]?.text !== text)
          throw new Violation(`acknowledged event ${id}:${first + index} is lost or changed`);
      });
    for (const [id, { lines }] of streams) checkLines(id, lines);
    for (const client of this.#clients) client.check(streams.get(client.id)?.lines ?? []);
    await this.#checkOwners();
    for (const [message, id] of this.#accepted) {
      const stream = streams.get(id);
      const begun = stream?.lines.filter(({ text }) => text === `turn ${message}`).length ?? 0;
      const waits = stream?.queue.includes(message) ?? false;
      if (begun + Number(waits) !== 1)
        throw new Violation(`message ${message} of ${id} waits: ${waits}, and began ${begun} times`);
      if (waits) throw new Violation(`message ${message} of ${id} still waits when all is calm`);
    }
    const takeovers = [...streams.values()].reduce((sum, { epoch }) => sum + epoch - 1, 0);
    const events = [...streams.values()].reduce((sum, { lines }) => sum + lines.length, 0);
    return { ...this.#counts, events, takeovers };
  }

  /** In the end every session has one living owner, who knows it. */
  async #checkOwners(): Promise<void> {
    const ids = this.#clients.map(({ id }) => id);
    for (const { session_id, owner, owned, epoch } of await this.#registry.find(ids)) {
      const node = this.#nodes.find(({ id }) => id === owner?.node_id);
      if (!owned || !node?.alive) throw new Violation(`session ${session_id} has no living owner in the end`);
      if (node.holds(session_id) !== epoch)
        throw new Violation(`${node.id} owns ${session_id} under ${epoch} and holds ${node.holds(session_id)}`);
      const holders = this.#nodes.filter((each) => each.holds(session_id) !== undefined);
      if (holders.length !== 1)
        throw new Violation(`${session_id} is held by ${holders.map(({ id }) => id).join(" and ")} when all is calm`);
    }
    const rows = await this.#registry.nodes();
    for (const { node_id, state } of rows) if (state !== "up") throw new Violation(`${node_id} is ${state} when all is calm`);
  }
}

function checkLines(id: string, lines: readonly Line[]): void {
  let epoch = 0;
  lines.forEach((line, index) => {
    if (line.sequence !== index + 1) throw new Violation(`gap in ${id} at ${index + 1}`);
    if (line.epoch < epoch) throw new Violation(`epochs go back in ${id} at ${index + 1}`);
    epoch = line.epoch;
  });
}

/** Follows one session over random nodes: reads the log, takes what its node sends it live, and must see 1, 2, 3 … once, as the log has it in the end. */
class Client implements Follower {
  readonly id: string;
  readonly #world: World;
  readonly #store: Store;
  readonly #nodes: readonly SimNode[];
  readonly #seen: string[] = [];

  constructor(world: World, store: Store, nodes: readonly SimNode[], id: string) {
    this.id = id;
    this.#world = world;
    this.#store = store;
    this.#nodes = nodes;
    this.#follow();
  }

  take(lines: readonly Pick<Line, "sequence" | "text">[]): void {
    for (const { sequence, text } of lines) if (sequence === this.#seen.length + 1) this.#seen.push(text);
  }

  look(): void {
    const after = this.#seen.length;
    this.#world
      .ask(null, () => this.#store.read(this.id, after, 50))
      .then((lines) => this.take(lines))
      .catch(() => undefined);
  }

  check(lines: readonly Line[]): void {
    this.#seen.forEach((text, index) => {
      if (lines[index]?.text !== text) throw new Violation(`a client saw ${this.id}:${index + 1}, which is not in the log`);
    });
    if (this.#seen.length < lines.length - 60)
      throw new Violation(`a client is stuck at ${this.id}:${this.#seen.length} of ${lines.length}`);
  }

  #follow(): void {
    const { random } = this.#world;
    for (const node of this.#nodes) node.followers.delete(this);
    const node = this.#nodes[Math.floor(random() * this.#nodes.length)];
    if (node?.alive) node.followers.add(this);
    this.look();
    this.#world.at(POLL_MS + random() * 150, null, () => this.#follow());
  }
}
