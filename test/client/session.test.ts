// The promises of a session's handle, kept against a real daemon: exactly once across a crash, at the reader's pace, and answers that find their way.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { Dragoman, DragomanError, type PermissionRequest, type SessionHandle, type StreamState } from "../../src/client/index.ts";
import type { WebSocketConstructor } from "../../src/client/session-socket.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess;

beforeAll(async () => {
  dataDir = temporaryDir("client");
  daemon = await startDaemonProcess(dataDir);
});

afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const collect = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
};
const sequences = (events: UniversalEvent[]): number[] => events.map(({ sequence }) => sequence);
const upTo = (end: number, after = 0): number[] => Array.from({ length: end - after }, (_, index) => after + index + 1);

describe("events", () => {
  it("come exactly once and in order, though the daemon is killed in mid-stream and comes back", async () => {
    const dir = temporaryDir("killed");
    let mortal = await startDaemonProcess(dir);
    try {
      const { port } = new URL(mortal.url);
      const session = await mortal.client.createSession({ agent: "mock" });
      const states: StreamState[] = [];
      const all: UniversalEvent[] = [];
      const { promise: underWay, resolve: started } = deferred();
      const reading = (async () => {
        for await (const event of session.events({ onState: (state) => states.push(state) })) {
          all.push(event);
          if (all.length === 50) started();
        }
      })();
      await session.send("slow 5 a long story of many words that nobody hears to its end".concat(" and on".repeat(500)));
      await underWay;
      await mortal.kill("SIGKILL");
      mortal = await startDaemonProcess(dir, ["--port", port]);
      const outcome = await session.prompt("say I am back");
      expect(outcome).toMatchObject({ stop_reason: "end_turn", text: "I am back" });
      await session.terminate();
      await reading;
      const { last_sequence } = await session.get();
      expect(sequences(all)).toEqual(upTo(last_sequence));
      expect(all.at(-1)?.type).toBe("session.ended");
      expect(new Set(states.map(({ state }) => state))).toEqual(new Set(["reconnecting", "live"]));
    } finally {
      await mortal.kill("SIGTERM");
      removeDir(dir);
    }
  });

  it("end with the session, also for one who has them all, and for one who hears only some", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("say hi");
    await session.terminate();
    const { last_sequence } = await session.get();
    expect(sequences(await collect(session.events()))).toEqual(upTo(last_sequence));
    expect(await collect(session.events({ after: last_sequence }))).toEqual([]);
    const some = await collect(session.events({ types: ["turn.ended"] }));
    expect(some.map(({ type }) => type)).toEqual(["turn.ended"]);
  });

  it("end when they are aborted", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("say hi");
    const stop = new AbortController();
    const got: UniversalEvent[] = [];
    for await (const event of session.events({ signal: stop.signal })) {
      got.push(event);
      if (event.type === "turn.ended") stop.abort();
    }
    expect(got.at(-1)?.type).toBe("turn.ended");
  });

  it("are not read ahead of a slow reader", async () => {
    let read = 0;
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!String(input).includes("/events/sse") || !response.body) return response;
      const count = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          read += chunk.byteLength;
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(count), { status: response.status });
    };
    const slow = new Dragoman({ url: daemon.url, token: daemon.token, fetch: counting });
    const session = await daemon.client.createSession({ agent: "mock" });
    const reader = slow.session(session.id).events();
    const first = await reader.next();
    expect(first.value?.sequence).toBe(1);
    await session.prompt("flood 20000 1000");
    expect(read).toBeLessThan(1_000_000);
    await session.terminate();
    const { last_sequence } = await session.get();
    expect(sequences(await collect(reader))).toEqual(upTo(last_sequence, 1));
    expect(read).toBeGreaterThan(20_000_000);
  });

  it("of all sessions come with a cursor that resumes", async () => {
    const stop = new AbortController();
    const stream = daemon.client.events({ after: "0.0", signal: stop.signal });
    const first = (await stream.next()).value;
    const second = (await stream.next()).value;
    await stream.return();
    const again = daemon.client.events({ after: first?.cursor ?? "", signal: stop.signal });
    expect((await again.next()).value).toEqual(second);
    stop.abort();
    expect((await again.next()).done).toBe(true);
  });

  it("that cannot come are an error with a code, not silence", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await expect(collect(session.events({ after: 1_000_000 }))).rejects.toMatchObject({ code: "cursor_too_large" });
    await expect(collect(daemon.client.session("nobody").events())).rejects.toMatchObject({ code: "session_not_found" });
  });
});

describe("prompt", () => {
  it("resolves with the outcome and the final text", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    expect(await session.prompt("say the answer")).toMatchObject({ stop_reason: "end_turn", text: "the answer", error: null });
    expect(await session.prompt("error rate_limit")).toMatchObject({ stop_reason: "error", error_code: "rate_limit" });
    expect(await session.prompt("subagent")).toMatchObject({ text: "The sub-agent is back." });
  });

  it("stops waiting when aborted; the turn goes on", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const stop = new AbortController();
    const waiting = session.prompt("hang", {
      signal: stop.signal,
      onEvent: ({ type }) => type === "turn.started" && stop.abort(),
    });
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
    expect((await session.get()).status).toBe("running");
    await session.terminate();
  });

  it("resolves with the interrupted turn when the session is ended meanwhile", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const waiting = session.prompt("hang", { onEvent: ({ type }) => type === "turn.started" && void session.terminate() });
    const outcome = await waiting.catch((error: unknown) => error);
    // The daemon closes the turn before the session: its end is the outcome.
    expect(outcome).toMatchObject({ stop_reason: "interrupted" });
  });

  it("ends when its message is removed from the queue", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.send("hang");
    const removed = session.prompt("say never", {
      onEvent: ({ type, data }) => type === "message.queued" && "text" in data && void session.removeQueued(data.message_id),
    });
    await expect(removed).rejects.toMatchObject({ code: "message_removed" });
    await session.terminate();
  });

  it("sent again under its key gives the first outcome, also when that turn has long ended", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const first = await session.prompt("say once", { idempotencyKey: "key of this message" });
    await session.prompt("say between");
    const again = await session.prompt("say once", { idempotencyKey: "key of this message" });
    expect(again).toEqual(first);
    await session.terminate();
  });

  it("streams over one connection too", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const types = (await collect(session.sendStream("say hi"))).map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(["turn.started", "turn.ended"]);
  });
});

describe("on", () => {
  it("hands over permissions and questions that answer themselves, also those that wait already", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const { turn_id } = await session.send("ask rm -rf build");
    await vi.waitFor(async () => expect((await session.pending()).permissions).toHaveLength(1), { timeout: 120_000 });
    const asked: PermissionRequest[] = [];
    session.on("permission", async (request) => {
      asked.push(request);
      await request.deny("not today");
    });
    session.on("question", (request) => request.answer([["Blue"], ["Basil", "Cheese"]]));
    expect((await session.outcome(turn_id)).text).toBe("You said no: not today.");
    expect((await session.prompt("question")).text).toBe("You chose Blue; Basil and Cheese.");
    expect(asked.map(({ action }) => action)).toEqual(["Run: rm -rf build"]);
    session.close();
  });

  it("survives a listener that fails, and tells it; coming second with an answer is no fault", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const faults: unknown[] = [];
    session.on("error", (error) => faults.push(error));
    session.on("event", ({ type }) => {
      if (type === "turn.started") throw new Error("mine");
    });
    session.on("permission", (request) => request.allow());
    session.on("permission", (request) => request.deny());
    expect((await session.prompt("ask")).stop_reason).toBe("end_turn");
    session.close();
    expect(faults).toEqual([new Error("mine")]);
  });

  it("tells when it cannot watch", async () => {
    const fault = await new Promise((resolve) => daemon.client.session("nobody").on("error", resolve));
    expect(fault).toBeInstanceOf(DragomanError);
    expect(fault).toMatchObject({ code: "session_not_found" });
  });
});

describe("socket", () => {
  const open = (session: SessionHandle, Socket: unknown = WebSocket) =>
    session.socket({ WebSocket: Socket as WebSocketConstructor });

  it("carries commands and events", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const socket = await open(session);
    await socket.send("ask");
    const types: string[] = [];
    for await (const event of socket.events()) {
      types.push(event.type);
      if (event.type === "permission.requested") await socket.replyPermission(event.data.permission_id, { reply: "once" });
      if (event.type === "turn.ended") await socket.terminate();
    }
    expect(types).toContain("permission.resolved");
    expect(types.at(-1)).toBe("session.ended");
    await expect(socket.send("more")).rejects.toMatchObject({ code: "stream_ended" });
  });

  it("gives refused commands the daemon's code", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const socket = await open(session);
    await expect(socket.replyPermission("none", { reply: "once" })).rejects.toMatchObject({ code: "permission_not_found" });
    expect((await socket.update({ title: "renamed" })).title).toBe("renamed");
    expect(await socket.pending()).toEqual({ permissions: [], questions: [] });
    socket.close();
    expect(await collect(socket.events())).toBeDefined();
  });

  it("holds the daemon back while its reader is slow, and loses nothing", async () => {
    let received = 0;
    class Counting extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        this.on("message", () => received++);
      }
    }
    const session = await daemon.client.createSession({ agent: "mock" });
    const socket = await open(session, Counting);
    await session.prompt("flood 40000 300");
    const { last_sequence } = await session.get();
    expect(received).toBeLessThan(last_sequence / 2);
    await session.terminate();
    const end = (await session.get()).last_sequence;
    expect(sequences(await collect(socket.events()))).toEqual(upTo(end));
  });

  it("says what to do where there is no WebSocket, or no session", async () => {
    await expect(open(daemon.client.session("nobody"))).rejects.toMatchObject({ code: "unreachable" });
    if (typeof globalThis.WebSocket === "undefined")
      await expect(daemon.client.session("nobody").socket()).rejects.toMatchObject({ code: "unsupported" });
  });
});

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((yes) => {
    resolve = yes;
  });
  return { promise, resolve };
}
