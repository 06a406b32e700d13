import { describe, expect, it } from "vitest";
import type { ContentPart } from "./content.ts";
import type { UniversalEvent } from "./event.ts";
import type { EventDataOf } from "./event-data.ts";
import { checkGrammar, Grammar } from "./grammar.ts";
import type { Item } from "./item.ts";
import { snakeKeys } from "./snake-case.ts";
import { streamOfEvents, type Told } from "./test-stream.ts";

const stream = (...told: Told[]): UniversalEvent[] => streamOfEvents(["session.started", { metadata: {} }, "daemon"], ...told);

const item = (item_id: string, change: Partial<Item> = {}): Item => ({
  item_id,
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
const started = (id: string, change: Partial<Item> = {}): Told => ["item.started", { item: item(id, change) }];
const done = (id: string, change: Partial<Item> = {}): Told => [
  "item.completed",
  { item: item(id, { status: "completed", ...change }) },
];
const call: ContentPart = { type: "tool_call", name: "Bash", arguments: "{}", call_id: "c" };
const result = (change: Partial<Extract<ContentPart, { type: "tool_result" }>> = {}): ContentPart => ({
  type: "tool_result",
  call_id: "c",
  output: "",
  ...change,
});
const CALL: Partial<Item> = { kind: "tool_call", parent_id: "m", content: [call] };
const RESULT: Partial<Item> = { kind: "tool_result", role: "tool", parent_id: "m" };
const MESSAGE: Told[] = [started("m"), done("m")];
const turn = (message_id?: string): Told => [
  "turn.started",
  { turn_id: "t", initiator: "client", ...(message_id ? { message_id } : {}) },
];
const ended = (stop_reason: EventDataOf["turn.ended"]["stop_reason"] = "end_turn"): Told => [
  "turn.ended",
  { turn_id: "t", stop_reason },
];
const error = (code: EventDataOf["error"]["code"], native_code: string | number | null = null): Told => [
  "error",
  { message: "x", code, details: { error_source: "provider", native_code } },
];
const broken = (...told: Told[]): string[] => [
  ...new Set(checkGrammar(stream(...told), { strict: true }).map(({ rule }) => rule)),
];

describe("the sameness rules", () => {
  it("have nothing to say about a good turn, and are checked in strict mode only", () => {
    const good: Told[] = [
      turn(),
      started("u", { role: "user", turn_id: "t" }),
      done("u", { role: "user", turn_id: "t" }),
      ...MESSAGE,
      started("k", CALL),
      started("r", { ...RESULT, content: [result()] }),
      done("k", CALL),
      done("r", { ...RESULT, content: [result({ exit_code: 0 })] }),
      ended(),
    ];
    expect(broken(...good)).toEqual([]);
    expect(checkGrammar(stream(started("k", { ...CALL, parent_id: null })))).toEqual([]);
  });

  it("[U1] a call without a parent", () => expect(broken(started("k", { ...CALL, parent_id: null }))).toEqual(["U1"]));

  it("[U2] a client's message that is told late, or never", () => {
    const queued: Told = ["message.queued", { message_id: "q", turn_id: "t", text: "a" }];
    const user: Told[] = [started("u", { role: "user" }), done("u", { role: "user" })];
    expect(broken(queued, turn("q"), ...MESSAGE, ...user, ended())).toEqual(["U2"]);
    expect(broken(queued, turn("q"), ...user, ...MESSAGE, ended())).toEqual([]);
    expect(broken(queued, turn("q"), ...MESSAGE, ended())).toEqual(["U2"]);
  });

  it("[U3] a call without a result, a result that failed without saying so, and two statuses", () => {
    const open: Told[] = [turn(), ...MESSAGE, started("k", CALL)];
    expect(broken(...open, done("k", CALL), ended())).toEqual(["U3"]);
    const answered: Told[] = [...open, started("r", { ...RESULT, content: [result()] })];
    expect(broken(...answered, done("r", { ...RESULT, status: "failed", content: [result()] }))).toEqual(["U3"]);
    const failed: Partial<Item> = { ...RESULT, status: "failed", content: [result({ is_error: true })] };
    expect(broken(...answered, done("k", CALL), done("r", failed))).toEqual(["U3"]);
    expect(broken(...answered, done("k", { ...CALL, status: "failed" }), done("r", failed))).toEqual([]);
  });

  it.each([0, -1])("[U4] an exit code of %i beside an error", (exit_code) => {
    const content = [result({ is_error: true, exit_code })];
    expect(
      broken(
        ...MESSAGE,
        started("k", CALL),
        started("r", { ...RESULT, content: [result()] }),
        done("r", { ...RESULT, status: "failed", content }),
      ),
    ).toEqual(["U4"]);
  });

  it("[U5] [U12] a start and an end of one native message, and an event of the agent without one", () => {
    const grammar = new Grammar({ strict: true });
    const natives = [null, 7, 7];
    const rules = stream(...MESSAGE).flatMap((event, at) => grammar.check(event, natives[at]).map(({ rule }) => rule));
    expect(rules).toEqual(["U5"]);
    expect(
      new Grammar({ strict: true }).check(stream(started("m"))[1] as UniversalEvent, null).map(({ rule }) => rule),
    ).toContain("U12");
  });

  it("[U6] a message that is open while its call is answered", () =>
    expect(broken(started("m"), started("k", CALL), started("r", { ...RESULT, content: [result()] }))).toEqual(["U6"]));

  it("[U7] a removal that forgot the native id", () =>
    expect(
      broken(started("m", { native_item_id: "n" }), ["item.removed", { item_id: "m", native_item_id: null, reason: "x" }]),
    ).toEqual(["U7"]));

  it("[U8] something between a synthetic delta and the end of its item", () => {
    const delta: Told = [
      "item.delta",
      { item_id: "m", native_item_id: null, part_index: 0, part_type: "text", delta: "a" },
      "daemon",
    ];
    const text = { content: [{ type: "text", text: "a" } as const] };
    expect(broken(started("m"), delta, done("m", text))).toEqual([]);
    expect(broken(started("m"), delta, ["session.status", { status: "running" }], done("m", text))).toEqual(["U8"]);
  });

  it("[U9] options in an order of the agent's own", () => {
    const options = (["allow_always", "allow_once"] as const).map((kind) => ({ id: kind, label: kind, kind }));
    const metadata = { tool_name: "Bash", input: {}, call_id: null, item_id: null, options };
    expect(broken(["permission.requested", { permission_id: "p", action: "x", status: "requested", metadata }])).toEqual(["U9"]);
  });

  it("[U10] a plan of nobody", () => {
    const content = [{ type: "plan" as const, entries: [] }];
    expect(
      broken(started("p", { kind: "status", role: null, content }), done("p", { kind: "status", role: null, content })),
    ).toEqual(["U10"]);
  });

  it("[U10] a status of somebody", () => {
    const status = (role: "system" | null) => {
      const item = { kind: "status" as const, role, content: [{ type: "status" as const, label: "Sub-agent", detail: null }] };
      return broken(started("s", item), done("s", item));
    };
    expect(status("system")).toEqual(["U10"]);
    expect(status(null)).toEqual([]);
  });

  it("[U11] a skill that only its call tells", () => {
    const content = [{ ...call, tool_kind: "skill" as const }];
    expect(broken(...MESSAGE, started("k", { ...CALL, content }), done("k", { ...CALL, content }))).toEqual(["U11"]);
  });

  it("[U13] an interrupt that is an error, and an output limit that is none", () => {
    expect(broken(turn(), error("aborted"), ended("interrupted"))).toEqual(["U13"]);
    expect(broken(turn(), ended("output_length"))).toEqual(["U13"]);
    expect(broken(turn(), error("output_length"), ended("output_length"))).toEqual([]);
    expect(broken(turn(), error("output_length"), ended("error"))).toEqual(["U13"]);
  });

  it("[U14] a 401 without auth.status, and a status with another code", () => {
    expect(broken(turn(), error("provider_auth"))).toEqual(["U14"]);
    expect(broken(turn(), ["auth.status", { status: "required" }], error("provider_auth"))).toEqual([]);
    expect(broken(turn(), error("api_error", 413))).toEqual(["U14"]);
    expect(broken(turn(), error("context_overflow", 413))).toEqual([]);
  });

  it("[U15] camelCase in data, but not in what is an agent's own", () => {
    expect(broken(["session.updated", { metadata: { projectID: "x" } }])).toEqual(["U15"]);
    expect(broken(["agent.notice", { name: "x", detail: { input: { projectID: "x" } } }])).toEqual([]);
    expect(snakeKeys({ projectID: 1, apiKeySource: [{ firstUnread: 2 }], "src/aB.ts": 3, input: { aB: 4 } })).toEqual({
      project_id: 1,
      api_key_source: [{ first_unread: 2 }],
      "src/aB.ts": 3,
      input: { aB: 4 },
    });
  });
});
