import { describe, expect, it } from "vitest";
import type { EventDataOf } from "./event-data.ts";
import { checkGrammar } from "./grammar.ts";
import type { Item } from "./item.ts";
import { streamOfEvents, type Told } from "./test-stream.ts";

const item = (change: Partial<Item> = {}): Item => ({
  item_id: "i1",
  native_item_id: null,
  parent_id: null,
  kind: "message",
  role: "assistant",
  content: [],
  status: "in_progress",
  turn_id: null,
  started_at: "2026-01-01T00:00:00.000Z",
  completed_at: null,
  ...change,
});

const STARTED: Told = ["session.started", { metadata: {} }];
const delta = (text: string, part_index = 0): Told => [
  "item.delta",
  { item_id: "i1", native_item_id: null, part_index, part_type: "text", delta: text },
];
const completed = (text: string): Told => [
  "item.completed",
  { item: item({ status: "completed", content: [{ type: "text", text }] }) },
];
const queued = (message_id: string): Told => ["message.queued", { message_id, turn_id: `turn_${message_id}`, text: "a" }];
const broken = (...said: Told[]): string[] => checkGrammar(streamOfEvents(...said)).map(({ rule }) => rule);

describe("the grammar", () => {
  it("has nothing to say about a good session", () => {
    expect(
      checkGrammar(
        streamOfEvents(
          STARTED,
          ["turn.started", { turn_id: "t", initiator: "client" }],
          ["step.started", { step_id: "s1", turn_id: "t" }],
          ["item.started", { item: item({ turn_id: "t" }) }],
          delta("He"),
          delta("llo"),
          completed("Hello"),
          ["step.ended", { step_id: "s1", turn_id: "t" }],
          ["turn.ended", { turn_id: "t", stop_reason: "end_turn" }],
          ["session.ended", { reason: "completed", terminated_by: "agent" }],
        ),
      ),
    ).toEqual([]);
  });

  it("[G1] every event is schema-valid", () => {
    const bad = { reason: "bored", terminated_by: "agent" } as unknown as EventDataOf["session.ended"];
    expect(broken(STARTED, ["session.ended", bad])).toEqual(["G1"]);
  });

  it("[G1] the sequence has no gap", () => {
    const events = streamOfEvents(STARTED, ["agent.notice", { name: "a" }], ["agent.notice", { name: "b" }]);
    expect(checkGrammar(events.filter((_, index) => index !== 1)).map(({ rule }) => rule)).toEqual(["G1"]);
  });

  it("[G1] synthetic means that the daemon says it", () => {
    const events = streamOfEvents(STARTED).map((event) => ({ ...event, synthetic: true }));
    expect(checkGrammar(events).map(({ rule }) => rule)).toEqual(["G1"]);
  });

  it("[G2] session.started is first and once, session.ended last", () => {
    expect(broken(["agent.notice", { name: "early" }])).toEqual(["G2"]);
    expect(broken(STARTED, STARTED)).toEqual(["G2"]);
    expect(
      broken(STARTED, ["session.ended", { reason: "completed", terminated_by: "agent" }], ["agent.notice", { name: "late" }]),
    ).toEqual(["G2"]);
  });

  it("[G3] an item is started once, completed once, and nothing follows", () => {
    expect(broken(STARTED, delta("x"))).toEqual(["G3"]);
    expect(broken(STARTED, ["item.started", { item: item() }], ["item.started", { item: item() }])).toEqual(["G3"]);
    expect(broken(STARTED, ["item.started", { item: item() }], completed(""), delta("x"))).toEqual(["G3"]);
    expect(
      broken(
        STARTED,
        ["item.started", { item: item() }],
        ["item.removed", { item_id: "i1", native_item_id: null, reason: "r" }],
        completed(""),
      ),
    ).toEqual(["G3"]);
  });

  it("[G4] deltas add up to the final text", () => {
    expect(broken(STARTED, ["item.started", { item: item() }], delta("Hel"), completed("Hello"))).toEqual(["G4"]);
    expect(broken(STARTED, ["item.started", { item: item() }], completed("Hello"))).toEqual(["G4"]);
    expect(broken(STARTED, ["item.started", { item: item({ content: [{ type: "text", text: "H" }] }) }])).toEqual(["G4"]);
  });

  it("[G4] a replacement sets what the next deltas add to", () => {
    const replaced: Told = ["item.updated", { item: item({ content: [{ type: "text", text: "Good" }] }) }];
    expect(
      broken(STARTED, ["item.started", { item: item() }], delta("Bad"), replaced, delta("bye"), completed("Goodbye")),
    ).toEqual([]);
  });

  it("[G5] a parent was announced earlier", () => {
    expect(broken(STARTED, ["item.started", { item: item({ parent_id: "nobody" }) }])).toEqual(["G5"]);
  });

  it("[G6] a result answers a call", () => {
    const content: Item["content"] = [{ type: "tool_result", call_id: "c", output: "" }];
    expect(broken(STARTED, ["item.started", { item: item({ kind: "tool_result", role: "tool", content }) }])).toEqual(["G6"]);
  });

  it("[G6] a request is resolved exactly once", () => {
    const metadata = { tool_name: "shell", input: {}, call_id: null, item_id: null, options: [] };
    const asked: Told = ["permission.requested", { permission_id: "p", action: "Run", status: "requested", metadata }];
    const denied: Told = ["permission.resolved", { permission_id: "p", action: "Run", status: "denied", metadata }];
    expect(broken(STARTED, asked, denied)).toEqual([]);
    expect(broken(STARTED, asked, denied, denied)).toEqual(["G6"]);
    expect(broken(STARTED, denied)).toEqual(["G6"]);
  });

  it("[G7] turns do not overlap, steps and messages end inside them", () => {
    const turn = (turn_id: string): Told => ["turn.started", { turn_id, initiator: "client" }];
    const end: Told = ["turn.ended", { turn_id: "t", stop_reason: "end_turn" }];
    expect(broken(STARTED, turn("t"), turn("u"))).toEqual(["G7"]);
    expect(broken(STARTED, end)).toEqual(["G7"]);
    expect(broken(STARTED, ["step.started", { step_id: "s", turn_id: "t" }])).toEqual(["G7"]);
    expect(broken(STARTED, turn("t"), ["step.started", { step_id: "s", turn_id: "t" }], end)).toEqual(["G7"]);
    expect(broken(STARTED, turn("t"), ["item.started", { item: item({ turn_id: "t" }) }], end)).toEqual(["G7"]);
  });

  it("[G7] a command may outlive its turn", () => {
    const call = item({
      kind: "tool_call",
      turn_id: "t",
      content: [{ type: "tool_call", name: "sh", arguments: "{}", call_id: "c" }],
    });
    expect(
      broken(
        STARTED,
        ["turn.started", { turn_id: "t", initiator: "client" }],
        ["item.started", { item: call }],
        ["turn.ended", { turn_id: "t", stop_reason: "end_turn" }],
        ["item.completed", { item: { ...call, status: "completed" } }],
      ),
    ).toEqual([]);
  });

  it("[G8] nothing is open when a session ends", () => {
    const ended: Told = ["session.ended", { reason: "terminated", terminated_by: "daemon" }];
    expect(
      broken(
        STARTED,
        ["turn.started", { turn_id: "t", initiator: "agent" }],
        ["item.started", { item: item({ turn_id: "t" }) }],
        ended,
      ),
    ).toEqual(["G8", "G8"]);
  });

  it("[G8] the queue is empty when a session ends", () => {
    const ended: Told = ["session.ended", { reason: "terminated", terminated_by: "daemon" }];
    const removed: Told = ["message.removed", { message_id: "m", reason: "session_ended" }];
    expect(broken(STARTED, queued("m"), ended)).toEqual(["G8"]);
    expect(broken(STARTED, queued("m"), removed, ended)).toEqual([]);
  });

  it("[G9] a message is queued once, and changed or removed only while it waits", () => {
    const updated: Told = ["message.updated", { message_id: "m", text: "b" }];
    const removed: Told = ["message.removed", { message_id: "m", reason: "client" }];
    expect(broken(STARTED, queued("m"), updated, removed)).toEqual([]);
    expect(broken(STARTED, queued("m"), queued("m"))).toEqual(["G9"]);
    expect(broken(STARTED, updated)).toEqual(["G9"]);
    expect(broken(STARTED, queued("m"), removed, removed)).toEqual(["G9"]);
    expect(broken(STARTED, queued("m"), removed, queued("m"))).toEqual(["G9"]);
  });

  it("[G9] the turn of a queued message names it, and takes it out of the queue", () => {
    const turn = (more: object, turn_id = "turn_m"): Told => ["turn.started", { turn_id, initiator: "client", ...more }];
    const removed: Told = ["message.removed", { message_id: "m", reason: "client" }];
    expect(broken(STARTED, queued("m"), turn({ message_id: "m" }))).toEqual([]);
    expect(broken(STARTED, queued("m"), turn({ message_id: "m" }), removed)).toEqual(["G9"]);
    expect(broken(STARTED, turn({ message_id: "m" }))).toEqual(["G9"]);
    expect(broken(STARTED, queued("m"), turn({}))).toEqual(["G9"]);
    expect(broken(STARTED, queued("m"), turn({ message_id: "m" }, "turn_other"))).toEqual(["G9"]);
  });
});
