import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mapped } from "../agents/translation.ts";
import type { ContentPart } from "../schema/content.ts";
import type { Draft, DraftPart } from "../schema/draft.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { foldItems } from "../schema/projection/item-projection.ts";
import { SessionProjection } from "../schema/projection/session-projection.ts";
import { seedOf } from "../test-seed.ts";
import { EventWriter, jsonOf, type LogEntry } from "./event-writer.ts";
import { countingIds } from "./ids.ts";
import { Scribe } from "./scribe.ts";

const SEED = seedOf(20_261_115);

/** A scribe whose events are kept, and a function that lets the agent say drafts. */
function desk() {
  const events: UniversalEvent[] = [];
  const sink = { append: (entry: LogEntry) => void events.push(JSON.parse(jsonOf(entry)) as UniversalEvent) };
  const writer = new EventWriter({ sessionId: "s", sink, ids: countingIds(), clock: () => "2026-01-01T00:00:00.000Z" });
  const artifacts = {
    put: (bytes: Buffer) => ({ artifact_id: "art_1", path: "/v1/artifacts/art_1", bytes: bytes.length, digest: "sha256:1" }),
  };
  const scribe = new Scribe(writer, artifacts);
  scribe.begin({});
  const agent = (...drafts: Draft[]) => scribe.translation(mapped("s", "x", drafts), 1, true, null);
  return { scribe, events, agent };
}

const text = (value: string): DraftPart => ({ type: "text", text: value });
const message = (key: string, ...content: DraftPart[]): Draft => ({
  do: "item.start",
  item: { key, kind: "message", role: "assistant", content },
});
const types = (events: UniversalEvent[]) => events.map((event) => event.type);

describe("the scribe", () => {
  it("[G3] makes a stub start, by the daemon, for a delta of an item never announced", () => {
    const { events, agent } = desk();
    agent({ do: "item.delta", key: "m", part_type: "text", delta: "hi" });
    expect(events.slice(1).map(({ type, source }) => [type, source])).toEqual([
      ["item.started", "daemon"],
      ["item.delta", "agent"],
    ]);
  });

  it("[G4] gives a whole message one synthetic delta just before its completion", () => {
    const { events, agent } = desk();
    agent({ do: "item.add", item: { key: "m", kind: "message", role: "assistant", content: [text("Hello")] } });
    expect(events.slice(1).map(({ type, source }) => [type, source])).toEqual([
      ["item.started", "daemon"],
      ["item.delta", "daemon"],
      ["item.completed", "agent"],
    ]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it("[G4] adds the missing tail when the final text is longer than what was streamed", () => {
    const { events, agent } = desk();
    agent(
      { do: "item.delta", key: "m", part_type: "text", delta: "Hel" },
      { do: "item.complete", key: "m", content: [text("Hello")] },
    );
    expect(events.flatMap((event) => (event.type === "item.delta" ? [event.data.delta] : []))).toEqual(["Hel", "lo"]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it("[G4] replaces the item when the final text contradicts what was streamed", () => {
    const { events, agent } = desk();
    agent(
      { do: "item.delta", key: "m", part_type: "text", delta: "wrong" },
      { do: "item.complete", key: "m", content: [text("right")] },
    );
    expect(types(events)).toEqual(["session.started", "item.started", "item.delta", "item.updated", "item.completed"]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it("streams output that comes as an ever longer whole", () => {
    const { events, agent } = desk();
    const result = (output: string): ContentPart => ({ type: "tool_result", call_id: "c", output });
    agent(
      {
        do: "item.start",
        item: {
          key: "c",
          kind: "tool_call",
          role: "assistant",
          content: [{ type: "tool_call", name: "sh", arguments: "{}", call_id: "c" }],
        },
      },
      { do: "item.start", item: { key: "r", kind: "tool_result", role: "tool", content: [result("")] } },
      { do: "item.update", key: "r", content: [result("a\n")] },
      { do: "item.update", key: "r", content: [result("a\n")] },
      { do: "item.update", key: "r", content: [result("a\nb\n")] },
    );
    expect(events.flatMap((event) => (event.type === "item.delta" ? [event.data.delta] : []))).toEqual(["a\n", "b\n"]);
  });

  it("[G6] makes the call for a result that answers none, and closes a call with its result", () => {
    const { events, agent } = desk();
    agent({ do: "item.complete", key: "r", content: [{ type: "tool_result", call_id: "c", output: "x" }] });
    expect(foldItems(events).map(({ kind, status }) => [kind, status])).toEqual([
      ["message", "completed"],
      ["tool_call", "completed"],
      ["tool_result", "completed"],
    ]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it("[G7] closes the open items of a turn that was cut short, but not what outlives it", () => {
    const { events, agent } = desk();
    const call = (key: string, outlives_turn: boolean): Draft => ({
      do: "item.start",
      item: {
        key,
        kind: "tool_call",
        role: "assistant",
        outlives_turn,
        content: [{ type: "tool_call", name: "sh", arguments: "{}", call_id: key }],
      },
    });
    agent({ do: "turn.start", initiator: "client" }, message("m"), call("short", false), call("long", true), {
      do: "turn.end",
      stop_reason: "interrupted",
    });
    expect(foldItems(events).map(({ status }) => status)).toEqual(["failed", "completed", "failed", "in_progress", "failed"]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it("[G7] takes a second start as the same turn, and another native id as a new one", () => {
    const { events, agent } = desk();
    agent(
      { do: "turn.start", initiator: "client" },
      { do: "turn.start", initiator: "agent", native_turn_id: "1" },
      { do: "turn.start", initiator: "agent", native_turn_id: "2" },
    );
    expect(types(events).filter((type) => type.startsWith("turn"))).toEqual(["turn.started", "turn.ended", "turn.started"]);
  });

  it("says each status once, and goes back to work after a retry", () => {
    const { events, agent } = desk();
    agent({ do: "turn.start", initiator: "client" });
    agent({ do: "status", status: { status: "retrying", attempt: 1 } });
    agent({ do: "status", status: { status: "retrying", attempt: 2 } });
    agent(message("m", text("ok")));
    agent({ do: "turn.end", stop_reason: "end_turn" });
    expect(events.flatMap((event) => (event.type === "session.status" ? [event.data.status] : []))).toEqual([
      "running",
      "retrying",
      "retrying",
      "running",
      "idle",
    ]);
  });

  it("reports the same failure once", () => {
    const { events, agent } = desk();
    const error: Draft = { do: "error", error: { message: "no", code: "api_error", details: { error_source: "provider" } } };
    agent({ do: "turn.start", initiator: "client" }, error, error);
    expect(types(events).filter((type) => type === "error")).toHaveLength(1);
  });

  it("[G8] closes everything before the session ends", () => {
    const { scribe, events, agent } = desk();
    agent(
      { do: "turn.start", initiator: "client" },
      { do: "step.start", key: "1" },
      message("m"),
      { do: "permission.request", key: "p", action: "Run", tool_name: "sh", input: {}, options: [], native: null },
      { do: "question.request", key: "q", questions: [], native: null },
    );
    scribe.end({ reason: "terminated", terminated_by: "daemon" });
    expect(checkGrammar(events)).toEqual([]);
    expect(events.at(-1)?.type).toBe("session.ended");
  });

  it("[S2] closes what a dead daemon left open, the message before its turn", () => {
    const { events, agent } = desk();
    agent({ do: "turn.start", initiator: "client" }, { do: "item.delta", key: "m", part_type: "text", delta: "half an ans" });
    const projection = new SessionProjection();
    for (const event of events) projection.apply(event);
    const sink = { append: (entry: LogEntry) => void events.push(JSON.parse(jsonOf(entry)) as UniversalEvent) };
    const writer = new EventWriter({
      sessionId: "s",
      sink,
      ids: countingIds("again"),
      clock: () => "2026-01-01T00:00:01.000Z",
      projection,
    });
    const successor = new Scribe(writer, { put: () => ({ artifact_id: "", path: "", bytes: 0, digest: "" }) });
    successor.cut("interrupted");
    expect(checkGrammar(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", data: { stop_reason: "interrupted" } });
  });

  it("never breaks the grammar, whatever a translator says", () => {
    const run = (drafts: Draft[][]): void => {
      const { scribe, events, agent } = desk();
      for (const group of drafts) agent(...group);
      scribe.end({ reason: "terminated", terminated_by: "daemon" });
      const violations = checkGrammar(events);
      if (violations.length > 0) throw new Error(JSON.stringify(violations[0]));
    };
    fc.assert(fc.property(fc.array(fc.array(anyDraft, { maxLength: 4 }), { maxLength: 30 }), run), { seed: SEED, numRuns: 1000 });
  });
});

const key = fc.constantFrom("a", "b", "c", "d");
const word = fc.constantFrom("", "x", "xy", "xyz", "other", "\u2028");
const callId = fc.constantFrom("1", "2", "3");
const anyPart: fc.Arbitrary<DraftPart> = fc.oneof(
  word.map((value): DraftPart => ({ type: "text", text: value })),
  word.map((value): DraftPart => ({ type: "reasoning", text: value, visibility: "public" })),
  fc.tuple(callId, word).map(([call_id, value]): DraftPart => ({ type: "tool_call", name: "t", arguments: value, call_id })),
  fc
    .tuple(callId, word)
    .map(([call_id, x]): DraftPart => ({ type: "tool_call", name: "t", arguments: JSON.stringify({ x }), call_id })),
  fc.tuple(callId, word).map(([call_id, output]): DraftPart => ({ type: "tool_result", call_id, output })),
  fc.constant<DraftPart>({ type: "plan", entries: [{ text: "a", status: "pending" }] }),
  fc.constant<DraftPart>({ type: "media", media: "image", mime: "image/png", base64: "AAAA" }),
);
const content = fc.array(anyPart, { maxLength: 3 });
const item = fc.record({
  key,
  kind: fc.constantFrom("message" as const, "tool_call" as const, "tool_result" as const, "status" as const),
  role: fc.constantFrom("user" as const, "assistant" as const, "tool" as const, null),
  parent: fc.option(key),
  content,
  outlives_turn: fc.boolean(),
});
const partType = fc.constantFrom(
  "text" as const,
  "reasoning" as const,
  "refusal" as const,
  "tool_arguments" as const,
  "tool_output" as const,
);
const anyDraft: fc.Arbitrary<Draft> = fc.oneof(
  item.map((each): Draft => ({ do: "item.start", item: each })),
  item.map((each): Draft => ({ do: "item.add", item: each })),
  fc.tuple(key, partType, word).map(([k, part_type, delta]): Draft => ({ do: "item.delta", key: k, part_type, delta })),
  fc
    .tuple(key, partType, word, fc.nat(3))
    .map(([k, part_type, delta, part_index]): Draft => ({ do: "item.delta", key: k, part_type, delta, part_index })),
  fc.tuple(key, content).map(([k, parts]): Draft => ({ do: "item.update", key: k, content: parts })),
  fc
    .tuple(key, fc.option(content))
    .map(([k, parts]): Draft => ({ do: "item.complete", key: k, ...(parts ? { content: parts } : {}) })),
  key.map((k): Draft => ({ do: "item.remove", key: k, reason: "r" })),
  key.map((k): Draft => ({ do: "item.remove", key: k, reason: "r", below: true })),
  fc
    .constantFrom("1", "2", undefined)
    .map((id): Draft => ({ do: "turn.start", initiator: "agent", ...(id ? { native_turn_id: id } : {}) })),
  fc
    .constantFrom("end_turn" as const, "interrupted" as const, "error" as const)
    .map((stop_reason): Draft => ({ do: "turn.end", stop_reason })),
  key.map((k): Draft => ({ do: "step.start", key: k })),
  key.map((k): Draft => ({ do: "step.end", key: k })),
  fc.tuple(key, key, word).map(
    ([k, item, x]): Draft => ({
      do: "permission.request",
      key: k,
      item,
      action: "Run",
      tool_name: "t",
      input: { x },
      options: [],
      native: null,
    }),
  ),
  key.map((k): Draft => ({ do: "permission.resolve", key: k, status: "denied", resolved_by: "agent" })),
  key.map((k): Draft => ({ do: "question.request", key: k, questions: [], native: null })),
  key.map((k): Draft => ({ do: "question.resolve", key: k, status: "rejected", resolved_by: "agent" })),
  fc
    .constantFrom("idle" as const, "retrying" as const, "compacting" as const)
    .map((status): Draft => ({ do: "status", status: { status } })),
);
