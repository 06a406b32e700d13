// The queue as clients see it: several of them, over HTTP, WebSocket and the command line, and after kill -9.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import type { SessionHandle } from "../src/client/session-handle.ts";
import type { WebSocketConstructor } from "../src/client/session-socket.ts";
import { openSqliteLog } from "../src/log/sqlite/log.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { SessionProjection } from "../src/schema/projection/session-projection.ts";
import { seedOf } from "../src/test-seed.ts";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";
import { random } from "./random.ts";

const SEED = seedOf(20_261_116);
const ROUNDS = Number(process.env.DRAGOMAN_CRASH_ROUNDS ?? 4);

let dataDir: string;
let daemon: DaemonProcess;
beforeEach(async () => {
  dataDir = temporaryDir("queue");
  daemon = await startDaemonProcess(dataDir);
});
afterEach(async () => {
  await daemon.kill("SIGKILL");
  removeDir(dataDir);
});

async function busySession(): Promise<{ session: SessionHandle; turn_id: string }> {
  const session = await daemon.client.createSession({ agent: "mock" });
  const { turn_id } = await session.send("hang");
  for await (const event of session.events()) if (event.type === "turn.started") break;
  return { session, turn_id };
}

const all = async (session: SessionHandle): Promise<UniversalEvent[]> => (await session.page({ limit: 10_000 })).events;
const texts = async (session: SessionHandle): Promise<string[]> => (await session.queue()).messages.map(({ text }) => text);

describe("a queue", () => {
  it("[G9] is one for all clients: what one changes, the other sees, and what it follows says the same", async () => {
    const { session, turn_id } = await busySession();
    const other = daemon.client.session(session.id);
    const socket = await other.socket({ WebSocket: WebSocket as unknown as WebSocketConstructor });
    const [a, b, c] = await Promise.all(["say a", "say b", "say c"].map((text) => session.send(text)));
    const order = (await session.queue()).messages.map(({ message_id }) => message_id);
    expect([...order].sort()).toEqual([a, b, c].map((each) => each?.message_id ?? "").sort());
    const [first = "", second = "", third = ""] = order;
    await socket.updateQueued(third, { position: 0 });
    await session.updateQueued(first, { text: "say edited" });
    await socket.removeQueued(second);
    const seen = await socket.queue();
    expect(seen.messages.map(({ message_id }) => message_id)).toEqual([third, first]);
    expect(await session.queue()).toEqual(seen);
    const followed = new SessionProjection();
    for (const event of await all(session)) followed.apply(event);
    expect(followed.queue).toEqual(seen.messages);
    await expect(session.updateQueued(second, { text: "x" })).rejects.toMatchObject({ code: "message_not_found", status: 404 });
    await expect(session.updateQueued(first, {})).rejects.toMatchObject({ code: "invalid_request" });
    expect(await session.get()).toMatchObject({ queued: 2 });
    await session.interrupt();
    await session.outcome(turn_id);
    for await (const event of session.events()) if (event.type === "turn.ended" && (await session.get()).queued === 0) break;
    const named = (await all(session)).flatMap((event) => (event.type === "turn.started" ? [event.data.message_id] : []));
    expect(named.slice(1)).toEqual([third, first]);
    socket.close();
    expect(checkGrammar(await all(session))).toEqual([]);
  });

  it("sends a message now, into the running turn", async () => {
    const { session, turn_id } = await busySession();
    const { message_id } = await session.send("left");
    expect(await session.sendQueued(message_id)).toEqual({ turn_id, message_id, queued: false });
    expect((await session.queue()).messages).toEqual([]);
    const steered = (await all(session)).find((event) => event.type === "message.removed");
    expect(steered?.data).toMatchObject({ reason: "steered", turn_id, actor: { role: "admin" } });
  });

  it("is listed and changed on the command line", async () => {
    const { session } = await busySession();
    for (const text of ["one", "two", "three"]) await session.send(text);
    const run = (...args: string[]) => cli(dataDir, ["queue", ...args]);
    expect((await run(session.id)).out).toMatch(/0 .*one\n.*1 .*two\n.*2 .*three/);
    expect(await run("move", session.id, "2", "0")).toMatchObject({ code: 0 });
    expect(await run("edit", session.id, "1", "one", "more")).toMatchObject({ code: 0 });
    expect(await run("rm", session.id, "2")).toMatchObject({ code: 0 });
    expect(await texts(session)).toEqual(["three", "one more"]);
    expect(await run("send", session.id, "0")).toMatchObject({ code: 0 });
    expect(await texts(session)).toEqual(["one more"]);
    const gone = await run("rm", session.id, "no-such-message");
    expect(gone.code).toBe(1);
    expect(gone.err).toMatch(/message_not_found|No such message/);
  });
});

it(`[S3] [G9] after kill -9 each message is queued or has its turn, in ${ROUNDS} rounds (seed ${SEED})`, {
  timeout: 240_000 + ROUNDS * 20_000,
}, async () => {
  const dice = random(SEED);
  const { id } = await daemon.client.createSession({ agent: "mock" });
  const accepted = new Set<string>();
  const removed = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const session = daemon.client.session(id);
    const killed = Math.floor(dice() * 25);
    for (let step = 0; step < 40; step++) {
      if (step === killed) daemon.child.kill("SIGKILL");
      const text = dice() < 0.3 ? "slow 2 a b c" : "say quick";
      const sent = await session.send(text).catch(() => undefined);
      if (!sent) break;
      accepted.add(sent.message_id);
      const { messages } = await session.queue().catch(() => ({ messages: [] }));
      const one = messages[Math.floor(dice() * messages.length)];
      if (!one) continue;
      const choice = dice();
      if (choice < 0.3) await session.updateQueued(one.message_id, { position: 0 }).catch(() => {});
      else if (choice < 0.5)
        await session.removeQueued(one.message_id).then(
          () => void removed.add(one.message_id),
          () => {},
        );
    }
    await daemon.kill("SIGKILL");
    const between = await openSqliteLog({ dataDir });
    const stream = await between.stream("session", id);
    const stored = (await stream?.read({ limit: 100_000, maxBytes: 1e9 }))?.events ?? [];
    const left = stored.map((json) => JSON.parse(json) as UniversalEvent);
    expect(await between.documents.list("queued_message")).toEqual([]);
    await between.close();
    expect(checkGrammar(left)).toEqual([]);
    const projection = new SessionProjection();
    for (const event of left) projection.apply(event);
    const queued = new Set(projection.queue.map(({ message_id }) => message_id));
    const begun = new Set(left.flatMap((event) => (event.type === "turn.started" ? [event.data.message_id] : [])));
    const gone = new Set(left.flatMap((event) => (event.type === "message.removed" ? [event.data.message_id] : [])));
    for (const message of accepted) {
      const places = [queued, begun, gone].filter((each) => each.has(message)).length;
      expect(places, `${message} in round ${round}`).toBe(1);
    }
    for (const message of removed) expect(gone.has(message)).toBe(true);
    daemon = await startDaemonProcess(dataDir);
  }
  const session = daemon.client.session(id);
  const { turn_id } = await session.send("say last");
  await session.outcome(turn_id);
  const events = (await collect(session)).flatMap((event) => (event.type === "turn.started" ? [event.data.message_id] : []));
  for (const message of accepted) expect(events.filter((each) => each === message)).toHaveLength(removed.has(message) ? 0 : 1);
});

async function collect(session: SessionHandle): Promise<UniversalEvent[]> {
  const events: UniversalEvent[] = [];
  for (let after = 0, more = true; more; ) {
    const page = await session.page({ after, limit: 10_000 });
    events.push(...page.events);
    [after, more] = [page.next, page.has_more];
  }
  return events;
}
