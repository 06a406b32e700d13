/**
 * One node of the fleet: keeps its lease, fences the dead, claims what can go on here, and learns when it was itself fenced. Clock and registry come from
 * outside, and there is no timer of its own: the simulation runs this code. What it means to own a session (to recover it, to end its agent) is its duties' business, and that a
 * late writer changes nothing is the log's.
 */
import {
  type Claim,
  type GoneTimes,
  type NodeProfile,
  type NodeRef,
  NodeReplaced,
  type NodeState,
  type Registry,
} from "./registry.ts";

export type FleetClock = {
  /** Runs it once, later. What it returns takes that back. */
  after(ms: number, run: () => void): () => void;
};

export type FleetTimes = {
  /** How long a lease holds. */
  term_ms: number;
  /** How often it is renewed. */
  renew_ms: number;
  /** How often it is looked for nodes that died and sessions that can be taken: what is dead is noticed so much after its lease. */
  claim_ms: number;
  /** How many sessions are claimed at once. */
  claim_limit: number;
  /** Every how many rounds what is owned is compared with the registry. */
  compare_rounds: number;
};

export const FLEET_TIMES: FleetTimes = { term_ms: 10_000, renew_ms: 3_000, claim_ms: 2_000, claim_limit: 50, compare_rounds: 10 };

/** People see for an hour who left, and for a day who died. */
const GONE: GoneTimes = { left_ms: 60 * 60_000, dead_ms: 24 * 60 * 60_000 };

export interface FleetDuties {
  /** These are ours from now on: the log must be written under their epochs only. */
  taken(claims: readonly Claim[]): void;
  /** Others own these now: their agents must end, and nothing of them can be written. */
  lost(sessionIds: readonly string[]): void;
  /** Sessions with a running agent. */
  load(): number;
  /** What a person decided about this node. */
  state?(state: NodeState): void;
}

export type FleetNodeOptions = {
  registry: Registry;
  profile: NodeProfile;
  clock: FleetClock;
  duties: FleetDuties;
  times?: FleetTimes;
  warn?(message: string, fields: Record<string, unknown>): void;
};

/** For metrics: since the start. */
export type FleetCounts = { takeovers: number; fenced: number; fencings: number };

export class FleetNode {
  readonly #options: FleetNodeOptions;
  readonly #times: FleetTimes;
  readonly #epochs = new Map<string, number>();
  /** Being created: the answer may be on its way, and the registry may know it before we do. */
  readonly #creating = new Set<string>();
  /** Being given up. `unknown`: the answer was lost, and it may still take effect. */
  readonly #releases = new Map<string, "asked" | "unknown">();
  readonly counts: FleetCounts = { takeovers: 0, fenced: 0, fencings: 0 };
  #me: NodeRef | null = null;
  #birth: number | null = null;
  #state: NodeState = "up";
  #stopped = false;
  #cancels = new Set<() => void>();
  /** By this node's own clock, counted from the question: for people, not for decisions. */
  #leaseUntil = 0;
  #mustCompare = false;
  #rounds = 0;

  constructor(options: FleetNodeOptions) {
    this.#options = options;
    this.#times = options.times ?? FLEET_TIMES;
  }

  get me(): NodeRef | null {
    return this.#me;
  }

  get state(): NodeState {
    return this.#state;
  }

  /** What is left of its lease, as far as it knows; below 0 others may fence it. */
  get leaseMs(): number {
    return this.#leaseUntil - Date.now();
  }

  /** The epoch under which this node owns it; undefined when it does not, as far as it knows. */
  epochOf(sessionId: string): number | undefined {
    return this.#epochs.get(sessionId);
  }

  owned(): string[] {
    return [...this.#epochs.keys()];
  }

  /** Joins, and keeps the lease and the claims up from then on. Rejects when the registry cannot be reached. */
  async start(): Promise<void> {
    await this.#join();
    const { renew_ms, claim_ms } = this.#times;
    this.#every(renew_ms, () => this.#renew());
    this.#every(claim_ms, () => this.claimNow());
  }

  /** A new session. Throws what the registry throws; then it may be ours all the same, and is found by the next comparison. */
  async own(session: { session_id: string; agent: string; place: string | null }): Promise<number | undefined> {
    const me = this.#me;
    if (!me) return undefined;
    this.#creating.add(session.session_id);
    try {
      const epoch = await this.#options.registry.own(me, session);
      if (epoch !== undefined && isSame(this.#me, me)) this.#epochs.set(session.session_id, epoch);
      return epoch;
    } finally {
      this.#creating.delete(session.session_id);
    }
  }

  /** [O10] Its writer must be at rest: all of it committed, no agent running. */
  async release(session_id: string, to?: string): Promise<boolean> {
    const epoch = this.#epochs.get(session_id);
    if (!this.#me || epoch === undefined) return false;
    this.#epochs.delete(session_id);
    this.#releases.set(session_id, "asked");
    try {
      const released = await this.#options.registry.release(this.#me, { session_id, epoch }, to === undefined ? {} : { to });
      this.#releases.delete(session_id);
      return released;
    } catch (error) {
      this.#releases.set(session_id, "unknown");
      this.#mustCompare = true;
      throw error;
    }
  }

  /** The session was removed. */
  async forget(sessionId: string): Promise<void> {
    this.#epochs.delete(sessionId);
    await this.#options.registry.forget(sessionId);
  }

  /** The log refused to write under our epoch: somebody else has a higher one. */
  refused(sessionId: string): void {
    if (this.#epochs.delete(sessionId)) this.#options.duties.lost([sessionId]);
    this.#mustCompare = true;
  }

  /** No more leases and claims. What is owned can be claimed by others at once. */
  async leave(): Promise<void> {
    this.halt();
    if (this.#me) await this.#options.registry.leave(this.#me);
  }

  /** Stops without a word, as a crash does. */
  halt(): void {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }

  /** One round: fence, claim, compare. Also when another node says that there is something to take. */
  async claimNow(): Promise<void> {
    const { registry, duties } = this.#options;
    const me = this.#me;
    if (!me || this.#stopped) return;
    const { term_ms, claim_limit, compare_rounds } = this.#times;
    this.counts.fencings += (await registry.fenceDead(me, { term_ms })).length;
    const seldom = ++this.#rounds % compare_rounds === 0;
    if (seldom) await registry.forgetGone(GONE);
    if (this.#mustCompare || seldom) await this.#compare(me);
    if (this.#state !== "up") return;
    // Its answer may be lost: what was claimed then is found by the comparison.
    const claims = await this.#comparedOnFailure(registry.claim(me, { limit: claim_limit }));
    if (!isSame(this.#me, me)) return;
    const fresh = claims.filter(({ session_id, epoch }) => (this.#epochs.get(session_id) ?? 0) < epoch);
    // Lost and claimed back without having heard of it: what is left of it here is of the past.
    const stale = fresh.filter(({ session_id }) => this.#epochs.has(session_id)).map(({ session_id }) => session_id);
    if (stale.length > 0) duties.lost(stale);
    this.#start(fresh);
    if (claims.length === claim_limit) this.#once(0, () => this.claimNow());
  }

  #take(claims: readonly Claim[]): void {
    for (const { session_id, epoch, reason } of claims) {
      this.#epochs.set(session_id, epoch);
      this.#releases.delete(session_id);
      if (reason === "takeover") this.counts.takeovers++;
    }
  }

  /** What the registry says is ours, against what we think: answers get lost, and others take what a late heartbeat let go of. */
  async #compare(me: NodeRef): Promise<void> {
    const before = new Map(this.#epochs);
    const releases = new Map(this.#releases);
    // Not after the answer: what becomes doubtful meanwhile is for the next comparison.
    this.#mustCompare = false;
    const rows = await this.#comparedOnFailure(this.#options.registry.owned(me));
    if (!isSame(this.#me, me)) return;
    const owned = new Map(rows.map((claim) => [claim.session_id, claim]));
    // What changed while the question was on its way is left to the next comparison.
    const lost = [...before]
      .filter(([id, epoch]) => this.#epochs.get(id) === epoch && owned.get(id)?.epoch !== epoch)
      .map(([id]) => id);
    for (const id of lost) this.#epochs.delete(id);
    if (lost.length > 0) this.#options.duties.lost(lost);
    const found = rows.filter(({ session_id: id }) => !this.#epochs.has(id) && !before.has(id) && !this.#creating.has(id));
    const again = lost.flatMap((id) => owned.get(id) ?? []);
    this.#start([...found.filter(({ session_id }) => !releases.has(session_id)), ...again]);
    for (const [id, state] of releases)
      if (state === "unknown" && this.#releases.has(id)) await this.#settle(me, id, owned.get(id));
  }

  async #comparedOnFailure<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.#mustCompare = true;
      throw error;
    }
  }

  /** Whether a release took effect is not known: what is still ours is kept, and what comes late of the release is refused. */
  async #settle(me: NodeRef, session_id: string, claim: Claim | undefined): Promise<void> {
    const epoch = claim && (await this.#comparedOnFailure(this.#options.registry.keep(me, claim)));
    if (!isSame(this.#me, me)) return;
    this.#releases.delete(session_id);
    if (epoch !== undefined) this.#start([{ session_id, epoch, from: null, reason: "restart" }]);
  }

  #start(claims: readonly Claim[]): void {
    this.#take(claims);
    if (claims.length > 0) this.#options.duties.taken(claims);
  }

  async #join(): Promise<void> {
    const { registry, profile } = this.#options;
    const before = this.#me?.incarnation;
    const { term_ms } = this.#times;
    this.#birth ??= await registry.birth();
    const asked = Date.now();
    const options = { term_ms, birth: this.#birth };
    this.#me = await registry.join(profile, before === undefined ? options : { ...options, before });
    this.#leaseUntil = asked + term_ms;
    this.#mustCompare = true;
  }

  /** [O8] Others may own what was ours; what nobody took is ours again, under the same epochs. */
  async #rejoin(): Promise<void> {
    this.counts.fenced++;
    try {
      await this.#join();
    } catch (error) {
      if (!(error instanceof NodeReplaced)) throw error;
      this.#options.warn?.(error.message, {});
      const lost = this.owned();
      this.#me = null;
      this.#epochs.clear();
      this.halt();
      if (lost.length > 0) this.#options.duties.lost(lost);
    }
    if (this.#me) await this.#compare(this.#me);
  }

  async #renew(): Promise<void> {
    const { registry, duties } = this.#options;
    const me = this.#me;
    if (!me) return;
    const { term_ms } = this.#times;
    const asked = Date.now();
    const state = await registry.renew(me, { term_ms, load: duties.load() });
    if (!isSame(this.#me, me)) return;
    if (state !== "fenced") this.#leaseUntil = asked + term_ms;
    if (state === "fenced") await this.#rejoin();
    else if (state !== this.#state) {
      this.#state = state;
      duties.state?.(state);
    }
  }

  #every(ms: number, work: () => Promise<void>): void {
    const round = (): Promise<void> => work().then(() => this.#once(ms, round));
    this.#once(ms, round);
  }

  /** What fails is tried again with the next round: nothing here can be refused for good. */
  #once(ms: number, work: () => Promise<void>): void {
    if (this.#stopped) return;
    const cancel = this.#options.clock.after(ms, () => {
      this.#cancels.delete(cancel);
      work().catch((error: unknown) => {
        this.#options.warn?.("the registry of the fleet did not answer", { error: String(error) });
        this.#once(this.#times.renew_ms, work);
      });
    });
    this.#cancels.add(cancel);
  }
}

const isSame = (one: NodeRef | null, other: NodeRef): boolean =>
  one?.node_id === other.node_id && one.incarnation === other.incarnation;
