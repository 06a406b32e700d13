// The dialects over what the mock agent really says: nothing vanishes, and the streams keep their promises.
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { SessionHandle } from "../../src/client/index.ts";
import type { Frame } from "../../src/dialects/frames.ts";
import { messagesOf } from "../../src/dialects/messages.ts";
import { type UnifiedMessage, unifiedMessageTypes } from "../../src/dialects/unified-message.ts";
import { eventTypes, type UniversalEvent } from "../../src/schema/event.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess;
let session: SessionHandle;
let events: UniversalEvent[];
let messages: UnifiedMessage[];

beforeAll(async () => {
  dataDir = temporaryDir("dialects");
  daemon = await startDaemonProcess(dataDir);
  session = await daemon.client.createSession({ agent: "mock" });
  session.on("permission", (request) => request.allow());
  session.on("question", (request) => request.answer([["Red"], ["Cheese"]]));
  for (const act of ["all", "ask", "question", "garbage", "refuse", "big 200000", "error rate_limit"]) await session.prompt(act);
  const { turn_id } = await session.send("hang");
  for await (const event of session.events({ types: ["turn.started"] }))
    if (event.data && "turn_id" in event.data && event.data.turn_id === turn_id) break;
  const { message_id } = await session.send("later");
  await session.updateQueued(message_id, { text: "never" });
  await session.removeQueued(message_id);
  await session.interrupt();
  await session.outcome(turn_id);
  await session.terminate();
  events = await collect(session.events());
  messages = await collect(session.messages());
}, 120_000);

afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const collect = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
};

it("plays every event type there is, so that the tests below are about all of them", () => {
  expect(eventTypes.filter((type) => !events.some((event) => event.type === type))).toEqual([]);
});

it("[drop 24] gives every event at least one message, in order, of a type that is listed", () => {
  expect(new Set(messages.map(({ sequence }) => sequence))).toEqual(new Set(events.map(({ sequence }) => sequence)));
  expect(messages.every(({ sequence }, i) => sequence >= (messages[i - 1]?.sequence ?? 1))).toBe(true);
  expect(messages.filter(({ type }) => !unifiedMessageTypes.includes(type))).toEqual([]);
  expect(unifiedMessageTypes.filter((type) => !messages.some((message) => message.type === type))).toEqual([]);
});

it("is a pure projection: the stream, the page and the function say the same", async () => {
  expect(messages).toEqual(events.flatMap(messagesOf));
  const page = await session.page({ dialect: "messages", limit: 10 });
  expect(page.events).toEqual(messages.slice(0, page.events.length));
});

it("[D1, D7] counts heartbeats in the ledger instead of telling them", async () => {
  const { totals } = await session.coverage();
  expect(totals.heartbeat).toBeGreaterThan(0);
  expect(messages.some(({ metadata }) => metadata.name === "ping")).toBe(false);
});

it("makes one frame an event, seq without gaps from 0 to session_ended", async () => {
  const frames = (await collect(session.dialect("frames"))) as Frame[];
  expect(frames.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  expect([frames[0]?.type, frames.at(-1)?.type]).toEqual(["session_started", "session_ended"]);
  const started = frames.filter(({ type }) => type === "tool_started").map(({ tool_id }) => tool_id);
  const ended = frames.filter(({ type }) => type === "tool_ended" || type === "tool_failed").map(({ tool_id }) => tool_id);
  expect(ended.sort()).toEqual(started.sort());
  for (const { tool_id } of frames.filter(({ type }) => type === "tool_stdout")) expect(started).toContain(tool_id);
});

it("speaks messages over the WebSocket too", async () => {
  const address = `${daemon.url.replace("http", "ws")}/v1/sessions/${session.id}/ws?dialect=messages`;
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${daemon.token}` } });
  const got: unknown[] = [];
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as { type: string; event?: unknown };
    if (message.type === "event") got.push(message.event);
  });
  expect(await new Promise((resolve) => socket.once("close", resolve))).toBe(1000);
  expect(got).toEqual(messages);
});

it("knows no other dialect, and says which there are", async () => {
  await expect(collect(session.dialect("klingon"))).rejects.toMatchObject({ code: "invalid_request", status: 400 });
  await expect(collect(session.dialect("klingon"))).rejects.toThrow("universal, messages, frames");
});
