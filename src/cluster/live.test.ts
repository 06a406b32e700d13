import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { type FollowedStream, type LiveChunk, LiveTail } from "../log/postgres/live.ts";
import { FrameReader, frameOf } from "./live-frames.ts";
import { LiveReceiver } from "./live-receiver.ts";
import { LiveSender } from "./live-sender.ts";

const chunk = (no: number, first: number, last = first): LiveChunk => ({
  ...{ no, id: `s${no}`, first, last, lastNative: 3, at: 7, types: "x", natives: "1" },
  body: Buffer.from(`events ${first} to ${last} \u{1f600}\n`.repeat(3)),
});

describe("frames between nodes", () => {
  it("come out as they went in, however the bytes are cut", () => {
    const frames = [{ chunk: chunk(1, 1, 9) }, { gone: 4 }, { chunk: chunk(2, 1) }];
    const bytes = Buffer.concat(frames.map(frameOf));
    for (const size of [1, 3, 7, 64, bytes.length]) {
      const reader = new FrameReader();
      const read = [];
      for (let at = 0; at < bytes.length; at += size) read.push(...reader.read(bytes.subarray(at, at + size)));
      expect(read).toEqual(frames);
    }
    expect(() => new FrameReader().read(Buffer.alloc(64, 0xff))).toThrow("cannot be read");
  });
});

describe("the live stream from the owner", () => {
  /** Two nodes: `a` owns what is in `owned`. Time passes when the test says so. */
  const lab = () => {
    const [there, here] = [new LiveTail(), new LiveTail()];
    const owned = new Set(["s1", "s2"]);
    const sender = new LiveSender(there, (id) => owned.has(id));
    const received: LiveChunk[] = [];
    const timers: (() => void)[] = [];
    let reachable = true;
    const connections: PassThrough[] = [];
    const receiver = new LiveReceiver({
      live: here,
      clock: {
        after: (_, run) => {
          timers.push(run);
          return () => void timers.splice(timers.indexOf(run) >>> 0, 1);
        },
      },
      receive: (each) => void received.push(each),
      owners: async (ids) => new Map(ids.flatMap((id) => (owned.has(id) ? [[id, { node_id: "a", url: "http://a" }]] : []))),
      connect: async (_, name) => {
        if (!reachable) throw new Error("nobody is there");
        const out = new PassThrough();
        connections.push(out);
        sender.open(name, out);
        return out;
      },
      follow: async (_, request) => sender.follow(request),
    });
    const round = async (): Promise<void> => {
      for (const run of timers.splice(0)) run();
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    };
    const stream = (no: number, isFollowed = () => true): FollowedStream => ({ no, kind: "session", id: `s${no}`, isFollowed });
    const reach = (to: boolean): void => {
      reachable = to;
    };
    return { there, here, owned, sender, receiver, received, round, stream, connections, reach };
  };

  it("is one connection for all sessions, and carries those that are followed", async () => {
    const { there, here, received, round, stream, connections } = lab();
    here.onFollowed(stream(1));
    here.onFollowed(stream(2));
    await round();
    expect(connections).toHaveLength(1);
    expect([...there.wanted]).toEqual([1, 2]);
    expect([...here.covered]).toEqual([1, 2]);
    there.onChunk(chunk(1, 1, 5));
    there.onChunk(chunk(3, 1));
    await round();
    expect(received).toEqual([chunk(1, 1, 5)]);
  });

  it("ends for a session that moved, that nobody follows, or that lags behind the log; the log is looked at until the owner is found again", async () => {
    const { there, here, owned, sender, round, stream } = lab();
    let wanted = true;
    here.onFollowed(stream(1));
    here.onFollowed(stream(2, () => wanted));
    await round();
    owned.delete("s1");
    sender.lost("s1");
    await round();
    expect([...here.covered]).toEqual([2]);
    owned.add("s1");
    await round();
    await round();
    expect([...here.covered].sort()).toEqual([1, 2]);
    here.onMissed(1);
    expect([...here.covered]).toEqual([2]);
    await round();
    expect([...here.covered].sort()).toEqual([1, 2]);
    wanted = false;
    await round();
    expect([...there.wanted]).toEqual([1]);
  });

  it("a node that is gone is looked for again; who does not take what is sent is let go", async () => {
    const { there, here, received, round, stream, connections, reach } = lab();
    here.onFollowed(stream(1));
    await round();
    reach(false);
    connections[0]?.destroy();
    await round();
    expect([...here.covered]).toEqual([]);
    expect([...there.wanted]).toEqual([]);
    await round();
    reach(true);
    await round();
    expect([...here.covered]).toEqual([1]);
    connections[1]?.pause();
    for (let first = 1; first < 2_000 && !connections[1]?.destroyed; first++)
      there.onChunk({ ...chunk(1, first), body: Buffer.alloc(1024 * 1024) });
    expect(connections[1]?.destroyed).toBe(true);
    expect(received.length).toBeLessThan(2_000);
  });
});
