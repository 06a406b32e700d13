/**
 * Sessions that are followed here and owned elsewhere: finds their owners, and has one connection to each, over which it gets what that node commits. A session whose owner cannot be reached is looked up in the
 * log meanwhile; the search goes on. No timer of its own.
 */
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import type { FollowedStream, LiveChunk, LiveTail } from "../log/postgres/live.ts";
import type { FleetClock } from "./fleet-node.ts";
import { FrameReader } from "./live-frames.ts";
import type { FollowAnswer, FollowRequest } from "./live-sender.ts";
import type { PeerNode } from "./node-calls.ts";

export type LiveReceiverOptions = {
  live: LiveTail;
  clock: FleetClock;
  receive(chunk: LiveChunk): void;
  /** Those that another node owns, by session. */
  owners(sessionIds: readonly string[]): Promise<ReadonlyMap<string, PeerNode>>;
  /** The bytes that this node sends from now on. */
  connect(node: PeerNode, connection: string): Promise<Readable>;
  follow(node: PeerNode, request: FollowRequest): Promise<FollowAnswer>;
};

/** How often owners are looked for, and what nobody follows any more is given up. */
const ROUND_MS = 1_000;

type Followed = { stream: FollowedStream; node: string | null };
type Connection = { node: PeerNode; name: string; bytes: Readable };

export class LiveReceiver {
  readonly #options: LiveReceiverOptions;
  readonly #followed = new Map<number, Followed>();
  readonly #connections = new Map<string, Connection>();
  #cancel: (() => void) | null = null;
  #soon = false;
  #arranging = false;
  #again = false;
  #chunks = 0;
  #closed = false;

  constructor(options: LiveReceiverOptions) {
    this.#options = options;
    options.live.onFollowed = (stream) => this.#add(stream);
    options.live.onMissed = (no) => this.#uncover(no);
  }

  get peers(): number {
    return this.#connections.size;
  }

  /** Sessions whose owner sends what it commits. */
  get sessions(): number {
    return this.#options.live.covered.size;
  }

  /** Chunks that came from owners, since the start. */
  get chunks(): number {
    return this.#chunks;
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
    for (const { bytes } of this.#connections.values()) bytes.destroy();
  }

  #add(stream: FollowedStream): void {
    // What other streams say is asked of their owner.
    if (stream.kind !== "session" || this.#closed) return;
    const known = this.#followed.get(stream.no);
    if (known) {
      known.stream = stream;
      return;
    }
    this.#followed.set(stream.no, { stream, node: null });
    this.#schedule(0);
  }

  #schedule(ms: number): void {
    if (this.#closed || (this.#cancel && (ms > 0 || this.#soon))) return;
    this.#cancel?.();
    this.#soon = ms === 0;
    this.#cancel = this.#options.clock.after(ms, () => {
      this.#cancel = null;
      this.#soon = false;
      void this.#arrange().finally(() => {
        if (this.#followed.size > 0) this.#schedule(ROUND_MS);
      });
    });
  }

  async #arrange(): Promise<void> {
    if (this.#arranging) {
      this.#again = true;
      return;
    }
    this.#arranging = true;
    this.#again = false;
    try {
      await this.#giveUp();
      const lost = [...this.#followed.values()].filter(({ node }) => node === null);
      if (lost.length === 0) return;
      const owners = await this.#options.owners(lost.map(({ stream }) => stream.id));
      const byNode = new Map<string, { node: PeerNode; streams: FollowedStream[] }>();
      for (const { stream } of lost) {
        const node = owners.get(stream.id);
        if (!node) continue;
        const group = byNode.get(node.node_id) ?? { node, streams: [] };
        group.streams.push(stream);
        byNode.set(node.node_id, group);
      }
      await Promise.all([...byNode.values()].map(({ node, streams }) => this.#follow(node, streams)));
    } catch {
      // The registry does not answer: the log is looked at meanwhile, and this is tried again.
    } finally {
      this.#arranging = false;
      // Somebody began to follow meanwhile: a round later would be late.
      if (this.#again) this.#schedule(0);
    }
  }

  /** What nobody follows here any more. */
  async #giveUp(): Promise<void> {
    const removed = new Map<string, number[]>();
    for (const [no, { stream, node }] of this.#followed) {
      if (stream.isFollowed()) continue;
      this.#followed.delete(no);
      this.#options.live.covered.delete(no);
      if (node !== null) removed.set(node, [...(removed.get(node) ?? []), no]);
    }
    for (const [node_id, remove] of removed) {
      const connection = this.#connections.get(node_id);
      if (!connection) continue;
      const left = [...this.#followed.values()].some(({ node }) => node === node_id);
      if (left) await this.#ask(connection, { remove });
      else connection.bytes.destroy();
    }
  }

  #ask({ node, name }: Connection, request: Omit<FollowRequest, "connection">): Promise<FollowAnswer> {
    return this.#options.follow(node, { connection: name, ...request }).catch(() => null);
  }

  async #follow(node: PeerNode, streams: readonly FollowedStream[]): Promise<void> {
    const connection = await this.#connection(node).catch(() => null);
    if (!connection) return;
    const add = streams.map(({ no, id }) => ({ no, id }));
    const answer = await this.#ask(connection, { add });
    if (this.#connections.get(node.node_id) !== connection) return;
    if (!answer) return void connection.bytes.destroy();
    for (const no of answer.here) {
      const followed = this.#followed.get(no);
      if (!followed) continue;
      followed.node = node.node_id;
      this.#options.live.covered.add(no);
    }
  }

  async #connection(node: PeerNode): Promise<Connection> {
    const known = this.#connections.get(node.node_id);
    if (known) return known;
    const name = randomUUID();
    const connection = { node, name, bytes: await this.#options.connect(node, name) };
    this.#connections.set(node.node_id, connection);
    const { bytes } = connection;
    const frames = new FrameReader();
    bytes.on("data", (data: Buffer) => {
      try {
        for (const frame of frames.read(data)) {
          if ("chunk" in frame) {
            this.#chunks++;
            this.#options.receive(frame.chunk);
          } else this.#uncover(frame.gone);
        }
      } catch {
        bytes.destroy();
      }
    });
    bytes.on("error", () => bytes.destroy());
    bytes.once("close", () => {
      this.#connections.delete(node.node_id);
      for (const [no, followed] of this.#followed) if (followed.node === node.node_id) this.#uncover(no);
    });
    return connection;
  }

  /** The log is looked at again, until an owner is found. */
  #uncover(no: number): void {
    this.#options.live.covered.delete(no);
    const followed = this.#followed.get(no);
    if (!followed) return;
    followed.node = null;
    this.#schedule(ROUND_MS);
  }
}
