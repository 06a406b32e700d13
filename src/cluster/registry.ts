/**
 * What a registry of the fleet is: which nodes there are, how long each may be trusted to live, and which node owns which session. Every method is one
 * transaction of one database, and time is that database's alone. A registry decides who *may* write; that nobody else does is the log's business, which compares
 * the epoch handed out here with every append. `registry.suite.ts` is this contract as tests.
 */

/** One life of a node: a node that starts again, or that was fenced and comes back, has a higher incarnation. */
export type NodeRef = { node_id: string; incarnation: number };

/** `gateway`: answers for all sessions and owns none. */
export type NodeKind = "node" | "gateway";

/** `draining`: takes nothing new and gives away what it can. `fenced`: its sessions may be claimed by others. */
export type NodeState = "up" | "draining" | "fenced";

export type NodeProfile = {
  node_id: string;
  kind: NodeKind;
  /** Under this name its process takes writers of the log: another one with each start. */
  writer: string;
  /** Where other nodes reach it. */
  url: string;
  version: string;
  labels: Readonly<Record<string, string>>;
  /** Names of directories it shares with other nodes, the agents' own stores included. */
  places: readonly string[];
  /** Ids of the agents that can run there. */
  agents: readonly string[];
  /** How many sessions with a running agent it takes. */
  capacity: number;
};

export type NodeRow = NodeProfile & {
  incarnation: number;
  state: NodeState;
  /** Sessions whose agent runs there now. */
  load: number;
  /** Sessions it owns. */
  sessions: number;
  /** What is left of its lease; negative when it has run out. */
  lease_ms: number;
  /** It stopped by itself: nobody had to fence it. */
  left: boolean;
};

/** What is known of a session before it has an owner. */
export type SessionHome = {
  session_id: string;
  agent: string;
  /** The shared place its directory lies in; null: only its home node has it. */
  place: string | null;
};

export type Ownership = SessionHome & {
  /** The node that has its directory. */
  home: string;
  /** Null: nobody, it was released. */
  owner: NodeRef | null;
  /** The owner has not been fenced. */
  owned: boolean;
  /** Grows with each owner. */
  epoch: number;
};

/** Why a session has a new owner: the old one died, gave it away, or is this node in an earlier life. */
export type ClaimReason = "takeover" | "move" | "restart";

/** `from`: the node that had it before; null when that is not known. */
export type Claim = { session_id: string; epoch: number; from: string | null; reason: ClaimReason };

/** A session under the epoch in which it is owned. */
export type Held = { session_id: string; epoch: number };

/** How long nodes that are gone stay listed: those that left and gateways, and those that died. */
export type GoneTimes = { left_ms: number; dead_ms: number };

export type JoinOptions = {
  term_ms: number;
  /** Of this process: see `Registry.birth`. */
  birth: number;
  /** The incarnation that this same process had: what it owned and nobody took stays its own, under the same epochs. */
  before?: number;
};

/** Another process has joined as this node. Two that both came back would fence each other for ever: the one that was started later is the node. */
export class NodeReplaced extends Error {
  constructor(nodeId: string) {
    super(
      `Another process has been started as node ${nodeId}: this one owns nothing any more. Stop it, or give it another name.`,
    );
  }
}

export interface Registry {
  /** A number for a process that starts, higher than all before. Asked for once, before it joins: what a process sent before it died may arrive after the next one has joined. */
  birth(): Promise<number>;
  /** [O1] A new incarnation. The one before is fenced by that. Rejects with `NodeReplaced` when a process of a later birth is this node. */
  join(profile: NodeProfile, options: JoinOptions): Promise<NodeRef>;
  /** [O2] `fenced`: this incarnation has no lease any more and gets none. */
  renew(me: NodeRef, options: { term_ms: number; load: number }): Promise<NodeState>;
  /** Ends the lease at once: a node that stops does not keep others waiting. */
  leave(me: NodeRef): Promise<void>;
  /** [O5] Fences nodes whose lease ran out, if one's own has been unbroken for a whole term. Their ids. */
  fenceDead(me: NodeRef, options: { term_ms: number }): Promise<string[]>;
  /** [O6, O9] Sessions that nobody owns, or a fenced node, and that can go on here. */
  claim(me: NodeRef, options: { limit: number }): Promise<Claim[]>;
  /** A new session, owned by its maker. The epoch; undefined when it has an owner already, or this incarnation may own nothing. */
  own(me: NodeRef, session: SessionHome): Promise<number | undefined>;
  /** [O10] Gives it up, for one node if it says so. False: it was not ours under this epoch. */
  release(me: NodeRef, held: Held, options?: { to?: string }): Promise<boolean>;
  /** Keeps what was to be released, where nobody knows whether that took effect: under a higher epoch, so that it no longer can. Undefined: it did. */
  keep(me: NodeRef, held: Held): Promise<number | undefined>;
  /** The session is gone. */
  forget(sessionId: string): Promise<void>;
  /** What this incarnation owns, each as the claim said it whose answer may have been lost; what it created comes as `restart`, from nobody. */
  owned(me: NodeRef): Promise<Claim[]>;
  /** Sessions that these nodes own in their present lives. */
  ownedBy(nodeIds: readonly string[]): Promise<string[]>;
  /** The node whose present life writes a task; undefined: none does. */
  taskOwner(taskId: string): Promise<string | undefined>;
  /** Those that are known. */
  find(sessionIds: readonly string[]): Promise<Ownership[]>;
  /** In order of id. */
  nodes(): Promise<NodeRow[]>;
  /** Removes nodes that have been gone for so long, unless a session or a task waits for them. Their ids. */
  forgetGone(times: GoneTimes): Promise<string[]>;
  /** A person's decision about a node. False: there is no such node, or it is fenced already. */
  mark(nodeId: string, state: NodeState): Promise<boolean>;
}
