/**
 * One history of a fleet: processes that crash, stop for a while and wake, are started a second time, or do not reach the database or each other; a database that crashes; drains and moves; clients
 * that send messages with keys and follow over any node. Every promise is checked when it can be, and in the end against what the database holds.
 */
import { Client, Sender } from "./test-clients.ts";
import { SimDatabase } from "./test-database.ts";
import { enterWorld } from "./test-globals.ts";
import type { BrokenRule } from "./test-rules.ts";
import { SimNode, TERM_MS } from "./test-sim-node.ts";
import { Story } from "./test-story.ts";
import { Violation, World } from "./test-world.ts";

const FAULTS_END_MS = 16_000;
/** No faults any more: whatever is open must come right by itself. */
const CALM_END_MS = 30_000;
/** An outage of the database alone, longer than a lease, and time after it. */
const OUTAGE_MS = TERM_MS * 1.5;
const END_MS = CALM_END_MS + OUTAGE_MS + TERM_MS * 3;

export type SimulationOptions = { seed: number; broken?: BrokenRule | null; trace?: (line: string) => void };
export type SimulationResult = Record<
  "events" | "takeovers" | "crashes" | "stops" | "twins" | "database" | "cuts" | "moves" | "drains" | "messages" | "seen",
  number
>;

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const world = new World(options.seed);
  const leave = enterWorld(world);
  try {
    const history = new History(world, options);
    await history.run();
    return history.check();
  } finally {
    leave();
  }
}

class History {
  readonly #world: World;
  readonly #database: SimDatabase;
  readonly #story: Story;
  readonly #context: ConstructorParameters<typeof SimNode>[0];
  /** Of each node the process that was started last, and those before that have not ended. */
  readonly #nodes = new Map<string, SimNode>();
  readonly #ghosts = new Set<SimNode>();
  readonly #clients: Client[] = [];
  readonly #sender: Sender;
  readonly #counts = { crashes: 0, stops: 0, twins: 0, database: 0, cuts: 0, moves: 0, drains: 0 };
  readonly #say: (line: string) => void;
  #processes = 0;

  constructor(world: World, { broken = null, trace }: SimulationOptions) {
    this.#world = world;
    this.#database = new SimDatabase(world, broken);
    const say = (line: string): void => trace?.(`${world.now.toFixed(0)} ${line}`);
    this.#say = say;
    this.#story = new Story(world, this.#database.tables, say);
    this.#context = {
      ...{ world, database: this.#database, broken, peers: () => this.#all() },
      started: ({ id }, directory) => this.#story.started(id, directory),
      prompted: (_, text) => this.#story.prompted(text),
      warn: ({ name }, message, fields) => say(`${name}: ${message} ${JSON.stringify(fields).slice(0, 200)}`),
    };
    this.#sender = new Sender(world, () => this.#up());
    const count = 2 + Math.floor(world.random() * 3);
    for (let no = 0; no < count; no++) this.#nodes.set(`n${no}`, this.#begin(`n${no}`, world.random() * 500));
  }

  async run(): Promise<void> {
    const world = this.#world;
    const sessions = 2 + Math.floor(world.random() * 3);
    for (let no = 0; no < sessions; no++) world.at(700 + world.random() * 2_000, null, () => void this.#create(`s${no}`, 0));
    world.at(3_000, null, () => this.#chaos());
    world.at(3_000, null, () => this.#message(0));
    await world.run(CALM_END_MS);
    const before = this.#owners();
    world.crashDatabase(OUTAGE_MS);
    await world.run(END_MS);
    const after = this.#owners();
    for (const [id, owner] of before)
      if (after.get(id) !== owner)
        throw new Violation(`an outage of the database alone moved ${id} from ${owner} to ${after.get(id)}`);
  }

  #all(): SimNode[] {
    return [...this.#nodes.values(), ...this.#ghosts];
  }

  #up(): SimNode[] {
    return this.#all().filter(({ joined }) => joined);
  }

  #begin(id: string, ms: number): SimNode {
    const world = this.#world;
    const node = new SimNode(this.#context, id, this.#processes++);
    world.at(ms, node, () =>
      node.start().catch(() => {
        node.kill();
        if (this.#nodes.get(id) === node) world.at(300, null, () => void this.#nodes.set(id, this.#begin(id, 0)));
      }),
    );
    return node;
  }

  /** Tried again under another id where nobody can say whether it is there. */
  async #create(id: string, tries: number): Promise<void> {
    const world = this.#world;
    const node = this.#any(this.#up());
    try {
      if (!node) throw new Error("nobody is up");
      const directory = world.random() < 0.8 ? `/shared/${id}` : `/only/${node.id}/${id}`;
      await world.hop(null, node, () => node.create(id, directory));
      this.#clients.push(new Client(world, this.#database.tables, () => this.#up(), id));
    } catch {
      if (tries < 20) world.at(300, null, () => void this.#create(`${id}.${tries}`, tries + 1));
    }
  }

  #chaos(): void {
    const world = this.#world;
    const { random } = world;
    const node = this.#any(this.#up());
    if (world.now > FAULTS_END_MS) {
      world.calm = true;
      return;
    }
    world.at(150 + random() * 1_500, null, () => this.#chaos());
    if (!node) return;
    const dice = random();
    this.#say(`${node.name}: fault ${dice.toFixed(2)}`);
    if (dice < 0.2) this.#crash(node);
    else if (dice < 0.45) this.#stop(node);
    else if (dice < 0.52) this.#twin(node);
    else if (dice < 0.6) {
      this.#counts.database++;
      world.crashDatabase(100 + random() * 3_000);
    } else if (dice < 0.7) {
      this.#counts.cuts++;
      node.cutUntil = Math.min(FAULTS_END_MS, world.now + random() * 5_000);
    } else if (dice < 0.77) {
      this.#counts.cuts++;
      world.cut = { between: [node, this.#any(this.#up()) ?? node], until: world.now + random() * 5_000 };
    } else if (dice < 0.92) this.#move(node);
    else this.#drain(node);
  }

  #crash(node: SimNode): void {
    this.#counts.crashes++;
    node.kill();
    this.#ghosts.delete(node);
    if (this.#nodes.get(node.id) === node) this.#nodes.set(node.id, this.#begin(node.id, 200 + this.#world.random() * 4_000));
  }

  #stop(node: SimNode): void {
    this.#counts.stops++;
    node.stoppedUntil = this.#world.now + this.#world.random() * 6_000;
  }

  /** Its machine is taken to be dead, and the node is started elsewhere; then it wakes. */
  #twin(node: SimNode): void {
    if (this.#nodes.get(node.id) !== node) return;
    this.#counts.twins++;
    node.stoppedUntil = this.#world.now + 500 + this.#world.random() * 5_000;
    this.#ghosts.add(node);
    this.#nodes.set(node.id, this.#begin(node.id, this.#world.random() * 1_000));
  }

  #move(node: SimNode): void {
    const id = this.#any(this.#clients.map((each) => each.id).filter((each) => node.owns(each)));
    const to = this.#any([...this.#nodes.keys()]);
    if (id === undefined || to === undefined) return;
    this.#counts.moves++;
    this.#world.at(0, node, () => void node.move(id, to).catch(() => undefined));
  }

  #drain({ id }: SimNode): void {
    this.#counts.drains++;
    const mark = (state: string): void => void this.#database.now("UPDATE dragoman.nodes SET state = $2", [id, state]);
    mark("draining");
    this.#world.at(3_000, null, () => mark("up"));
  }

  #message(no: number): void {
    const world = this.#world;
    const id = this.#any(this.#clients)?.id;
    if (id !== undefined) this.#sender.send(id, `message-${no}.`);
    if (world.now < FAULTS_END_MS) world.at(world.random() * 1_500, null, () => this.#message(no + 1));
  }

  #any<T>(of: readonly T[]): T | undefined {
    return of[Math.floor(this.#world.random() * of.length)];
  }

  #owners(): Map<string, string> {
    const { owners } = this.#database.tables;
    return new Map([...owners.values()].map((owner) => [owner.session_id, `${owner.node_id} (epoch ${owner.epoch})`]));
  }

  check(): SimulationResult {
    const { tables } = this.#database;
    for (const client of this.#clients) client.check();
    this.#checkOwners();
    this.#story.check(this.#sender.accepted);
    const takeovers = this.#story.moves;
    const events = [...tables.lines.values()].reduce((sum, lines) => sum + lines.length, 0);
    const seen = this.#clients.reduce((sum, client) => sum + client.seen, 0);
    return { ...this.#counts, events, takeovers, seen, messages: this.#sender.accepted.size };
  }

  /** In the end every session has one living owner, who knows it, and nobody else believes to be it. */
  #checkOwners(): void {
    const { owners, nodes } = this.#database.tables;
    for (const { node_id, state } of nodes.values())
      if (state !== "up") throw new Violation(`${node_id} is ${state} when all is calm`);
    for (const { id } of this.#clients) {
      const owner = owners.get(id);
      const node = this.#nodes.get(owner?.node_id ?? "");
      if (!node?.owns(id)) throw new Violation(`${owner?.node_id} owns ${id} and does not know it`);
      const holders = this.#all().filter((each) => each.owns(id));
      if (holders.length !== 1)
        throw new Violation(`${id} is held by ${holders.map(({ name }) => name).join(" and ")} when all is calm`);
    }
  }
}
