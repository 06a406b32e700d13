/** A registry in memory: for the simulation and for tests. Its clock comes from outside, as the database's clock does for the nodes. */
import type {
  Claim,
  GoneTimes,
  JoinOptions,
  NodeProfile,
  NodeRef,
  NodeRow,
  NodeState,
  Ownership,
  Registry,
  SessionHome,
} from "./registry.ts";

type StoredNode = NodeProfile & {
  incarnation: number;
  state: NodeState;
  load: number;
  until: number;
  since: number;
  left: boolean;
  leftAt?: number;
};
type StoredSession = SessionHome & {
  home: string;
  owner: NodeRef | null;
  epoch: number;
  wanted: string | null;
  releasedBy: string | null;
};

export class MemoryRegistry implements Registry {
  readonly #now: () => number;
  readonly #onClaim: (sessionId: string, epoch: number) => void;
  readonly #nodes = new Map<string, StoredNode>();
  readonly #sessions = new Map<string, StoredSession>();
  #incarnations = 0;

  /** `onClaim`: done with the claim, as one: whoever wrote the session before is refused from then on. */
  constructor(now: () => number, onClaim: (sessionId: string, epoch: number) => void = () => {}) {
    this.#now = now;
    this.#onClaim = onClaim;
  }

  async join(profile: NodeProfile, { term_ms, before }: JoinOptions): Promise<NodeRef> {
    const { node_id } = profile;
    const incarnation = ++this.#incarnations;
    const now = this.#now();
    this.#nodes.set(node_id, { ...profile, incarnation, state: "up", load: 0, until: now + term_ms, since: now, left: false });
    for (const session of this.#sessions.values())
      if (before !== undefined && isSame(session.owner, { node_id, incarnation: before }))
        session.owner = { node_id, incarnation };
    return { node_id, incarnation };
  }

  async renew(me: NodeRef, { term_ms, load }: { term_ms: number; load: number }): Promise<NodeState> {
    const node = this.#living(me);
    if (!node) return "fenced";
    const now = this.#now();
    if (node.until < now) node.since = now;
    node.until = now + term_ms;
    node.load = load;
    return node.state;
  }

  async leave(me: NodeRef): Promise<void> {
    const node = this.#living(me);
    if (node) Object.assign(node, { state: "fenced", left: true, leftAt: this.#now() });
  }

  async fenceDead(me: NodeRef, { term_ms }: { term_ms: number }): Promise<string[]> {
    const now = this.#now();
    const node = this.#living(me);
    if (!node || node.until < now || now - node.since < term_ms) return [];
    const dead = [...this.#nodes.values()].filter(({ state, until }) => state !== "fenced" && until < now);
    for (const each of dead) each.state = "fenced";
    return dead.map(({ node_id }) => node_id);
  }

  async claim(me: NodeRef, { limit }: { limit: number }): Promise<Claim[]> {
    const node = this.#living(me);
    if (node?.state !== "up" || node.kind !== "node" || node.until < this.#now()) return [];
    const claims: Claim[] = [];
    for (const session of this.#sessions.values()) {
      if (claims.length >= limit) break;
      if (!this.#isFree(session) || !this.#fits(session, node)) continue;
      const from = session.owner?.node_id ?? session.releasedBy;
      const reason = from === me.node_id ? "restart" : session.owner === null ? "move" : "takeover";
      Object.assign(session, { owner: { ...me }, epoch: session.epoch + 1, wanted: null, releasedBy: null });
      this.#onClaim(session.session_id, session.epoch);
      claims.push({ session_id: session.session_id, epoch: session.epoch, from, reason });
    }
    return claims;
  }

  async own(me: NodeRef, session: SessionHome): Promise<number | undefined> {
    if (this.#sessions.has(session.session_id) || !this.#living(me)) return undefined;
    this.#sessions.set(session.session_id, {
      ...session,
      home: me.node_id,
      owner: { ...me },
      epoch: 1,
      wanted: null,
      releasedBy: null,
    });
    return 1;
  }

  async release(me: NodeRef, sessionId: string, { to }: { to?: string } = {}): Promise<boolean> {
    const session = this.#sessions.get(sessionId);
    if (!session || !isSame(session.owner, me)) return false;
    Object.assign(session, { owner: null, wanted: to ?? null, releasedBy: me.node_id });
    return true;
  }

  async forget(sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId);
  }

  async owned(me: NodeRef): Promise<{ session_id: string; epoch: number }[]> {
    const mine = [...this.#sessions.values()].filter(({ owner }) => isSame(owner, me));
    return mine.map(({ session_id, epoch }) => ({ session_id, epoch }));
  }

  async ownedBy(nodeIds: readonly string[]): Promise<string[]> {
    const theirs = [...this.#sessions.values()].filter(
      (each) => nodeIds.includes(each.owner?.node_id ?? "") && !this.#isFree(each),
    );
    return theirs.map(({ session_id }) => session_id);
  }

  /** Tasks are the log's. */
  async taskOwner(): Promise<undefined> {}

  async find(sessionIds: readonly string[]): Promise<Ownership[]> {
    return sessionIds.flatMap((id) => {
      const session = this.#sessions.get(id);
      if (!session) return [];
      const { wanted: _, releasedBy: __, ...known } = session;
      return [{ ...known, owned: !this.#isFree(session) }];
    });
  }

  async nodes(): Promise<NodeRow[]> {
    const rows = [...this.#nodes.values()].map(({ until, since: _, leftAt: __, ...node }) => {
      const sessions = [...this.#sessions.values()].filter(({ owner }) => isSame(owner, node)).length;
      return { ...node, sessions, lease_ms: until - this.#now() };
    });
    return rows.sort((a, b) => (a.node_id < b.node_id ? -1 : 1));
  }

  async forgetGone({ left_ms, dead_ms }: GoneTimes): Promise<string[]> {
    const now = this.#now();
    const gone = [...this.#nodes.values()].filter(({ node_id, kind, state, until, leftAt }) => {
      const since = leftAt === undefined ? until + (kind === "gateway" ? left_ms : dead_ms) : leftAt + left_ms;
      return state === "fenced" && since < now && ![...this.#sessions.values()].some((each) => waitsFor(each, node_id));
    });
    for (const { node_id } of gone) this.#nodes.delete(node_id);
    return gone.map(({ node_id }) => node_id);
  }

  async mark(nodeId: string, state: NodeState): Promise<boolean> {
    const node = this.#nodes.get(nodeId);
    if (!node || node.state === "fenced") return false;
    node.state = state;
    return true;
  }

  #living({ node_id, incarnation }: NodeRef): StoredNode | undefined {
    const node = this.#nodes.get(node_id);
    return node?.incarnation === incarnation && node.state !== "fenced" ? node : undefined;
  }

  #isFree({ owner }: StoredSession): boolean {
    return owner === null || !this.#living(owner);
  }

  #fits(session: StoredSession, node: StoredNode): boolean {
    if (!canRun(session, node)) return false;
    // A node that was promised it and cannot take it, or takes nothing now, keeps nobody waiting.
    const wanted = session.wanted === null ? undefined : this.#nodes.get(session.wanted);
    return !wanted || wanted === node || wanted.state !== "up" || wanted.until < this.#now() || !canRun(session, wanted);
  }
}

const canRun = ({ home, place, agent }: StoredSession, { node_id, places, agents }: StoredNode): boolean =>
  (home === node_id || (place !== null && places.includes(place))) && agents.includes(agent);

const waitsFor = ({ owner, home, place }: StoredSession, nodeId: string): boolean =>
  owner?.node_id === nodeId || (home === nodeId && place === null);

const isSame = (one: NodeRef | null, other: NodeRef): boolean =>
  one?.node_id === other.node_id && one.incarnation === other.incarnation;
