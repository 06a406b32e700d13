// What no version seen so far says: words that are not known, facts that are missing. The rest of the story goes on, and nothing is dropped unseen.
import { describe, expect, it } from "vitest";
import { SESSION, Wire } from "./test-wire.ts";

const text = (text: string) => ({ type: "text", text, time: { start: 1, end: 2 } });
const ended = (exit: number | null) => ({
  status: "completed",
  input: { command: "sleep 9" },
  output: "start",
  title: "sleep 9",
  metadata: { exit },
  time: { start: 1, end: 5 },
});
const ASKED = {
  id: "per_1",
  sessionID: SESSION,
  permission: "bash",
  patterns: ["ls"],
  metadata: { command: "ls" },
  always: [],
  tool: { messageID: "msg_a", callID: "call_t" },
};

describe("words nobody knows", () => {
  it.each([
    ["a part", new Wire().begun().part("msg_a", "x", { type: "hologram" })],
    ["a state of a tool", new Wire().begun().tool("msg_a", "x", "bash", { status: "queued", input: {} })],
    [
      "a piece of something else than text",
      new Wire()
        .begun()
        .part("msg_a", "p", text(""))
        .event("message.part.delta", { sessionID: SESSION, messageID: "msg_a", partID: "p", field: "metadata", delta: "{" }),
    ],
    [
      "a message of another role",
      new Wire().begun().event("message.updated", { sessionID: SESSION, info: { id: "m9", role: "tool", time: {} } }),
    ],
    [
      "a reply to a permission",
      new Wire()
        .begun()
        .event("permission.asked", ASKED)
        .event("permission.replied", { sessionID: SESSION, requestID: "per_1", reply: "maybe" }),
    ],
    ["a step of the newer routes", new Wire().begun().event("session.next.step.paused", { sessionID: SESSION })],
    ["a revert of the newer routes", new Wire().begun().event("session.next.revert.planned", { sessionID: SESSION })],
    ["a tool of the newer routes", new Wire().begun().event("session.next.tool.paused", { sessionID: SESSION, callID: "c" })],
  ])("%s is unparsed, once, and the turn goes on", (_, wire) => {
    const told = wire.delta("msg_a", "q", "Hello").part("msg_a", "q", text("Hello")).done("msg_a").idle().replay();
    expect(told.replay.unparsed).toHaveLength(1);
    expect(told.items.at(-1)).toMatch(/^assistant completed: (json\|)?Hello$/);
    expect(told.stops).toEqual(["end_turn"]);
    expect(told.replay.sessions.flatMap(({ violations }) => violations)).toEqual([]);
  });

  it("a part stands in its message as it came, in its place, and what follows it in its own", () => {
    const wire = new Wire().begun().delta("msg_a", "p", "See ").part("msg_a", "p", text("See "));
    wire.part("msg_a", "x", { type: "hologram", shape: 1 }).part("msg_a", "x", { type: "hologram", shape: 2 });
    wire.delta("msg_a", "q", "Nice").part("msg_a", "q", text("Nice"));
    const told = wire.done("msg_a").part("msg_a", "x", { type: "hologram", shape: 3 }).idle().replay();
    const json = { id: "x", messageID: "msg_a", sessionID: SESSION, type: "hologram", shape: 2 };
    expect(told.of("item.completed").at(-1)?.item.content).toEqual([
      { type: "text", text: "See " },
      { type: "json", json },
      { type: "text", text: "Nice" },
    ]);
    expect(told.replay.unparsed.map(({ error }) => error)).toEqual(Array(3).fill(expect.stringContaining("hologram")));
    expect(told.replay.sessions.flatMap(({ violations }) => violations)).toEqual([]);
  });

  it("a piece of such a part is no text of the message", () => {
    const wire = new Wire().begun().part("msg_a", "x", { type: "hologram" }).delta("msg_a", "x", "01").done("msg_a").idle();
    const told = wire.replay();
    expect(told.items.at(-1)).toBe("assistant completed: json");
    expect(told.replay.unparsed).toHaveLength(2);
  });

  it("the first part of a message, when it is not known, does not take the message's start with it", () => {
    const told = new Wire().begun().part("msg_a", "x", { type: "hologram" }).part("msg_a", "p", text("Hi")).done("msg_a").idle();
    const [started] = told
      .replay()
      .events.filter((event) => event.type === "item.started" && event.data.item.role === "assistant");
    expect(started).toMatchObject({ source: "agent", data: { item: { native_item_id: "msg_a" } } });
  });
});

describe("facts that are missing", () => {
  it.each([
    ["message.updated", {}],
    ["message.updated", { sessionID: SESSION, info: { role: "user" } }],
    ["message.part.updated", {}],
    ["message.part.updated", { sessionID: SESSION, part: { type: "text", text: "x" } }],
    ["message.part.delta", { sessionID: SESSION, delta: "x" }],
    ["session.compacted", {}],
    ["session.updated", { info: { title: "x" } }],
    ["permission.asked", { sessionID: SESSION, permission: "bash" }],
    ["question.asked", { sessionID: SESSION, questions: [] }],
    ["session.next.text.delta", { delta: "x" }],
  ])("%s %j is unparsed", (type, properties) => {
    const told = new Wire().begun().event(type, properties).done("msg_a").idle().replay();
    expect(told.replay.unparsed).toHaveLength(1);
    expect(told.replay.sessions).toHaveLength(1);
  });
});

describe("answers that were never written", () => {
  it("a message that ends without a word and without a finish is no item, one with a finish is", () => {
    const told = new Wire().begun().done("msg_a", null).assistant("msg_b").done("msg_b").idle().replay();
    expect(told.items).toEqual(["user completed: hi", "assistant completed: "]);
    expect(told.faults).toEqual([]);
  });
});

describe("the same on every route", () => {
  it("[U16] an event that two streams carry has a reason to be silent, whatever its type", () => {
    const wire = new Wire()
      .begun()
      .event("file.edited", { file: "/p/a" }, "evt_x")
      .event("file.edited", { file: "/p/a" }, "evt_x");
    expect(wire.done("msg_a").idle().replay().replay.unexplained).toEqual([]);
  });

  it.each([0, 3, null])("a command with the exit code %j has ended well, or not", (exit) => {
    const told = new Wire().begun().tool("msg_a", "t", "bash", ended(exit)).done("msg_a").idle().replay();
    const status = exit === 0 ? "completed" : "failed";
    expect(told.items).toContain(`tool_result ${status}: start`);
    expect(told.faults).toEqual([]);
  });
});

describe("files that lie elsewhere", () => {
  it("a file of a message has its name beside its address", () => {
    const file = { type: "file", mime: "text/plain", filename: "notes.txt", url: "https://example.test/n" };
    const told = new Wire().begun().part("msg_a", "f", file).done("msg_a").idle().replay();
    const part = { type: "resource", uri: "https://example.test/n", name: "notes.txt", mime: "text/plain" };
    expect(told.of("item.completed").at(-1)?.item.content).toEqual([part]);
  });
});
