// The dialects over what the mock agent really says: nothing vanishes, and the streams keep their promises.
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { SessionHandle } from "../../src/client/index.ts";
import type { Frame } from "../../src/dialects/frames/frame.ts";
import { contractErrors } from "../../src/dialects/frames/test-contract.ts";
import { uuidOf } from "../../src/dialects/frames/uuid.ts";
import { MessageContext } from "../../src/dialects/message-context.ts";
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

const framesOf = async (options?: Parameters<SessionHandle["dialect"]>[1]): Promise<Frame[]> =>
  (await collect(session.dialect("frames", options))) as Frame[];

it("plays every event type that one daemon has, so that the tests below are about all of them", () => {
  expect(eventTypes.filter((type) => !events.some((event) => event.type === type))).toEqual(["session.moved"]);
});

it("[drop 24] gives every event at least one message, in order, of a type that is listed", () => {
  expect(new Set(messages.map(({ sequence }) => sequence))).toEqual(new Set(events.map(({ sequence }) => sequence)));
  expect(messages.every(({ sequence }, i) => sequence >= (messages[i - 1]?.sequence ?? 1))).toBe(true);
  expect(messages.filter(({ type }) => !unifiedMessageTypes.includes(type))).toEqual([]);
  expect(unifiedMessageTypes.filter((type) => !messages.some((message) => message.type === type))).toEqual([]);
});

it("is a pure projection: the stream, the page and the function say the same", async () => {
  const context = new MessageContext();
  expect(messages).toEqual(events.flatMap((event) => messagesOf(event, context)));
  const page = await session.page({ dialect: "messages", limit: 10 });
  expect(page.events).toEqual(messages.slice(0, page.events.length));
});

it("[D1, D7] counts heartbeats in the ledger instead of telling them", async () => {
  const { totals } = await session.coverage();
  expect(totals.heartbeat).toBeGreaterThan(0);
  expect(messages.some(({ metadata }) => metadata.name === "ping")).toBe(false);
});

it("makes one frame an event, seq without gaps from 0 to session_ended, each as its contract says", async () => {
  const frames = await framesOf();
  expect(contractErrors(frames, 2)).toEqual([]);
  expect(contractErrors(await framesOf({ version: 1 }), 1)).toEqual([]);
  expect(frames.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  expect([frames[0]?.type, frames.at(-1)?.type]).toEqual(["session_started", "session_ended"]);
  const toolsOf = (...types: string[]) =>
    frames.flatMap((frame) => (types.includes(frame.type) && "tool_id" in frame ? [frame.tool_id] : []));
  expect(toolsOf("tool_ended", "tool_failed").sort()).toEqual(toolsOf("tool_started").sort());
  for (const id of toolsOf("tool_stdout")) expect(toolsOf("tool_started")).toContain(id);
});

it("begins with what the session was asked, and gives back as output what the agent said", async () => {
  const frames = await framesOf();
  expect(frames[0]).toMatchObject({ type: "session_started", input: "all" });
  const prompts = events.flatMap((event) => (event.type === "message.queued" ? [event.data.text] : []));
  const output = frames.flatMap((frame) => (frame.type === "output_text_delta" ? [frame.delta] : []));
  expect(prompts.filter((prompt) => output.includes(prompt))).toEqual([]);
});

it("says of garbage what it was, and of valid JSON that it is", async () => {
  const garbage = (await framesOf()).flatMap((frame) =>
    frame.type === "provider_event" && frame.event_name === "agent.unparsed" ? [[frame.status, frame.raw]] : [],
  );
  expect(garbage).toEqual(
    expect.arrayContaining([
      ["invalid_json", "Warning: this is not JSON"],
      ["invalid_json", '{"type":"text","m":'],
      ["event", null],
    ]),
  );
});

it("numbers the frames that are left before any is left out, and says so", async () => {
  const all = await framesOf();
  const some = await framesOf({ types: ["output_text_delta", "session_ended"] });
  expect(some).toEqual(all.filter(({ type }) => type === "output_text_delta" || type === "session_ended"));
  const url = `${daemon.url}/v1/sessions/${session.id}/events?dialect=frames&types=output_text_delta`;
  const headers = { authorization: `Bearer ${daemon.token}` };
  expect((await fetch(url, { headers })).headers.get("dragoman-seq")).toBe("unfiltered");
  await expect(framesOf({ types: ["output_delta"] })).rejects.toThrow('There is no type "output_delta"');
});

it("comes to its end when the end of the session is not among the types", async () => {
  const all = await framesOf();
  const some = await framesOf({ types: ["output_text_delta"] });
  expect(some.length).toBeGreaterThan(0);
  expect(some).toEqual(all.filter(({ type }) => type === "output_text_delta"));
  expect(await framesOf({ types: ["output_text_delta"], after: events.at(-2)?.sequence ?? 0 })).toEqual([]);
  const said = await collect(session.messages({ types: ["turn.ended"] }));
  expect(new Set(said.map(({ sequence }) => sequence))).toEqual(
    new Set(events.flatMap(({ type, sequence }) => (type === "turn.ended" ? [sequence] : []))),
  );
});

it("reads the same frames page by page, and in both versions", async () => {
  const all = await framesOf();
  const paged: unknown[] = [];
  for (let after = 0; ; ) {
    const page = await session.page({ dialect: "frames", after, limit: 7 });
    paged.push(...page.events);
    if (!page.has_more) break;
    after = page.next;
  }
  expect(paged).toEqual(all);
  const first = (await framesOf({ version: 1 })).map((frame) => ("stream_id" in frame ? "" : frame.session_id));
  expect(new Set(first)).toEqual(new Set([uuidOf(session.id)]));
  await expect(framesOf({ version: 3 })).rejects.toThrow("There is no version");
});

it("a tool that was asked for and interrupted has an end", async () => {
  const asking = await daemon.client.createSession({ agent: "mock" });
  const { turn_id } = await asking.send("ask");
  for await (const event of asking.events({ types: ["permission.requested"] })) if (event.sequence > 0) break;
  await asking.interrupt();
  await asking.outcome(turn_id);
  await asking.terminate();
  const frames = (await collect(asking.dialect("frames"))) as Frame[];
  const tools = frames.filter(({ type }) => type.startsWith("tool_"));
  expect(tools.map(({ type }) => type)).toEqual(["tool_started", "tool_failed"]);
});

it("streams a turn with the native messages, of the types and in the dialect that were asked for", async () => {
  const talking = await daemon.client.createSession({ agent: "mock" });
  const stream = async (query: string): Promise<Record<string, unknown>[]> => {
    const response = await fetch(`${daemon.url}/v1/sessions/${talking.id}/messages/stream?${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" },
      body: JSON.stringify({ message: "say one" }),
    });
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    return lines.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
  };
  expect((await stream("include_raw=true")).some(({ raw }) => raw !== null)).toBe(true);
  expect(new Set((await stream("types=item.delta,turn.ended")).map(({ type }) => type))).toEqual(
    new Set(["item.delta", "turn.ended"]),
  );
  const words = await stream("dialect=frames&version=1&types=output_text_delta");
  expect(words.map(({ delta }) => delta)).toEqual(["one"]);
  expect((await stream("dialect=messages")).at(-1)).toMatchObject({ type: "result" });
  await talking.terminate();
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
