/**
 * A node among others, as the server needs it: where a session is, which node gets a new one, how a request goes to another node and how one of theirs is known. It joins what each by itself knows nothing of: the protocol
 * (`FleetNode`), the registry, the signature and the hop.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex, Writable } from "node:stream";
import type { PostgresLog } from "../log/postgres/log.ts";
import type { Node, NodeChange } from "../schema/node.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { CreateSession, Session, SessionWhereabouts } from "../schema/session.ts";
import { FleetLive, FOLLOW, LIVE } from "./fleet-live.ts";
import type { FleetClock, FleetNode } from "./fleet-node.ts";
import type { Forwarded } from "./forward.ts";
import type { FollowRequest } from "./live-sender.ts";
import { NodeCalls, type PeerNode, type Sent, type Transport } from "./node-calls.ts";
import { NodeWatch } from "./node-watch.ts";
import { hasLabels, isLiving, placeSession, takesNew, unclaimable } from "./placement.ts";
import type { Places } from "./places.ts";
import type { NodeProfile, NodeRow, Ownership, Registry } from "./registry.ts";
import type { NodeSecret } from "./signature.ts";

type Route =
  | { at: "here" }
  | { at: "node"; node: PeerNode }
  | { at: "nowhere"; why: "takeover" | "directory" | "agent"; home: string }
  | { at: "unknown" };

/** What a node does with its own sessions. */
export type OwnSessions = {
  views(ids: readonly string[]): Promise<Session[]>;
  handOver(id: string, when: "turn_end" | "now"): Promise<void>;
};

export type FleetOptions = {
  node: FleetNode;
  registry: Registry;
  profile: NodeProfile;
  places: Places;
  secret: NodeSecret;
  now(): number;
  random(): number;
  clock: FleetClock;
  sessions(): OwnSessions;
  log: Pick<PostgresLog, "live" | "receive">;
  ca?: string;
  peers?: Transport | undefined;
};

/** Nodes that a filter means: one by its name, those with all these labels. */
export type NodeWish = { node?: string; labels?: Readonly<Record<string, string>> };

const isWished = ({ node_id, labels }: NodeRow, wish: NodeWish): boolean =>
  (wish.node === undefined || wish.node === node_id) && hasLabels(labels, wish.labels);

/** Nodes and owners are looked up once in this time. */
const FRESH_MS = 500;

export class Fleet {
  readonly #options: FleetOptions;
  readonly #calls: NodeCalls;
  readonly #watch: NodeWatch;
  readonly #live: FleetLive;
  #nodes: { at: number; rows: Promise<NodeRow[]> } | null = null;

  constructor(options: FleetOptions) {
    const { node, clock, log } = options;
    this.#options = options;
    this.#calls = new NodeCalls({ ...options, nodeId: options.profile.node_id, rows: () => this.#rows() });
    this.#live = new FleetLive({
      ...{ live: log.live, clock },
      owns: (id) => node.epochOf(id) !== undefined,
      receive: (chunk) => log.receive(chunk),
      owners: (ids) => this.#owners(ids),
      ask: (to, name, body) => this.#calls.ask(to, name, body),
      stream: (from, name) => this.#calls.stream(from, name),
    });
    this.#watch = new NodeWatch({ nodes: () => this.nodes(), clock: options.clock, now: options.now });
  }

  get nodeId(): string {
    return this.#options.profile.node_id;
  }

  get kind(): "node" | "gateway" {
    return this.#options.profile.kind;
  }

  close(): void {
    this.#watch.close();
    this.#live.close();
    this.#calls.close();
  }

  async route(sessionId: string): Promise<Route> {
    const { node, registry } = this.#options;
    if (node.epochOf(sessionId) !== undefined) return { at: "here" };
    const [found] = await registry.find([sessionId]);
    if (!found) return { at: "unknown" };
    const rows = await this.#rows();
    if (!found.owned) return { at: "nowhere", why: unclaimable(found, rows) ?? "takeover", home: found.home };
    // It is ours by the registry, but we have not heard of it yet: the answer to a claim is on its way.
    if (found.owner?.node_id === this.nodeId) return { at: "nowhere", why: "takeover", home: found.home };
    const owner = rows.find(({ node_id }) => node_id === found.owner?.node_id) ?? (await this.#row(found.owner?.node_id ?? ""));
    return owner
      ? { at: "node", node: { node_id: owner.node_id, url: owner.url } }
      : { at: "nowhere", why: "takeover", home: found.home };
  }

  async routeTask(taskId: string): Promise<Route> {
    const owner = await this.#options.registry.taskOwner(taskId);
    if (owner === undefined) return { at: "unknown" };
    if (owner === this.nodeId) return { at: "here" };
    const row = await this.#row(owner);
    return row ? { at: "node", node: { node_id: row.node_id, url: row.url } } : { at: "unknown" };
  }

  async place(
    request: Pick<CreateSession, "agent" | "directory" | "node" | "labels">,
    tried: readonly string[],
  ): Promise<PeerNode | null> {
    const { places, random } = this.#options;
    const { agent, directory, node, labels } = request;
    const place = directory === undefined ? null : places.of(directory);
    const free = node === undefined && labels === undefined;
    // A directory that nobody shares is where the caller sees it: here.
    if (this.kind === "node" && free && place === null) return null;
    const wish = { agent, place, ...(node === undefined ? {} : { node }), ...(labels === undefined ? {} : { labels }) };
    let chosen = placeSession(await this.#rows(), wish, random, tried);
    // A node may have joined since the list was read.
    if ("refused" in chosen) chosen = placeSession(await this.#rowsOfNow(), wish, random, tried);
    if ("refused" in chosen) throw new ProblemError(chosen.refused);
    return chosen.node.node_id === this.nodeId ? null : { node_id: chosen.node.node_id, url: chosen.node.url };
  }

  async anyNode(): Promise<PeerNode> {
    const node = (await this.#rows()).find(takesNew);
    if (!node) throw new ProblemError("no_node");
    return { node_id: node.node_id, url: node.url };
  }

  forward(request: IncomingMessage, response: ServerResponse, sent: Sent): Promise<Forwarded> {
    return this.#calls.forward(request, response, sent);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, sent: Pick<Sent, "node" | "caller">): Promise<void> {
    return this.#calls.upgrade(request, socket, head, sent);
  }

  admit(request: IncomingMessage): { path: string; caller: string; bodyHash: string } | null {
    return this.#calls.admit(request);
  }

  async answer(name: string, body: string): Promise<unknown> {
    if (name === "claim") {
      await this.#options.node.claimNow();
      return {};
    }
    if (name === FOLLOW) return this.#live.follow(JSON.parse(body) as FollowRequest);
    if (name !== "views") return undefined;
    const { ids = [] } = JSON.parse(body) as { ids?: string[] };
    return { sessions: await this.#options.sessions().views(ids) };
  }

  /** What another node gets for as long as it listens. False: there is no such stream. */
  stream(name: string, out: Writable): boolean {
    if (!name.startsWith(LIVE)) return false;
    this.#live.open(name.slice(LIVE.length), out);
    return true;
  }

  /** These sessions are another node's now. */
  lost(sessionIds: readonly string[]): void {
    this.#live.lost(sessionIds);
  }

  /** Of a session that is here. */
  whereabouts(sessionId: string, { agentId, directory }: { agentId: string; directory: string }): SessionWhereabouts {
    const { node, places } = this.#options;
    const epoch = node.epochOf(sessionId);
    if (epoch === undefined) return { node: null, reachable: false };
    return { node: this.nodeId, epoch, place: places.ofSession(agentId, directory), reachable: true, unclaimable: null };
  }

  async views(sessions: readonly Session[]): Promise<Session[]> {
    const owners = new Map(
      (await this.#options.registry.find(sessions.map(({ session_id }) => session_id))).map((row) => [row.session_id, row]),
    );
    const rows = await this.#rows();
    const byUrl = new Map<string, { node: NodeRow; ids: string[] }>();
    for (const { session_id, owner, owned } of owners.values()) {
      const node = owned && owner?.node_id !== this.nodeId ? rows.find(({ node_id }) => node_id === owner?.node_id) : undefined;
      if (!node) continue;
      const group = byUrl.get(node.url) ?? { node, ids: [] };
      group.ids.push(session_id);
      byUrl.set(node.url, group);
    }
    const asked = await Promise.all([...byUrl.values()].map(({ node, ids }) => this.#viewsOf(node, ids)));
    const told = new Map(asked.flat().map((view) => [view.session_id, view]));
    return sessions.map(
      (view) => told.get(view.session_id) ?? { ...view, ...whereaboutsOf(view, owners.get(view.session_id), rows) },
    );
  }

  async nodes(): Promise<Node[]> {
    return (await this.#options.registry.nodes()).map(({ left, writer: _, ...row }) => ({
      ...row,
      state: left ? "left" : row.state,
      labels: { ...row.labels },
      places: [...row.places],
      agents: [...row.agents],
      lease_ms: Math.round(row.lease_ms),
      self: row.node_id === this.nodeId,
    }));
  }

  async mark(nodeId: string, state: "up" | "draining" | "fenced"): Promise<void> {
    if (!(await this.#options.registry.mark(nodeId, state))) throw new ProblemError("node_not_found");
    this.#nodes = null;
    // Who watches hears of it now; it was done, whether the registry answers once more or not.
    await this.#watch.look().catch(() => undefined);
  }

  watch(listener: (changes: readonly NodeChange[]) => void): Promise<{ nodes: Node[]; stop(): void }> {
    return this.#watch.open(listener);
  }

  async sessionsOn(wish: NodeWish): Promise<Set<string>> {
    const nodes = (await this.#rows()).filter((row) => isWished(row, wish)).map(({ node_id }) => node_id);
    return new Set(nodes.length === 0 ? [] : await this.#options.registry.ownedBy(nodes));
  }

  async isOn(sessionId: string, wish: NodeWish): Promise<boolean> {
    const [found] = await this.#options.registry.find([sessionId]);
    const rows = found?.owned ? await this.#rows() : [];
    return rows.some((row) => row.node_id === found?.owner?.node_id && isWished(row, wish));
  }

  /** [O10] */
  async move(
    sessionId: string,
    to: { node?: string; labels?: Readonly<Record<string, string>> },
    when: "turn_end" | "now",
  ): Promise<void> {
    const { registry, random } = this.#options;
    const [found] = await registry.find([sessionId]);
    if (!found) throw new ProblemError("session_not_found");
    const rows = await registry.nodes();
    const reachable = rows.filter(
      (row) =>
        row.node_id !== this.nodeId && (row.node_id === found.home || (found.place !== null && row.places.includes(found.place))),
    );
    const chosen = placeSession(reachable, { agent: found.agent, place: null, ...to }, random);
    if ("refused" in chosen) throw new ProblemError(chosen.refused);
    await this.give(sessionId, chosen.node, when);
  }

  /** Its turn may take long: what is asked for is not waited for by who asked. */
  async give(sessionId: string, to: PeerNode, when: "turn_end" | "now"): Promise<void> {
    const { node, sessions } = this.#options;
    await sessions().handOver(sessionId, when);
    await node.release(sessionId, to.node_id);
    this.lost([sessionId]);
    // It claims by itself soon; informed, it claims now.
    await this.#calls.ask(to, "claim", "{}").catch(() => undefined);
  }

  metrics(): Record<string, number> {
    const { node } = this.#options;
    return {
      owned_sessions: node.owned().length,
      takeovers_total: node.counts.takeovers,
      fenced_total: node.counts.fenced,
      fencings_total: node.counts.fencings,
      lease_seconds: Math.round(node.leaseMs) / 1000,
      tail_peers: this.#live.peers,
      tail_sessions: this.#live.received.sessions,
      tail_chunks_total: this.#live.received.chunks,
    };
  }

  async #viewsOf(node: PeerNode, ids: readonly string[]): Promise<Session[]> {
    try {
      const { sessions } = JSON.parse(await this.#calls.ask(node, "views", JSON.stringify({ ids }))) as { sessions: Session[] };
      return sessions;
    } catch {
      return [];
    }
  }

  #rows(): Promise<NodeRow[]> {
    const now = this.#options.now();
    if (this.#nodes && now - this.#nodes.at < FRESH_MS) return this.#nodes.rows;
    const rows = this.#options.registry.nodes();
    this.#nodes = { at: now, rows };
    rows.catch(() => {
      this.#nodes = null;
    });
    return rows;
  }

  /** Of sessions that other nodes own. */
  async #owners(ids: readonly string[]): Promise<Map<string, PeerNode>> {
    const [found, rows] = await Promise.all([this.#options.registry.find(ids), this.#rows()]);
    const nodes = new Map(rows.filter(isLiving).map((row) => [row.node_id, { node_id: row.node_id, url: row.url }]));
    return new Map(
      found.flatMap(({ session_id, owner, owned }): [string, PeerNode][] => {
        const node = owned && owner?.node_id !== this.nodeId ? nodes.get(owner?.node_id ?? "") : undefined;
        return node ? [[session_id, node]] : [];
      }),
    );
  }

  #rowsOfNow(): Promise<NodeRow[]> {
    this.#nodes = null;
    return this.#rows();
  }

  async #row(nodeId: string): Promise<NodeRow | undefined> {
    return (await this.#rowsOfNow()).find(({ node_id }) => node_id === nodeId);
  }
}

function whereaboutsOf(_: Session, owner: Ownership | undefined, rows: readonly NodeRow[]): SessionWhereabouts {
  if (!owner) return {};
  const { epoch, place, owned } = owner;
  const node = owned ? (owner.owner?.node_id ?? null) : null;
  const reachable = owned && rows.some((row) => row.node_id === node && isLiving(row));
  const waits = reachable ? {} : { home: owner.home };
  return { node, epoch, place, reachable, unclaimable: unclaimable(owner, rows), ...waits };
}
