import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import { JsonRpcPeer, type JsonRpcPeerOptions, LATER, type Respond } from "./json-rpc.ts";
import { JsonRpcClosed, JsonRpcError, JsonRpcTimeout } from "./json-rpc-error.ts";
import { NdjsonChannel, openNdjsonStdio } from "./ndjson-stdio.ts";

const SEED = seedOf(20_260_403);

function makePeer(options: Partial<JsonRpcPeerOptions> = {}) {
  const sent: unknown[] = [];
  const peer = new JsonRpcPeer({
    write: (line) => {
      sent.push(JSON.parse(line.toString("utf8")));
      return true;
    },
    jsonrpcMember: false,
    ...options,
  });
  const receive = (value: unknown) => peer.receive({ raw: Buffer.from(JSON.stringify(value) ?? ""), value });
  return { peer, sent, receive };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("our requests", () => {
  it("are numbered from 1 and get their own answers", async () => {
    const { peer, sent, receive } = makePeer();
    const first = peer.request("a", { x: 1 });
    const second = peer.request("b");
    expect(sent).toEqual([
      { id: 1, method: "a", params: { x: 1 } },
      { id: 2, method: "b" },
    ]);
    receive({ id: 2, result: "two" });
    receive({ id: 1, result: null, error: null });
    expect(await Promise.all([first, second])).toEqual([null, "two"]);
  });

  it("carry the jsonrpc member unless told not to", () => {
    const { peer, sent } = makePeer({ jsonrpcMember: true });
    peer.notify("n", []);
    expect(sent).toEqual([{ jsonrpc: "2.0", method: "n", params: [] }]);
  });

  it("fail with the peer's error", async () => {
    const { peer, receive } = makePeer();
    const failing = [peer.request("a"), peer.request("b"), peer.request("c")];
    receive({ id: 1, error: { code: -32000, message: "no", data: { why: 1 } } });
    receive({ id: 2, error: "odd" });
    receive({ id: 3, error: {} });
    const [a, b, c] = await Promise.allSettled(failing);
    expect(a).toMatchObject({ reason: { name: "JsonRpcError", code: -32000, message: "no", data: { why: 1 } } });
    expect(b).toMatchObject({ reason: { code: -32603, message: "odd" } });
    expect(c).toMatchObject({ reason: { code: -32603, message: "{}" } });
  });

  it("time out, and the late answer is told as unmatched", async () => {
    const unmatched: unknown[] = [];
    const { peer, receive } = makePeer({ onUnmatched: (value) => unmatched.push(value) });
    await expect(peer.request("slow", {}, { timeoutMs: 1 })).rejects.toBeInstanceOf(JsonRpcTimeout);
    receive({ id: 1, result: "late" });
    receive({ id: "1", result: "of another type" });
    expect(unmatched).toEqual([
      { id: 1, result: "late" },
      { id: "1", result: "of another type" },
    ]);
  });

  it("can be aborted, and tell the peer if asked to", async () => {
    const { peer, sent } = makePeer();
    const controller = new AbortController();
    const silent = peer.request("a", undefined, { signal: controller.signal });
    const telling = peer.request("b", undefined, { signal: controller.signal, cancelOnAbort: true });
    controller.abort(new Error("enough"));
    await expect(silent).rejects.toThrow("enough");
    await expect(telling).rejects.toThrow("enough");
    expect(sent.slice(2)).toEqual([{ method: "$/cancel_request", params: { requestId: 2 } }]);
    await expect(peer.request("c", undefined, { signal: controller.signal })).rejects.toThrow("enough");
    expect(sent).toHaveLength(3);
  });

  it("are rejected when the channel closes, and so are later ones", async () => {
    const { peer, sent } = makePeer();
    const open = peer.request("a");
    peer.close("the agent exited with code 1");
    await expect(open).rejects.toBeInstanceOf(JsonRpcClosed);
    await expect(open).rejects.toThrow("exited with code 1");
    await expect(peer.request("b")).rejects.toBeInstanceOf(JsonRpcClosed);
    peer.notify("n");
    expect(sent).toHaveLength(1);
  });

  it("reject what JSON cannot say", async () => {
    const { peer } = makePeer();
    await expect(peer.request("a", { n: 1n })).rejects.toBeInstanceOf(TypeError);
  });
});

describe("the peer's requests", () => {
  it("are answered with their id as it came", async () => {
    const { sent, receive } = makePeer({ onRequest: (method) => method });
    for (const id of [0, "0", "", null, 1, -1, 1.5]) receive({ id, method: "m" });
    expect(sent).toEqual([0, "0", "", null, 1, -1, 1.5].map((id) => ({ id, result: "m" })));
  });

  it("do not disturb a request of ours with the same id", async () => {
    const { peer, sent, receive } = makePeer({ onRequest: () => "yours" });
    const ours = peer.request("a");
    receive({ id: 1, method: "b" });
    receive({ id: 1, result: "mine" });
    expect(await ours).toBe("mine");
    expect(sent[1]).toEqual({ id: 1, result: "yours" });
  });

  it("are answered when nobody handles them", () => {
    const { sent, receive } = makePeer();
    receive({ id: 0, method: "unknown/thing" });
    expect(sent).toEqual([{ id: 0, error: { code: -32601, message: "Method not found: unknown/thing" } }]);
  });

  it("are answered when the handler throws, rejects, or returns what JSON cannot say", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const handlers: Record<string, () => unknown> = {
      throws: () => {
        throw new Error("bug");
      },
      typed: () => {
        throw new JsonRpcError(-32001, "no such file", { path: "/x" });
      },
      rejects: () => Promise.reject("odd"),
      nothing: () => undefined,
      cycle: () => cycle,
    };
    const { sent, receive, peer } = makePeer({ onRequest: (method) => handlers[method]?.() });
    for (const method of Object.keys(handlers)) receive({ id: method, method });
    await settled();
    expect(sent).toHaveLength(5);
    expect(sent).toEqual(
      expect.arrayContaining([
        { id: "throws", error: { code: -32603, message: "bug" } },
        { id: "typed", error: { code: -32001, message: "no such file", data: { path: "/x" } } },
        { id: "rejects", error: { code: -32603, message: "odd" } },
        { id: "nothing", result: null },
        { id: "cycle", error: { code: -32603, message: expect.stringContaining("could not be serialised") } },
      ]),
    );
    expect(peer.openPeerRequests).toBe(0);
  });

  it("may be answered later, once", async () => {
    const open: Respond[] = [];
    const { sent, receive, peer } = makePeer({
      onRequest: (_method, _params, _id, respond) => {
        open.push(respond);
        return LATER;
      },
    });
    receive({ id: 0, method: "ask" });
    receive({ id: 0, method: "ask" });
    receive({ id: 7, method: "ask" });
    await settled();
    expect(sent).toEqual([]);
    expect(open[0]?.result("yes")).toBe(true);
    expect(open[0]?.error(new Error("no"))).toBe(false);
    peer.answerAllOpen(new JsonRpcError(-32800, "cancelled"));
    expect(open[1]?.result("too late")).toBe(false);
    expect(sent).toEqual([
      { id: 0, result: "yes" },
      { id: 0, error: { code: -32800, message: "cancelled" } },
      { id: 7, error: { code: -32800, message: "cancelled" } },
    ]);
  });

  it("may be answered by a promise, unless the channel closed", async () => {
    const gates: ((value: string) => void)[] = [];
    const { sent, receive, peer } = makePeer({ onRequest: () => new Promise((resolve) => gates.push(resolve)) });
    receive({ id: 0, method: "ask" });
    receive({ id: 1, method: "ask" });
    gates[0]?.("first");
    await settled();
    peer.close("gone");
    gates[1]?.("second");
    await settled();
    expect(sent).toEqual([{ id: 0, result: "first" }]);
  });

  it("are taken back through onCancel", () => {
    const cancelled: unknown[] = [];
    const { receive } = makePeer({ onCancel: (id) => cancelled.push(id) });
    receive({ method: "$/cancel_request", params: { requestId: 0 } });
    receive({ method: "$/cancel_request" });
    expect(cancelled).toEqual([0]);
  });

  it("are answered in a batch, and when their method is no string", () => {
    const { sent, receive } = makePeer({ onRequest: (method) => method });
    receive([{ id: 1, method: "a" }, { method: "note" }, { id: 2, method: "b" }]);
    receive({ id: 3, method: 4 });
    expect(sent).toMatchObject([
      { id: 1, result: "a" },
      { id: 2, result: "b" },
      { id: 3, error: { code: -32600 } },
    ]);
  });
});

describe("the tap", () => {
  it("sees every message of both directions before anything acts on it", () => {
    const order: string[] = [];
    const { peer, receive } = makePeer({
      onRaw: (direction, raw, value) => {
        expect(JSON.parse(raw.toString())).toEqual(value);
        order.push(`${direction} ${raw}`);
      },
      write: (line) => order.push(`write ${line.toString().trimEnd()}`) > 0,
      onRequest: () => {
        order.push("handler");
        return 1;
      },
      onNotification: () => order.push("notification"),
      onUnmatched: () => order.push("unmatched"),
    });
    receive({ id: 0, method: "m" });
    receive({ method: "n" });
    receive("neither");
    peer.notify("hello");
    expect(order).toEqual([
      'in {"id":0,"method":"m"}',
      "handler",
      'out {"id":0,"result":1}',
      'write {"id":0,"result":1}',
      'in {"method":"n"}',
      "notification",
      'in "neither"',
      "unmatched",
      'out {"method":"hello"}',
      'write {"method":"hello"}',
    ]);
  });

  it("a throwing notification handler is reported and stops nothing", () => {
    const errors: unknown[] = [];
    const { receive, sent } = makePeer({
      onNotification: () => {
        throw new Error("bug");
      },
      onHandlerError: (error) => errors.push(error),
      onRequest: () => "still here",
    });
    receive({ method: "n" });
    receive({ id: 0, method: "m" });
    expect(errors).toHaveLength(1);
    expect(sent).toEqual([{ id: 0, result: "still here" }]);
  });
});

describe("any JSON", () => {
  const id = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("", "1", null), fc.jsonValue({ maxDepth: 1 }));
  const rpcLike = fc.record(
    {
      id,
      method: fc.oneof(fc.string(), fc.jsonValue({ maxDepth: 1 })),
      params: fc.jsonValue(),
      result: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );

  it("never makes it throw, and each request in it is answered exactly once", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(rpcLike, fc.jsonValue()), { maxLength: 10 }), (values) => {
        const { peer, sent, receive } = makePeer({ onRequest: (_method, params) => params });
        const expected: unknown[] = [];
        for (const value of values) {
          const parts: unknown[] = Array.isArray(value) ? value : [value];
          for (const part of parts) {
            if (typeof part !== "object" || part === null || Array.isArray(part)) continue;
            if ("id" in part && "method" in part) expected.push(part.id);
          }
          receive(value);
        }
        expect(sent.map((answer) => JSON.stringify(answer)).length).toBe(expected.length);
        expect(sent).toMatchObject(expected.map((value) => ({ id: JSON.parse(JSON.stringify(value)) })));
        expect(peer.openPeerRequests).toBe(0);
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });

  it("random bytes between requests, split anywhere, leave every request answered", () => {
    const noise = fc
      .uint8Array({ maxLength: 40 })
      .map((bytes) => Buffer.concat([Buffer.from("#"), Buffer.from(bytes), Buffer.from("\n")]));
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 10 }), fc.integer({ min: 1, max: 17 }), (noises, size) => {
        const { peer, sent } = makePeer({ onRequest: () => "ok" });
        const channel = new NdjsonChannel({
          write: () => true,
          onMessage: (message) => peer.receive(message),
          onGarbage: () => {},
          onOversize: () => {},
        });
        const asks = noises.map((bytes, index) => Buffer.concat([bytes, Buffer.from(`{"id":"q${index}","method":"m"}\n`)]));
        const stream = Buffer.concat(asks);
        for (let at = 0; at < stream.length; at += size) channel.feed(stream.subarray(at, at + size));
        channel.end();
        const answers = sent.filter((answer) => JSON.stringify(answer).includes('"id":"q'));
        expect(answers).toEqual(noises.map((_, index) => ({ id: `q${index}`, result: "ok" })));
      }),
      { seed: SEED, numRuns: 500 },
    );
  });
});

describe("over stdio", () => {
  it("both sides ask each other through a real process", async () => {
    const script = `
      const send = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const message = JSON.parse(line);
        if (message.method === "prompt") send({ id: 0, method: "permission" });
        else if (message.method === undefined) send({ id: 1, result: { allowed: message.result, answered: message.id } });
      });`;
    let exited: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      exited = resolve;
    });
    const stdio = openNdjsonStdio({
      command: process.execPath,
      args: ["-e", script],
      onMessage: (message) => peer.receive(message),
      onGarbage: () => {},
      onOversize: () => {},
      onSpawnError: (error) => peer.close(error.message),
      onExit: ({ signal }) => {
        peer.close(`the process ended by ${signal}`);
        exited();
      },
    });
    const peer = new JsonRpcPeer({ write: (line) => stdio.sendLine(line), onRequest: async (method) => `${method} granted` });
    expect(await peer.request("prompt", {})).toEqual({ allowed: "permission granted", answered: 0 });
    const pending = peer.request("unanswered");
    const closed = expect(pending).rejects.toThrow("the process ended by SIGTERM");
    await stdio.process.stop(1_000);
    await closed;
    await gone;
  });
});

describe("a peer that asks and does not read", () => {
  it("waits for its answers to be read before its next request is handled, in order, and is no longer read itself", async () => {
    let unread = 0;
    let release = (): void => {};
    const held: boolean[] = [];
    const flow = {
      unread: () => unread,
      drained: () =>
        new Promise<void>((resolve) => {
          release = () => {
            unread = 0;
            resolve();
          };
        }),
      pause: () => void held.push(true),
      resume: () => void held.push(false),
    };
    const handled: unknown[] = [];
    const { receive } = makePeer({
      flow,
      onRequest: (_, params) => {
        handled.push(params);
        unread += 2_000_000;
        return null;
      },
    });
    for (let i = 1; i <= 4; i++) receive({ id: i, method: "read", params: [i, "x".repeat(2_000_000)] });
    await settled();
    expect(handled.length).toBe(1);
    expect(held).toEqual([true]);
    for (let done = 2; done <= 4; done++) {
      release();
      await settled();
      expect(handled.length).toBe(done);
    }
    expect(held).toEqual([true, false]);
    expect(handled.map((params) => (params as number[])[0])).toEqual([1, 2, 3, 4]);
  });
});
