/** Requests from this node to others, each with its signature, and theirs to this one: known by theirs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex, Readable } from "node:stream";
import { type Forwarded, Peers } from "./forward.ts";
import { isLiving } from "./placement.ts";
import type { NodeRow } from "./registry.ts";
import { hashOf, INTERNAL, type NodeSecret, SeenRequests } from "./signature.ts";

export type PeerNode = { node_id: string; url: string };
/** `caller`: who asks, as JSON. `onAnswer`: the answer is there, and about to be written. */
export type Sent = {
  node: PeerNode;
  caller: string;
  body: Buffer | null;
  headers: Readonly<Record<string, string>>;
  onAnswer(): void;
};

export type NodeCallsOptions = {
  nodeId: string;
  secret: NodeSecret;
  now(): number;
  /** Nodes as the registry has them, not older than a moment. */
  rows(): Promise<readonly NodeRow[]>;
  ca?: string;
  /** How requests travel, for who brings a network of their own. */
  peers?: Transport | undefined;
};

export type Transport = Pick<Peers, "forward" | "upgrade" | "call" | "close"> & {
  stream(...given: Parameters<Peers["stream"]>): Promise<Readable>;
};

/** How often a node that owes an answer is looked up. */
const WATCH_MS = 1_000;

export class NodeCalls {
  readonly #options: NodeCallsOptions;
  readonly #peers: Transport;
  readonly #seen = new SeenRequests();

  constructor(options: NodeCallsOptions) {
    this.#options = options;
    this.#peers = options.peers ?? new Peers(options.ca);
  }

  close(): void {
    this.#peers.close();
  }

  /** A node that is stopped keeps its connections open and answers nothing: it is given up when its lease has run out. */
  forward(request: IncomingMessage, response: ServerResponse, { node, caller, ...sent }: Sent): Promise<Forwarded> {
    const gone = new AbortController();
    let writer: string | undefined;
    const look = async (): Promise<void> => {
      const row = (await this.#options.rows()).find(({ node_id }) => node_id === node.node_id);
      writer ??= row?.writer;
      if (!row || !isLiving(row) || row.writer !== writer) gone.abort();
    };
    // A registry that cannot be asked says nothing about the node.
    const watch = setInterval(() => void look().catch(() => undefined), WATCH_MS).unref();
    response.once("close", () => clearInterval(watch));
    const path = `${INTERNAL}forward${request.url ?? "/"}`;
    const signed = this.#sign(request.method ?? "GET", path, node.node_id, caller, sent.body ?? "");
    return this.#peers
      .forward(request, response, { ...node, ...sent, path, signed, gone: gone.signal })
      .finally(() => void (response.headersSent || clearInterval(watch)));
  }

  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { node, caller }: Pick<Sent, "node" | "caller">,
  ): Promise<void> {
    const path = `${INTERNAL}forward${request.url ?? "/"}`;
    const signed = this.#sign("GET", path, node.node_id, caller, "");
    return this.#peers.upgrade(request, socket, head, { url: node.url, path, signed });
  }

  /** Null: it does not come from a node of this cluster, or was here before. Once for each request. */
  admit({ method = "GET", url = "/", headers }: IncomingMessage): { path: string; caller: string; bodyHash: string } | null {
    const { secret, now, nodeId } = this.#options;
    const read = secret.read({ method, path: url, headers }, nodeId, now(), this.#seen);
    return read && { path: url, caller: read.caller, bodyHash: read.bodyHash };
  }

  ask({ node_id, url }: PeerNode, name: string, body: string): Promise<string> {
    const path = `${INTERNAL}${name}`;
    return this.#peers.call(url, path, body, this.#sign("POST", path, node_id, "", body));
  }

  /** What it sends for as long as it lasts. */
  stream({ node_id, url }: PeerNode, name: string): Promise<Readable> {
    const path = `${INTERNAL}${name}`;
    return this.#peers.stream(url, path, this.#sign("GET", path, node_id, "", ""));
  }

  #sign(method: string, path: string, to: string, caller: string, body: Buffer | string): Record<string, string> {
    const { secret, now, nodeId } = this.#options;
    return secret.sign(method, path, { from: nodeId, to, caller, bodyHash: hashOf(body) }, now());
  }
}
