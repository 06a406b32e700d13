/** The live streams between this node and the others, both ways: what it commits to those who follow it, and what others commit to its own followers. */
import type { Readable, Writable } from "node:stream";
import type { LiveChunk, LiveTail } from "../log/postgres/live.ts";
import type { FleetClock } from "./fleet-node.ts";
import { LiveReceiver } from "./live-receiver.ts";
import { type FollowAnswer, type FollowRequest, LiveSender } from "./live-sender.ts";
import type { PeerNode } from "./node-calls.ts";

/** The names of its questions between nodes. */
export const LIVE = "live/";
export const FOLLOW = "follow";

export type FleetLiveOptions = {
  live: LiveTail;
  clock: FleetClock;
  owns(sessionId: string): boolean;
  receive(chunk: LiveChunk): void;
  owners(sessionIds: readonly string[]): Promise<ReadonlyMap<string, PeerNode>>;
  ask(node: PeerNode, name: string, body: string): Promise<string>;
  stream(node: PeerNode, name: string): Promise<Readable>;
};

export class FleetLive {
  readonly #sender: LiveSender;
  readonly #receiver: LiveReceiver;

  constructor({ live, clock, owns, receive, owners, ask, stream }: FleetLiveOptions) {
    this.#sender = new LiveSender(live, owns);
    this.#receiver = new LiveReceiver({
      ...{ live, clock, receive, owners },
      connect: (node, connection) => stream(node, `${LIVE}${connection}`),
      follow: async (node, request) => JSON.parse(await ask(node, FOLLOW, JSON.stringify(request))) as FollowAnswer,
    });
  }

  /** Connections from and to other nodes. */
  get peers(): number {
    return this.#sender.peers + this.#receiver.peers;
  }

  /** Sessions followed here of which their owners send what they commit, and how many chunks came so. */
  get received(): { sessions: number; chunks: number } {
    return { sessions: this.#receiver.sessions, chunks: this.#receiver.chunks };
  }

  /** Another node wants to get what is committed here. */
  open(connection: string, out: Writable): void {
    this.#sender.open(connection, out);
  }

  follow(request: FollowRequest): FollowAnswer {
    return this.#sender.follow(request);
  }

  /** These sessions are another node's now. */
  lost(sessionIds: readonly string[]): void {
    for (const id of sessionIds) this.#sender.lost(id);
  }

  close(): void {
    this.#sender.close();
    this.#receiver.close();
  }
}
