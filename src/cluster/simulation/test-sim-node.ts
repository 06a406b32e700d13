/**
 * A node of the simulation: the real `FleetNode` on a virtual clock and network, and a model of what a daemon does with the sessions it owns. It writes, starts turns, accepts
 * messages and informs followers, by the same rules as the daemon: nothing is shown, answered or given to an agent before its commit was answered, and a lost answer is resolved by asking the log.
 */
import { FleetNode, type FleetTimes } from "../fleet-node.ts";
import type { Claim, NodeProfile, Registry } from "../registry.ts";
import type { BrokenRule, Commit, Line, Store } from "./test-store.ts";
import { type Process, Unknown, type World } from "./test-world.ts";

export const TIMES: FleetTimes = { term_ms: 2_000, renew_ms: 500, claim_ms: 500, claim_limit: 3, compare_rounds: 4 };

export type Checker = {
  acknowledged(id: string, first: number, texts: readonly string[]): void;
  prompted(message: string): void;
};

export type Follower = { id: string; take(lines: readonly Pick<Line, "sequence" | "text">[]): void; look(): void };

export type SimContext = { world: World; store: Store; registry: Registry; checker: Checker; broken: BrokenRule | null };

/** Not ours, or not any more. */
class NotOwner extends Error {}

class SimSession {
  readonly id: string;
  readonly epoch: number;
  last = 0;
  queue: string[] = [];
  keys = new Set<string>();
  closed = false;
  /** One commit at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(id: string, epoch: number) {
    this.id = id;
    this.epoch = epoch;
  }

  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(() => {
      if (this.closed) throw new NotOwner();
      return work();
    });
    this.#turn = next.catch(() => undefined);
    return next;
  }
}

export class SimNode implements Process {
  life = 0;
  stoppedUntil = 0;
  alive = false;
  fleet: FleetNode | null = null;
  readonly followers = new Set<Follower>();
  readonly profile: NodeProfile;
  readonly id: string;
  #sessions = new Map<string, SimSession>();
  readonly #context: SimContext;
  #peers: readonly SimNode[] = [];

  constructor(context: SimContext, profile: NodeProfile) {
    this.#context = context;
    this.profile = profile;
    this.id = profile.node_id;
  }

  meet(peers: readonly SimNode[]): void {
    this.#peers = peers;
  }

  holds(id: string): number | undefined {
    const session = this.#sessions.get(id);
    return session?.closed ? undefined : session?.epoch;
  }

  start(): void {
    const { world } = this.#context;
    this.life++;
    this.alive = true;
    this.#sessions = new Map();
    const fleet = new FleetNode({
      registry: this.#registry(),
      profile: this.profile,
      clock: {
        after: (ms, run) => {
          let cancelled = false;
          world.at(ms, this, () => void (cancelled || run()));
          return () => {
            cancelled = true;
          };
        },
      },
      duties: {
        taken: (claims) => claims.forEach((claim) => void this.#open(claim).catch(this.#ignore)),
        lost: (ids) => ids.forEach((id) => void this.#close(id)),
        load: () => this.#sessions.size,
      },
      times: TIMES,
    });
    this.fleet = fleet;
    fleet.start().catch(() => this.crash(200));
  }

  /** Its memory is gone, and so is all it waited for. */
  crash(ms: number): void {
    this.life++;
    this.alive = false;
    this.fleet?.halt();
    this.fleet = null;
    this.#sessions = new Map();
    this.followers.clear();
    this.#context.world.at(ms, null, () => this.start());
  }

  /** A new session. Rejects when it cannot be said whether there is one. */
  async create(id: string, place: string | null): Promise<void> {
    const { world, store } = this.#context;
    const epoch = await this.fleet?.own({ session_id: id, agent: "mock", place });
    if (epoch === undefined) throw new NotOwner();
    const made = await world.ask(this, () => store.create(id, epoch, this.#name));
    if (!made) throw new NotOwner();
    this.#keep(new SimSession(id, epoch));
  }

  /** [O10] As the owner does it: everything committed, then released. */
  async move(id: string, to: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session || session.closed) return;
    await session.exclusive(async () => {
      session.closed = true;
      await this.fleet?.release(id, to);
    });
    await this.#peers.find((peer) => peer.id === to)?.fleet?.claimNow();
  }

  /** A client's message, by whatever node it came to: one hop to the owner. */
  async send(id: string, message: string): Promise<void> {
    const { registry, world } = this.#context;
    const [found] = await world.ask(this, () => registry.find([id]));
    const owner = this.#peers.find((peer) => peer.id === found?.owner?.node_id);
    if (!owner || !found?.owned) throw new NotOwner();
    if (owner === this) return this.accept(id, message);
    return world.hop(this, owner, () => owner.accept(id, message));
  }

  async accept(id: string, message: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session || session.closed) throw new NotOwner();
    await session.exclusive(async () => {
      if (session.keys.has(message)) return;
      await this.#commit(session, [`queued ${message}`], { put: message });
      session.queue.push(message);
      session.keys.add(message);
    });
  }

  /** Somebody put a message into the queue of the store, and says so, perhaps late. */
  notice(id: string, message: string): void {
    const session = this.#sessions.get(id);
    if (session && !session.queue.includes(message)) session.queue.push(message);
  }

  /** There is something new in the log. */
  poke(id: string): void {
    for (const follower of this.followers) if (follower.id === id) follower.look();
  }

  get #name(): string {
    return `${this.id}/${this.life}`;
  }

  /** The database's side runs the real code of the registry; its answers come over the network. */
  #registry(): Registry {
    const { world, registry } = this.#context;
    const remote = <A extends unknown[], T>(call: (...given: A) => Promise<T>) => {
      return (...given: A): Promise<T> => world.ask(this, () => call.apply(registry, given));
    };
    return {
      join: remote(registry.join),
      renew: remote(registry.renew),
      leave: remote(registry.leave),
      fenceDead: remote(registry.fenceDead),
      claim: remote(registry.claim),
      own: remote(registry.own),
      release: remote(registry.release),
      forget: remote(registry.forget),
      owned: remote(registry.owned),
      ownedBy: remote(registry.ownedBy),
      taskOwner: remote(registry.taskOwner),
      find: remote(registry.find),
      nodes: remote(registry.nodes),
      forgetGone: remote(registry.forgetGone),
      mark: remote(registry.mark),
    };
  }

  /** Fence before you read: from its answer on nobody else writes, so what is read stays true. */
  async #open({ session_id: id, epoch }: Claim): Promise<void> {
    const { world, store } = this.#context;
    for (;;) {
      if (this.fleet?.epochOf(id) !== epoch || this.holds(id) === epoch) return;
      try {
        const taken = await world.ask(this, () => store.take(id, epoch, this.#name));
        if (taken === "absent") return;
        if (taken === undefined) return this.fleet?.refused(id);
        const session = new SimSession(id, epoch);
        Object.assign(session, taken);
        return this.#keep(session);
      } catch (error) {
        if (!(error instanceof Unknown)) throw error;
        await this.#sleep(100);
      }
    }
  }

  #keep(session: SimSession): void {
    if (this.fleet?.epochOf(session.id) !== session.epoch) return;
    this.#close(session.id);
    this.#sessions.set(session.id, session);
    void this.#work(session).catch(this.#ignore);
  }

  #close(id: string): void {
    const session = this.#sessions.get(id);
    if (session) session.closed = true;
    this.#sessions.delete(id);
  }

  async #work(session: SimSession): Promise<void> {
    const { world } = this.#context;
    while (!session.closed) {
      await session.exclusive(async () => {
        const [message] = session.queue;
        if (message === undefined) return this.#commit(session, this.#texts(), {});
        return this.#begin(session, message);
      });
      await this.#sleep(world.random() * 120);
    }
  }

  /** [O7] Its message leaves the queue in the commit in which its turn begins, and only then does the agent get it. */
  async #begin(session: SimSession, message: string): Promise<void> {
    const { checker, broken } = this.#context;
    if (broken === "prompt") checker.prompted(message);
    const began = await this.#commit(session, [`turn ${message}`], { remove: message });
    session.queue = session.queue.filter((each) => each !== message);
    if (began && broken !== "prompt") checker.prompted(message);
  }

  #texts(): string[] {
    const { random } = this.#context.world;
    return Array.from({ length: 1 + Math.floor(random() * 3) }, () => `said ${Math.floor(random() * 1e9)}`);
  }

  /** [O3, O4] False: the message was not queued any more. Throws when the stream is another's. */
  async #commit(session: SimSession, texts: readonly string[], queue: Pick<Commit, "put" | "remove">): Promise<boolean> {
    const { world, store, broken, checker } = this.#context;
    const { id, epoch } = session;
    const first = session.last + 1;
    const commit = { writer: this.#name, epoch, first, texts, ...queue };
    if (broken === "visible") this.#publish(id, first, texts);
    for (;;) {
      const answer = await world.ask(this, () => store.commit(id, commit)).catch(() => "unknown" as const);
      if (answer === "gone") return false;
      if (answer === "ok") break;
      const seen = await this.#look(session);
      if (seen.epoch !== epoch || (seen.last !== first - 1 && seen.last !== first - 1 + texts.length)) {
        this.fleet?.refused(id);
        throw new NotOwner();
      }
      if (seen.last >= first) break;
    }
    session.last += texts.length;
    checker.acknowledged(id, first, texts);
    if (broken !== "visible") this.#publish(id, first, texts);
    return true;
  }

  async #look(session: SimSession): Promise<{ epoch: number; last: number }> {
    const { world, store } = this.#context;
    for (;;) {
      try {
        return await world.ask(this, () => store.look(session.id));
      } catch {
        await this.#sleep(100);
      }
    }
  }

  /** Followers of this node get it from its memory, those of others look into the log when they are notified. */
  #publish(id: string, first: number, texts: readonly string[]): void {
    const { world } = this.#context;
    const lines = texts.map((text, index) => ({ sequence: first + index, text }));
    for (const follower of this.followers)
      if (follower.id === id) world.at(1 + world.random() * 20, null, () => follower.take(lines));
    for (const peer of this.#peers) if (peer !== this && peer.alive) world.at(1 + world.random() * 20, peer, () => peer.poke(id));
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#context.world.at(ms, this, resolve));
  }

  readonly #ignore = (error: unknown): void => {
    if (!(error instanceof NotOwner) && !(error instanceof Unknown)) this.#context.world.fail(error);
  };
}
