/** What the server needs of a fleet: where sessions are, and how a request gets there. Absent where there is one daemon. Types only. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex, Writable } from "node:stream";
import type { Node, NodeChange } from "../schema/node.ts";
import type { CreateSession, Session } from "../schema/session.ts";

/** Nodes that a filter means: one by its name, those with all these labels. */
export type NodeWish = { node?: string; labels?: Readonly<Record<string, string>> };

export type PeerNode = { node_id: string; url: string };

/** `nowhere`: nobody owns it now. `takeover`: somebody will; else why nobody can. */
export type SessionRoute =
  | { at: "here" }
  | { at: "node"; node: PeerNode }
  | { at: "nowhere"; why: "takeover" | "directory" | "agent"; home: string }
  | { at: "unknown" };

/** `unsent`: it was not reached. `lost`: it was, and gave no answer. `misdirected`: it does not own the session. */
export type Forwarded = "answered" | "unsent" | "lost" | "misdirected";

export type ForwardOptions = {
  node: PeerNode;
  /** Who asks, as JSON. */
  caller: string;
  body: Buffer | null;
  /** Headers for the client beside those of the answer. */
  headers: Readonly<Record<string, string>>;
  /** The answer is there, and about to be written. */
  onAnswer(): void;
};

/** A request of another node whose signature is right; its body is still to be compared with the hash. */
export type NodeRequest = { path: string; caller: string; bodyHash: string };

export interface FleetPort {
  readonly nodeId: string;
  readonly kind: "node" | "gateway";
  route(sessionId: string): Promise<SessionRoute>;
  /** Of a task that runs for no session. */
  routeTask(taskId: string): Promise<SessionRoute>;
  /** Which node gets a new session; null: this one. `tried`: those that refused it. Throws problems. */
  place(request: CreateSession, tried: readonly string[]): Promise<PeerNode | null>;
  /** A node that answers what is not about one session, for a gateway. Throws problems. */
  anyNode(): Promise<PeerNode>;
  forward(request: IncomingMessage, response: ServerResponse, options: ForwardOptions): Promise<Forwarded>;
  /** Rejects when the other side cannot be reached. */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    options: Pick<ForwardOptions, "node" | "caller">,
  ): Promise<void>;
  /** Null: it is no request of a node of this cluster, or was here before. Once for each request. */
  admit(request: IncomingMessage): NodeRequest | null;
  /** A question of another node; undefined: there is no such question. */
  answer(name: string, body: string): Promise<unknown>;
  /** A stream for another node, for as long as it listens. False: there is no such stream. */
  stream(name: string, out: Writable): boolean;
  /** Views of sessions as their owners have them, as far as those can be reached. */
  views(sessions: readonly Session[]): Promise<Session[]>;
  nodes(): Promise<Node[]>;
  /** All nodes now, and what changes from then on, until `stop`. */
  watch(listener: (changes: readonly NodeChange[]) => void): Promise<{ nodes: Node[]; stop(): void }>;
  /** Ids of the sessions that such nodes own. */
  sessionsOn(wish: NodeWish): Promise<Set<string>>;
  isOn(sessionId: string, wish: NodeWish): Promise<boolean>;
  /** Throws node_not_found. */
  mark(nodeId: string, state: "up" | "draining" | "fenced"): Promise<void>;
  /** Only for a session that is here. Resolves when it is given away. */
  move(
    sessionId: string,
    to: { node?: string; labels?: Readonly<Record<string, string>> },
    when: "turn_end" | "now",
  ): Promise<void>;
  metrics(): Readonly<Record<string, number>>;
}
