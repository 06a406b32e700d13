/**
 * One process of a node in the simulation: the daemon's own member of a cluster, its log on Postgres, its session manager and its tail, on a virtual clock, network and database. What is left out is
 * HTTP, the disk, and real agents.
 */
import type { AgentHost, Translator } from "../../agents/contract.ts";
import { ClusterMember } from "../../daemon/cluster.ts";
import type { Log, StreamWriter } from "../../log/contract.ts";
import type { Session } from "../../schema/session.ts";
import { Idempotency } from "../../server/idempotency.ts";
import { countingIds, isoClock } from "../../session/ids.ts";
import { SessionManager } from "../../session/session-manager.ts";
import type { Fleet } from "../fleet.ts";
import type { SimDatabase } from "./test-database.ts";
import { networkOf, type Peer } from "./test-network.ts";
import type { BrokenRule } from "./test-rules.ts";
import { simAgent } from "./test-sim-agent.ts";
import type { World } from "./test-world.ts";

export const TERM_MS = 2_000;

export type SimContext = {
  world: World;
  database: SimDatabase;
  broken: BrokenRule | null;
  peers(): readonly SimNode[];
  started(node: SimNode, directory: string): void;
  prompted(node: SimNode, text: string): void;
  warn(node: SimNode, message: string, fields: unknown): void;
};

export class SimNode implements Peer {
  life = 1;
  stoppedUntil = 0;
  cutUntil = 0;
  alive = true;
  readonly skew: number;
  readonly id: string;
  /** Of this process: a node that starts again is another one. */
  readonly name: string;
  readonly url: string;
  log: Log | null = null;
  member: ClusterMember | null = null;
  #manager: SessionManager | null = null;
  #keys: Idempotency | null = null;
  readonly #context: SimContext;

  constructor(context: SimContext, id: string, ordinal: number) {
    this.#context = context;
    this.id = id;
    this.name = `${id}#${ordinal}`;
    this.url = `http://${id}-${ordinal}`;
    this.skew = (context.world.random() - 0.5) * 60_000;
  }

  get fleet(): Fleet | null {
    return this.member?.fleet ?? null;
  }

  /** It is up and has joined. */
  get joined(): boolean {
    return this.alive && this.#manager !== null;
  }

  /** Its memory is gone, and so is all it waited for. */
  kill(): void {
    this.life++;
    this.alive = false;
    this.#manager = null;
  }

  owns(id: string): boolean {
    return this.alive && this.member?.owns(id) === true;
  }

  async start(): Promise<void> {
    const { world, database, broken, peers } = this.#context;
    const member = await ClusterMember.open(
      {
        ...{ url: "", kind: "node" as const, nodeId: this.id, labels: {}, places: [{ path: "/shared", name: "shared" }] },
        ...{ secret: "a secret of the simulation, for it alone", leaseMs: TERM_MS, advertiseUrl: this.url },
        outside: { connect: database.connectOf(this), peers: networkOf(world, this, peers) },
      },
      {
        agents: () => ["mock"],
        goesOn: () => true,
        capacity: 100,
        log: (_, message, fields) => this.#context.warn(this, message, fields),
        onLogError: () => undefined,
      },
    );
    this.member = member;
    this.log = broken === "O7 start" ? hasty(member.log) : member.log;
    const manager = this.#sessions(this.log);
    const careless = { handOver: async () => undefined };
    member.attach(broken === "O10 turn" ? replaced(manager, careless) : manager, async () => undefined);
    await member.start(this.url);
    this.#manager = manager;
  }

  create(session_id: string, directory: string): Promise<Session> {
    return this.#up().create({ session_id, agent: "mock", directory });
  }

  /** A client's message, by whatever node it came to: one hop to the owner. */
  async send(id: string, text: string, hops = 0): Promise<void> {
    const { world, peers } = this.#context;
    const route = await this.fleet?.route(id);
    if (route?.at === "here") {
      return this.#accept(id, text);
    }
    const to = route?.at === "node" && hops === 0 ? peers().find(({ url }) => url === route.node.url) : undefined;
    if (!to) throw new Error(`${id} is nowhere`);
    return world.hop(this, to, () => to.send(id, text, 1));
  }

  async move(id: string, to: string): Promise<void> {
    await this.fleet?.move(id, { node: to }, "turn_end");
  }

  /** As the route does it: under a key, which is the text. */
  async #accept(id: string, text: string): Promise<void> {
    const manager = this.#up();
    this.#keys ??= new Idempotency(this.log as Log);
    const keys = this.#keys;
    const began = await keys.begin(text, text, { resumable: true });
    if (began !== null && began !== "again") return;
    let status = 503;
    try {
      const session = await manager.get(id);
      await session.send(text, [], "queue", undefined, { key: { id: text, again: began === "again" } });
      status = 202;
    } finally {
      await keys.keep(text, { request: text, status, type: "", body: "" });
    }
  }

  #up(): SessionManager {
    if (!this.#manager) throw new Error(`${this.name} is not up`);
    return this.#manager;
  }

  #sessions(log: Log): SessionManager {
    const { world, started, prompted, warn } = this.#context;
    const agent = simAgent(world.random, {
      started: (directory) => started(this, directory),
      prompted: (text) => prompted(this, text),
    });
    const now = (): number => Date.now();
    const manager: SessionManager = new SessionManager({
      ...{ log, now, ids: countingIds(`${this.name}.`), clock: isoClock(now), defaultDirectory: "/shared" },
      agent: () => ({ agent, host }),
      inspect: async () => ({ installed: true, path: "mock", version: "1", signed_in: null, advice: null }),
      directories: { isTrusted: () => true, rootOf: (directory) => directory, add: () => undefined },
      times: { idle_ms: 4_000, stall_ms: 60_000, interrupt_ms: 1_000 },
      limits: { sessions: 100, queued: 100 },
      agentEnvironment: () => ({}),
      warn: (message, fields) => warn(this, message, fields),
      whereabouts: (id) => this.member?.whereabouts(id) ?? {},
      isUsed: (id) => !this.owns(id),
      searchReady: () => true,
    });
    const host = {
      openChannel: (translator: Translator) => manager.openChannel(translator),
      log: (_: string, message: string, fields?: unknown) => warn(this, message, fields),
    } as unknown as AgentHost;
    return manager;
  }
}

/** Some methods of an object, replaced. */
function replaced<T extends object>(object: T, methods: Partial<T>): T {
  return new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A log whose writers do not wait where a delivery does. */
function hasty(log: Log): Log {
  const writer = (given: StreamWriter): StreamWriter =>
    replaced(given, { committed: async (options) => (options?.bounded === false ? undefined : given.committed(options)) });
  return replaced(log, {
    create: async (...given) => writer(await log.create(...given)),
    writer: async (...given) => {
      const taken = await log.writer(...given);
      return taken && writer(taken);
    },
  });
}
