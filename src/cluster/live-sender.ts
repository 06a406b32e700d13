/**
 * What this node commits, to the nodes that follow it: one connection from each, over which the chunks of all sessions go that are followed there. A node that does not take them is let go: it reads the log
 * instead, and connects again.
 */
import type { Writable } from "node:stream";
import type { LiveChunk, LiveTail } from "../log/postgres/live.ts";
import { frameOf } from "./live-frames.ts";

export type FollowRequest = { connection: string; add?: { no: number; id: string }[]; remove?: number[] };
/** `here`: those that this node sends from now on. Null: there is no such connection. */
export type FollowAnswer = { here: number[] } | null;

/** So much may wait for a node. */
const MOST_WAITING = 16 * 1024 * 1024;

export class LiveSender {
  readonly #owns: (sessionId: string) => boolean;
  readonly #live: Pick<LiveTail, "wanted" | "onChunk">;
  readonly #connections = new Map<string, { out: Writable; streams: Map<number, string> }>();

  constructor(live: Pick<LiveTail, "wanted" | "onChunk">, owns: (sessionId: string) => boolean) {
    this.#live = live;
    this.#owns = owns;
    live.onChunk = (chunk) => this.#send(chunk);
  }

  get peers(): number {
    return this.#connections.size;
  }

  open(connection: string, out: Writable): void {
    this.#connections.set(connection, { out, streams: new Map() });
    out.once("close", () => {
      this.#connections.delete(connection);
      this.#recount();
    });
    out.on("error", () => out.destroy());
  }

  follow({ connection, add = [], remove = [] }: FollowRequest): FollowAnswer {
    const found = this.#connections.get(connection);
    if (!found) return null;
    const here = add.filter(({ id }) => this.#owns(id));
    for (const { no, id } of here) found.streams.set(no, id);
    for (const no of remove) found.streams.delete(no);
    this.#recount();
    return { here: here.map(({ no }) => no) };
  }

  /** Another node has it now, or will. */
  lost(sessionId: string): void {
    for (const { out, streams } of this.#connections.values())
      for (const [no, id] of streams)
        if (id === sessionId) {
          streams.delete(no);
          out.write(frameOf({ gone: no }));
        }
    this.#recount();
  }

  close(): void {
    for (const { out } of this.#connections.values()) out.destroy();
  }

  #send(chunk: LiveChunk): void {
    let frame: Buffer | undefined;
    for (const { out, streams } of this.#connections.values()) {
      if (!streams.has(chunk.no)) continue;
      frame ??= frameOf({ chunk });
      if (out.writableLength > MOST_WAITING) out.destroy();
      else out.write(frame);
    }
  }

  #recount(): void {
    this.#live.wanted.clear();
    for (const { streams } of this.#connections.values()) for (const no of streams.keys()) this.#live.wanted.add(no);
  }
}
