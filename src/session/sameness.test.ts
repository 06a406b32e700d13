// What the session does for every agent so that the same thing looks the same: each test sends drafts as a translator would, and reads the events.
import { describe, expect, it } from "vitest";
import { mapped } from "../agents/translation.ts";
import type { Draft, DraftPart } from "../schema/draft.ts";
import type { EventOf, UniversalEvent } from "../schema/event.ts";
import type { EventType } from "../schema/event-data.ts";
import { Grammar } from "../schema/grammar.ts";
import { carryOut } from "./decision.ts";
import { EventWriter, jsonOf, type LogEntry } from "./event-writer.ts";
import { countingIds, isoClock } from "./ids.ts";
import { Scribe } from "./scribe.ts";

/** A session that gets native messages one by one, at times of the test's choice. */
class Told {
  readonly events: UniversalEvent[] = [];
  readonly natives: (number | null)[] = [];
  readonly broken: string[] = [];
  readonly scribe: Scribe;
  readonly #grammar = new Grammar({ strict: true });
  #now = 0;
  #native = 0;

  constructor() {
    const sink = { append: (entry: LogEntry) => this.#keep(entry) };
    const writer = new EventWriter({ sessionId: "s", sink, ids: countingIds(), clock: isoClock(() => this.#now) });
    const put = (bytes: Buffer) => ({
      artifact_id: "art_1",
      path: "/v1/artifacts/art_1",
      bytes: bytes.length,
      digest: "sha256:1",
    });
    this.scribe = new Scribe(writer, { put });
    this.scribe.begin({});
  }

  #keep(entry: LogEntry): void {
    const event = JSON.parse(jsonOf(entry)) as UniversalEvent;
    this.events.push(event);
    this.natives.push(entry.native);
    this.broken.push(...this.#grammar.check(event, entry.native).map(({ rule, message }) => `${rule} ${message}`));
  }

  at(ms: number): this {
    this.#now = ms;
    return this;
  }

  agent(...drafts: Draft[]): this {
    this.scribe.translation(mapped("s", "x", drafts), ++this.#native, true, null);
    return this;
  }

  client(work: (scribe: Scribe) => void): this {
    work(this.scribe);
    return this;
  }

  of<T extends EventType>(type: T): EventOf<T>["data"][] {
    return this.events.filter((event): event is EventOf<T> & UniversalEvent => event.type === type).map(({ data }) => data);
  }

  /** Event types with what they are about. */
  get story(): string[] {
    return this.events.slice(1).map((event) => {
      if (!("item" in event.data)) return event.type;
      const { kind, status } = event.data.item;
      return `${event.type} ${kind}${event.type === "item.completed" ? ` ${status}` : ""}`;
    });
  }
}

const START: Draft = { do: "turn.start", initiator: "client" };
const message = (key: string, ...content: DraftPart[]): Draft => ({
  do: "item.start",
  item: { key, native_item_id: `n-${key}`, kind: "message", role: "assistant", content },
});
const call = (key: string, change: { parent?: string; name?: string; tool_kind?: "skill"; arguments?: string } = {}): Draft => ({
  do: "item.start",
  item: {
    key,
    native_item_id: `n-${key}`,
    parent: change.parent ?? null,
    kind: "tool_call",
    role: "assistant",
    content: [
      {
        type: "tool_call",
        name: change.name ?? "t",
        arguments: change.arguments ?? "{}",
        call_id: key,
        ...(change.tool_kind ? { tool_kind: change.tool_kind } : {}),
      },
    ],
  },
});
const result = (key: string, change: object = {}): Draft => ({
  do: "item.add",
  item: {
    key: `${key}:r`,
    kind: "tool_result",
    role: "tool",
    content: [{ type: "tool_result", call_id: key, output: "out", ...change }],
  },
});
const delta = (key: string, text: string): Draft => ({ do: "item.delta", key, part_type: "text", delta: text, part_index: 0 });
const end = (stop_reason: Extract<Draft, { do: "turn.end" }>["stop_reason"] = "end_turn"): Draft => ({
  do: "turn.end",
  stop_reason,
});
const ask = (key: string): Draft => ({
  do: "permission.request",
  key: `ask:${key}`,
  action: "Run",
  tool_name: "t",
  input: {},
  call_id: key,
  item: key,
  options: [
    { id: "a", label: "Always", kind: "allow_always" },
    { id: "o", label: "Once", kind: "allow_once" },
    { id: "n", label: "No", kind: "reject_once" },
  ],
  native: null,
});

describe("a session keeps the sameness rules for every agent", () => {
  it("[U1] a call without a message gets an empty one, and its result the same; calls of one answer share it", () => {
    const told = new Told()
      .agent(START, call("a"))
      .agent(call("b"))
      .agent(result("a"))
      .agent(result("b"))
      .agent(call("c"), result("c"), end());
    const parents = told.of("item.started").flatMap(({ item }) => (item.kind === "message" ? [] : [item.parent_id]));
    expect(new Set(parents.slice(0, 4)).size).toBe(1);
    expect(parents[4]).not.toBe(parents[0]);
    expect(told.events.filter((event) => event.type === "item.started" && event.data.item.kind === "message")).toMatchObject([
      { source: "daemon", data: { item: { content: [], role: "assistant" } } },
      { source: "daemon" },
    ]);
    expect(told.broken).toEqual([]);
  });

  it("[U2] what a person sent is told in its turn: a command before what it does, a refused message before the end", () => {
    const promised = (turn_id: string, text: string, command: boolean) => ({ turn_id, message_id: turn_id, text, command });
    const queue = (message: { message_id: string; turn_id: string; text: string }) => (scribe: Scribe) => {
      scribe.writer.emit("message.queued", message, { source: "daemon", native: null });
      scribe.turns.promise(message);
    };
    const told = new Told().client(queue(promised("t1", "/compact", true)));
    told.agent(START).agent(message("m", { type: "text", text: "Compacted" }), end());
    told
      .client(queue(promised("t2", "hi", false)))
      .agent(START)
      .agent(end("error"));
    const items = told.of("item.completed").map(({ item }) => [item.role, item.status, item.turn_id]);
    expect(items).toEqual([
      ["user", "completed", "t1"],
      ["assistant", "completed", "t1"],
      ["user", "failed", "t2"],
    ]);
    expect(told.broken).toEqual([]);
  });

  it("[U3] a call ends right before its result with the same status, whatever the agent says of it", () => {
    const told = new Told().agent(START, message("m"), call("a", { parent: "m" }), { do: "item.complete", key: "m" });
    told.agent({ do: "item.complete", key: "a", status: "completed" }, result("a", { is_error: true, exit_code: 3 }), end());
    expect(told.story.slice(-5)).toEqual([
      "item.started tool_result",
      "item.completed tool_call failed",
      "item.completed tool_result failed",
      "turn.ended",
      "session.status",
    ]);
    expect(told.broken).toEqual([]);
  });

  it("[U3] every result says whether it failed, also where the agent leaves that out", () => {
    const told = new Told().agent(START, call("a")).agent(result("a", {}), end());
    expect(told.of("item.completed").at(-1)?.item.content).toMatchObject([{ type: "tool_result", is_error: false }]);
  });

  it("[U3] a call that is cut off has a failed result of the daemon, without exit code and duration", () => {
    const told = new Told().agent(START, call("a")).at(500).agent(end("interrupted"));
    const completed = told.of("item.completed").map(({ item }) => item);
    expect(completed.map(({ kind, status }) => [kind, status])).toEqual([
      ["message", "completed"],
      ["tool_call", "failed"],
      ["tool_result", "failed"],
    ]);
    expect(completed[2]?.content).toEqual([
      { type: "tool_result", call_id: "a", output: "The call was cut short: the agent gave no result.", is_error: true },
    ]);
    expect(told.broken).toEqual([]);
  });

  it("[U3] text that the agent ends with its cut turn failed", () => {
    const told = new Told().agent(START, message("m")).agent(delta("m", "Half"));
    told.agent({ do: "item.complete", key: "m" }, end("interrupted"));
    expect(told.of("item.completed").map(({ item }) => item.status)).toEqual(["failed"]);
  });

  it.each([0, -1])("[U4] an error has no exit code of %i, and a duration no wait for a person", (exit_code) => {
    const answer = { status: "approved", resolved_by: "client" } as const;
    const told = new Told().agent(START, call("a")).at(1_000).agent(ask("a")).at(6_000);
    told.client(({ requests }) => requests.resolvePermission("ask:a", answer, { source: "daemon", native: null }));
    told.at(6_250).agent(result("a", { is_error: true, exit_code }));
    expect(told.of("item.completed").at(-1)?.item.content).toEqual([
      { type: "tool_result", call_id: "a", output: "out", is_error: true, duration_ms: 1_250 },
    ]);
    expect(told.broken).toEqual([]);
  });

  it.each([
    [5_200, 200],
    [200, 200],
  ])("[U4] a duration of %i ms around a wait of 5 s is told as %i", (duration_ms, expected) => {
    const answer = { status: "approved", resolved_by: "client" } as const;
    const told = new Told().agent(START, call("a")).agent(ask("a")).at(5_000);
    told.client(({ requests }) => requests.resolvePermission("ask:a", answer, { source: "daemon", native: null }));
    told.at(5_200).agent(result("a", { duration_ms }));
    expect(told.of("item.completed").at(-1)?.item.content).toMatchObject([{ duration_ms: expected }]);
  });

  it("[U5] starts that the agent never said are the daemon's, and statuses it said are its own", () => {
    const told = new Told().agent(START, { do: "status", status: { status: "retrying", attempt: 1 } });
    told.agent(message("m", { type: "text", text: "Hi" }), { do: "item.complete", key: "m" });
    const sources = told.events.map(({ type, source }) => `${type} ${source}`);
    expect(sources).toContain("item.started daemon");
    expect(sources).toContain("item.completed agent");
    expect(told.events.find(({ type }) => type === "session.status")).toMatchObject({
      source: "agent",
      data: { status: "retrying" },
    });
    expect(told.broken).toEqual([]);
  });

  it("[U6] a message is completed before its call is asked about, and what follows continues it", () => {
    const told = new Told()
      .agent(START, message("m"))
      .agent(delta("m", "One. "), call("a", { parent: "m" }))
      .agent(ask("a"));
    told.agent({ do: "permission.resolve", key: "ask:a", status: "approved", resolved_by: "client" });
    told.agent(result("a")).agent(delta("m", "Two."));
    told.agent({ do: "item.complete", key: "m", content: [{ type: "text", text: "One. Two." }] }, end());
    const texts = told.of("item.completed").flatMap(({ item }) => (item.kind === "message" ? [item.content] : []));
    expect(texts).toEqual([[{ type: "text", text: "One. " }], [{ type: "text", text: "Two." }]]);
    expect(told.story.indexOf("item.completed message completed")).toBeLessThan(told.story.indexOf("permission.requested"));
    expect(told.broken).toEqual([]);
  });

  it("[U6] a call that has its result is asked about no more, and what the agent says of that later changes nothing", () => {
    const told = new Told()
      .agent(START, call("a"))
      .agent(ask("a"))
      .agent(result("a", { is_error: true }));
    told.agent({ do: "permission.resolve", key: "ask:a", status: "approved", resolved_by: "client" });
    expect(told.of("permission.resolved")).toMatchObject([{ status: "denied", metadata: { resolved_by: "agent" } }]);
    expect(told.story.indexOf("permission.resolved")).toBeLessThan(told.story.indexOf("item.completed tool_result failed"));
    expect(told.broken).toEqual([]);
  });

  it("[U6] a call that ends with its turn is asked about no more; one that goes on still is", () => {
    const told = new Told()
      .agent(START, call("a"), call("b"), { do: "item.update", key: "b", outlives_turn: true })
      .agent(ask("a"))
      .agent(ask("b"));
    told.agent(end());
    expect(told.of("permission.resolved")).toMatchObject([
      { status: "denied", metadata: { call_id: "a", resolved_by: "agent" } },
    ]);
    expect(told.story.indexOf("permission.resolved")).toBeLessThan(told.story.indexOf("item.completed tool_call completed"));
    expect(told.broken).toEqual([]);
  });

  it("[U6] nor is one that is cut with its turn; what goes on in the background still asks, and is answered", () => {
    const told = new Told()
      .agent(START, call("a"), call("b"), { do: "item.update", key: "b", outlives_turn: true })
      .agent(ask("a"))
      .agent(ask("b"));
    told.agent(end("interrupted"));
    expect(told.of("permission.resolved")).toMatchObject([
      { status: "denied", metadata: { call_id: "a", resolved_by: "agent" } },
    ]);
    told.agent({ do: "permission.resolve", key: "ask:b", status: "approved", resolved_by: "client" });
    expect(told.of("permission.resolved").at(-1)).toMatchObject({ status: "approved", metadata: { call_id: "b" } });
    expect(told.broken).toEqual([]);
  });

  it("[U7] a finished item that is removed keeps its native id", () => {
    const told = new Told()
      .agent(START, message("m"), { do: "item.complete", key: "m" })
      .agent({ do: "item.remove", key: "m", reason: "x" });
    expect(told.of("item.removed")).toMatchObject([{ native_item_id: "n-m" }]);
    expect(told.broken).toEqual([]);
  });

  it("[U17] a message that is removed goes with the item that continues it, and with all below when that is said", () => {
    const told = new Told().agent(START, message("m"), { do: "item.delta", key: "m", part_type: "text", delta: "One" });
    told.agent(call("a", { parent: "m" }));
    told.agent(ask("a"));
    told.agent({ do: "item.delta", key: "m", part_type: "text", delta: "Two" });
    told.agent({ do: "item.start", item: { key: "s", parent: "a", kind: "message", role: "assistant" } });
    told.agent({ do: "permission.resolve", key: "ask:a", status: "denied", resolved_by: "agent" });
    told.agent({ do: "item.remove", key: "m", reason: "x", below: true });
    expect(told.of("item.removed")).toHaveLength(told.of("item.started").length);
    expect(told.of("item.started").length).toBeGreaterThan(3);
    expect(told.broken).toEqual([]);
  });

  it("[U8] text that came whole is told when its message is completed, and at a call that follows it", () => {
    const told = new Told().agent(START, message("m", { type: "text", text: "Whole" }));
    told.agent({ do: "event", type: "agent.notice", data: { name: "between" } }, call("a", { parent: "m" }));
    expect(told.story.slice(-4)).toEqual([
      "agent.notice",
      "item.delta",
      "item.completed message completed",
      "item.started tool_call",
    ]);
    expect(told.broken).toEqual([]);
  });

  it("[U2] a message that stands in the ledger is told before its answer, though the agent shows none", () => {
    const sent = { turn_id: "turn_x", text: "/review", command: true };
    const told = new Told()
      .client((scribe) => carryOut(scribe, { do: "promise", message: sent }))
      .agent(START, message("m"), end());
    expect(told.of("turn.started")).toMatchObject([{ turn_id: "turn_x" }]);
    expect(told.of("item.completed").map(({ item }) => item.role)).toEqual(["user", "assistant"]);
    expect(told.broken).toEqual([]);
  });

  it("[U8] the rest of a streamed text that came whole is told when its message is completed", () => {
    const told = new Told().agent(START, message("m"), { do: "item.delta", key: "m", part_type: "text", delta: "Wh" });
    told.agent({ do: "item.update", key: "m", content: [{ type: "text", text: "Whole" }] });
    told.agent({ do: "event", type: "agent.notice", data: { name: "between" } }).agent({ do: "item.complete", key: "m" });
    expect(told.story.slice(-3)).toEqual(["agent.notice", "item.delta", "item.completed message completed"]);
    expect(told.broken).toEqual([]);
  });

  it("[U3] a call that comes again in another item has a result again", () => {
    const told = new Told().agent(START, call("a"), result("a"));
    const again = call("a");
    if (again.do === "item.start") again.item.key = "again";
    told.agent(again, { do: "item.complete", key: "again" }, end("end_turn"));
    expect(told.of("item.completed").filter(({ item }) => item.kind === "tool_result")).toHaveLength(2);
    expect(told.broken).toEqual([]);
  });

  it("[U3] two open calls of one id end once each", () => {
    const twin = call("a");
    if (twin.do === "item.start") twin.item.key = "twin";
    const told = new Told().agent(START, call("a"), twin);
    told.agent({ do: "item.complete", key: "a" }, { do: "item.complete", key: "twin" });
    expect(told.of("item.completed").filter(({ item }) => item.kind === "tool_call")).toHaveLength(2);
    expect(told.broken).toEqual([]);
  });

  it("[U9] options are offered in one order", () => {
    const told = new Told().agent(START, call("a"), ask("a"));
    expect(told.of("permission.requested")[0]?.metadata.options.map(({ id }) => id)).toEqual(["o", "a", "n"]);
  });

  it("[U10] a plan is a status item of the assistant", () => {
    const content: DraftPart[] = [{ type: "plan", entries: [] }];
    const told = new Told().agent(START, { do: "item.add", item: { key: "p", kind: "status", role: null, content } });
    expect(told.of("item.completed")[0]?.item).toMatchObject({ kind: "status", role: "assistant" });
    expect(told.broken).toEqual([]);
  });

  it("[U10] any other status is nobody's", () => {
    const content: DraftPart[] = [{ type: "status", label: "Review started", detail: null }];
    const told = new Told().agent(START, { do: "item.add", item: { key: "s", kind: "status", role: "system", content } });
    expect(told.of("item.completed")[0]?.item).toMatchObject({ kind: "status", role: null });
    expect(told.broken).toEqual([]);
  });

  it("[U11] the call of a skill tool is the use of a skill, once, when its name is known", () => {
    const told = new Told().agent(START, call("a", { tool_kind: "skill", arguments: "" }));
    expect(told.of("skill.invoked")).toEqual([]);
    told.agent({ do: "item.delta", key: "a", part_type: "tool_arguments", delta: '{"skill":"pdf","args":"x"}' });
    told.agent({ do: "item.complete", key: "a" }, result("a"));
    expect(told.of("skill.invoked")).toEqual([{ name: "pdf", args: "x", mode: "auto" }]);
    expect(told.broken).toEqual([]);
  });

  it("[U11] so is a call of the daemon's own tool for skills, also where only its answer names the skill", () => {
    const named = new Told().agent(START, call("a", { name: "dragoman_skills_use_skill", arguments: '{"name":"pdf"}' }));
    expect(named.of("skill.invoked")).toEqual([{ name: "pdf", mode: "auto" }]);
    const told = new Told().agent(START, call("a", { name: "mcp_dragoman_skills_use_skill", arguments: "{}" }), call("b"));
    const given = (key: string): Draft => ({
      do: "item.add",
      item: {
        key: `${key}:result`,
        kind: "tool_result",
        role: "tool",
        content: [{ type: "tool_result", call_id: key, output: '<skill_content name="pdf" directory="/d">' }],
      },
    });
    told.agent(given("b"));
    expect(told.of("skill.invoked")).toEqual([]);
    told.agent(given("a"));
    expect(told.of("skill.invoked")).toEqual([{ name: "pdf", mode: "auto" }]);
  });

  it("[U12] what follows from a native message has it, and so has the answer to a request and the end after an exit", () => {
    const answer = { status: "denied", resolved_by: "client" } as const;
    const told = new Told().agent(START, message("m")).agent(call("a", { parent: "m" }), ask("a"));
    told.client(({ requests }) => requests.resolvePermission("ask:a", answer, { source: "daemon", native: null }));
    told.agent(end("interrupted"));
    told.client((scribe) => {
      scribe.exited = 9;
      scribe.afterExit(() => scribe.end({ reason: "error", terminated_by: "agent" }));
    });
    const nativeOf = (type: EventType) => told.natives[told.events.findLastIndex((event) => event.type === type)];
    expect(nativeOf("permission.resolved")).toBe(2);
    expect(nativeOf("item.completed")).toBe(3);
    expect(nativeOf("session.status")).toBe(3);
    expect(nativeOf("session.ended")).toBe(9);
    expect(told.broken).toEqual([]);
  });

  it("[U13] an interrupt is no error, and an answer over the limit is one", () => {
    const error = (code: "aborted" | "api_error"): Draft => ({
      do: "error",
      error: { message: "x", code, details: { error_source: "agent" } },
    });
    const told = new Told().agent(START, error("aborted"), end("interrupted")).agent(START, end("output_length"));
    expect(told.of("error").map(({ code }) => code)).toEqual(["output_length"]);
    expect(told.broken).toEqual([]);
  });

  it("[U14] a failed sign-in is told once in a turn, before its error", () => {
    const error: Draft = {
      do: "error",
      error: { message: "401", code: "provider_auth", details: { error_source: "provider", native_code: 401 } },
    };
    const auth: Draft = { do: "event", type: "auth.status", data: { status: "required", message: "Sign in" } };
    const told = new Told().agent(START, error, end("error")).agent(START, error, auth, end("error"));
    expect(told.events.flatMap(({ type }) => (type === "error" || type === "auth.status" ? [type] : []))).toEqual([
      "auth.status",
      "error",
      "auth.status",
      "error",
    ]);
    expect(told.of("auth.status").map(({ message }) => message)).toEqual(["401", "Sign in"]);
    expect(told.broken).toEqual([]);
  });

  it("[U15] metadata and details get snake_case keys, and MCP servers one word for a state", () => {
    const told = new Told().agent(
      { do: "event", type: "session.updated", data: { metadata: { projectID: "p", account: { apiKeySource: "x" } } } },
      { do: "event", type: "agent.notice", data: { name: "n", detail: { firstUnread: 1 } } },
      { do: "event", type: "config.changed", data: { mcp_servers: [{ name: "m", status: "ready" }] } },
    );
    expect(told.of("session.updated")).toEqual([{ metadata: { project_id: "p", account: { api_key_source: "x" } } }]);
    expect(told.of("agent.notice")).toEqual([{ name: "n", detail: { first_unread: 1 } }]);
    expect(told.of("config.changed")).toEqual([{ mcp_servers: [{ name: "m", status: "connected" }] }]);
    expect(told.broken).toEqual([]);
  });
});

it("[D5] an artifact that a growing message names again and again is reported once", () => {
  const told = new Told();
  const picture = { type: "media", media: "image", mime: "image/png", base64: "aGk=" } as const;
  const text = (value: string) => ({ type: "text", text: value }) as const;
  told.agent(
    { do: "turn.start", initiator: "client" },
    { do: "item.start", item: { key: "m", kind: "message", role: "assistant" } },
  );
  told.agent({ do: "item.update", key: "m", content: [picture] });
  told.agent({ do: "item.update", key: "m", content: [picture, text("that was it")] });
  told.agent({ do: "item.complete", key: "m" });
  expect(told.of("artifact.written")).toHaveLength(1);
  expect(told.broken).toEqual([]);
});

it("[U3] of several turns that one message ends, only the cut one has a failed answer", () => {
  const told = new Told();
  told.agent({ do: "turn.start", initiator: "client" });
  for (const delta of ["All ", "said."]) told.agent({ do: "item.delta", key: "m", part_type: "text", delta });
  told.agent(
    { do: "item.complete", key: "m" },
    { do: "turn.end", stop_reason: "end_turn" },
    { do: "turn.start", initiator: "client" },
    { do: "turn.end", stop_reason: "interrupted" },
  );
  expect(told.of("item.completed").map(({ item }) => item.status)).toEqual(["completed"]);
});

it("the same status with other words is news, with the same words it is not", () => {
  const told = new Told();
  told.agent({ do: "turn.start", initiator: "client" });
  for (const detail of ["half of it", "half of it", "nearly all"])
    told.agent({ do: "status", status: { status: "compacting", detail } });
  const details = told.of("session.status").flatMap(({ detail }) => detail ?? []);
  expect(details).toEqual(["half of it", "nearly all"]);
});
