/** Requests and streams between the nodes of the simulation: signed and checked by the real code, carried by the virtual network. */
import { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Fleet } from "../fleet.ts";
import type { Transport } from "../node-calls.ts";
import { INTERNAL } from "../signature.ts";
import type { Process, World } from "./test-world.ts";

export type Peer = Process & { url: string; readonly alive: boolean; readonly fleet: Fleet | null };

const refused = (): never => {
  throw new Error("requests of clients do not travel so in a simulation");
};

/** What one process sends to the others. */
export function networkOf(world: World, from: Peer, peers: () => readonly Peer[]): Transport {
  const find = (url: string): Peer => {
    const peer = peers().find((each) => each.url === url && each.alive);
    if (!peer) throw new Error(`${url} does not answer`);
    return peer;
  };
  const admitted = (to: Peer, method: string, path: string, headers: Record<string, string>): Fleet => {
    const request = { method, url: path, headers } as Parameters<Fleet["admit"]>[0];
    if (!to.fleet?.admit(request)) throw new Error(`${to.url} knows no such node`);
    return to.fleet;
  };
  return {
    forward: refused,
    upgrade: refused,
    close: () => undefined,
    call: async (url, path, body, signed) => {
      const to = find(url);
      return world.hop(from, to, async () => {
        const fleet = admitted(to, "POST", path, signed);
        return JSON.stringify(await fleet.answer(path.slice(INTERNAL.length), body));
      });
    },
    stream: async (url, path, signed) => {
      const to = find(url);
      const pipe = new Pipe(world, from, to);
      await world.hop(from, to, async () => {
        if (!admitted(to, "GET", path, signed).stream(path.slice(INTERNAL.length), pipe.out)) throw new Error("no such stream");
      });
      return pipe.in;
    },
  };
}

/** One end of a connection: what the code under test needs of a stream, without ticks of its own. */
class End extends EventEmitter {
  destroyed = false;
  readonly writableLength = 0;
  onWrite: (bytes: Buffer) => void = () => undefined;

  write(bytes: Buffer): boolean {
    if (!this.destroyed) this.onWrite(bytes);
    return true;
  }

  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.emit("close");
    return this;
  }
}

/** One connection: bytes arrive in order, late, or not at all; then it breaks for both. */
class Pipe {
  readonly in: Readable;
  readonly out: Writable;

  constructor(world: World, from: Peer, to: Peer) {
    const [into, out] = [new End(), new End()];
    this.in = into as unknown as Readable;
    this.out = out as unknown as Writable;
    let arrival = 0;
    const life = to.life;
    out.onWrite = (bytes) => {
      if (world.isCut(from, to) || (!world.calm && world.random() < 0.01)) return void out.destroy();
      arrival = Math.max(arrival, world.now + 1 + world.random() * 20);
      world.at(arrival - world.now, from, () => void (into.destroyed || into.emit("data", bytes)));
    };
    out.once("close", () => world.at(world.random() * 30, from, () => void into.destroy()));
    into.once("close", () => world.at(world.random() * 30, to, () => void out.destroy()));
    // A process that dies takes its connections with it.
    const watch = (): void => {
      if (into.destroyed) return;
      if (to.life !== life || !to.alive) return void into.destroy();
      world.at(300, from, watch);
    };
    world.at(300, from, watch);
  }
}
