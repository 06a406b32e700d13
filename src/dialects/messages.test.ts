// Each test names the gap (1–10) or the drop point (drop 1–25) of older message protocols that the dialect closes.
import { describe, expect, it } from "vitest";
import type { ContentPart } from "../schema/content.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { MessageContext } from "./message-context.ts";
import { messagesDialect, messagesOf } from "./messages.ts";
import { eventOf, itemOf } from "./test-events.ts";
import type { UnifiedMessage } from "./unified-message.ts";

const one = (event: UniversalEvent): UnifiedMessage => {
  const messages = messagesOf(event, new MessageContext());
  expect(messages).toHaveLength(1);
  return messages[0] as UnifiedMessage;
};
const whole = (fields: Partial<Item>): UnifiedMessage => one(eventOf("item.completed", { item: itemOf(fields) }));
const said = (...content: ContentPart[]) => whole({ content }).content;

it("carries where it stands in the log, so that a page can resume after any message", () => {
  const event = eventOf("session.status", { status: "idle" }, 12);
  expect(one(event)).toMatchObject({ id: "evt_12", sequence: 12, session_id: "s1", timestamp: 1893456000250 });
  const lines = messagesDialect.open({ kind: "session", id: "s1" }).lines({ json: JSON.stringify(event) });
  expect(lines).toEqual([{ type: "status_change", json: JSON.stringify(one(event)) }]);
});

it("carries the native message when it was asked for", () => {
  expect(one({ ...eventOf("auth.status", { status: "ok" }), raw: { any: 1 } }).metadata.raw).toEqual({ any: 1 });
  expect(one(eventOf("auth.status", { status: "ok" })).metadata).not.toHaveProperty("raw");
});

describe("session_init", () => {
  it("[gap 6] tells what the session began with", () => {
    expect(one(eventOf("session.started", { metadata: { agent: "claude-sdk" } }))).toMatchObject({
      type: "session_init",
      metadata: { agent: "claude-sdk", native_session_id: "native-1" },
    });
  });
});

describe("assistant", () => {
  it("[gap 1] says thinking as thinking", () => {
    expect(said({ type: "reasoning", text: "hm", visibility: "public" })).toEqual([
      { type: "thinking", thinking: "hm", visibility: "public" },
    ]);
  });

  it("[gap 9] says a refusal as a refusal, without a prefix in the text", () => {
    expect(said({ type: "refusal", text: "I cannot." })).toEqual([{ type: "refusal", refusal: "I cannot." }]);
  });

  it("[gap 10, D25] keeps code and images", () => {
    expect(
      said({ type: "code", code: "1 + 1", language: "ts" }, { type: "image", path: "/v1/artifacts/a", mime: "image/png" }),
    ).toEqual([
      { type: "code", code: "1 + 1", language: "ts" },
      { type: "image", source: "/v1/artifacts/a", media_type: "image/png" },
    ]);
  });

  it("[drop 4] makes no part into empty text", () => {
    const parts: ContentPart[] = [
      { type: "json", json: { a: 1 } },
      { type: "audio", path: "/v1/artifacts/b", mime: "audio/wav" },
      { type: "status", label: "Tests", detail: "3 of 10" },
      { type: "plan", entries: [{ text: "Look", status: "pending" }] },
      { type: "resource", uri: "file:///a", text: "a" },
      { type: "file_ref", path: "a.txt", action: "patch", diff: "-a\n+b\n" },
    ];
    expect(said(...parts).map((part) => part.type)).toEqual(["json", "audio", "status", "plan", "resource", "file"]);
    expect(said(...parts).some((part) => part.type === "text")).toBe(false);
  });

  it("[gap 7, D6] has the tool calls of an answer that was not streamed", () => {
    const content: ContentPart[] = [{ type: "tool_call", call_id: "c1", name: "shell", arguments: '{"command":"ls"}' }];
    const message = whole({ kind: "tool_call", content });
    expect(message).toMatchObject({ type: "assistant", subtype: "tool_use", metadata: { tool_use_id: "c1" } });
    expect(message.content[0]).toMatchObject({ type: "tool_use", id: "c1", name: "shell", input: { command: "ls" } });
  });

  it("stands under the call of the sub-agent that said it", () => {
    expect(whole({ parent_id: "itm_call" }).parent_id).toBe("itm_call");
  });
});

describe("user_message", () => {
  it("[drop 2] is what a person sent, whoever echoes it", () => {
    expect(whole({ role: "user", content: [{ type: "text", text: "hi" }] })).toMatchObject({
      type: "user_message",
      role: "user",
      content: [{ type: "text", text: "hi" }],
    });
  });
});

describe("tool_use_summary", () => {
  it("[gap 7, D6] has the output, the exit code and where the rest lies", () => {
    const artifact = { artifact_id: "a", path: "/v1/artifacts/a", bytes: 9 };
    const content: ContentPart[] = [
      { type: "tool_result", call_id: "c1", output: "boom", is_error: true, exit_code: 3, duration_ms: 12, artifact },
    ];
    expect(whole({ kind: "tool_result", role: "tool", content, status: "failed" })).toMatchObject({
      type: "tool_use_summary",
      role: "tool",
      content: [
        { tool_use_id: "c1", content: "boom", is_error: true, exit_code: 3, duration_ms: 12, artifact: "/v1/artifacts/a" },
      ],
      metadata: { is_error: true, tool_use_id: "c1" },
    });
  });

  it("ends a background task", () => {
    expect(one(eventOf("task.status", { task_id: "t1", status: "exited", exit_code: 0 })).type).toBe("tool_use_summary");
    expect(one(eventOf("task.cancelled", { task_id: "t1", reason: "enough" }))).toMatchObject({
      type: "tool_use_summary",
      metadata: { status: "cancelled", tool_use_id: "t1" },
    });
  });
});

describe("tool_progress", () => {
  it("[drop 18] tells a call that is still pending", () => {
    const content: ContentPart[] = [{ type: "tool_call", call_id: "c1", name: "shell", arguments: "{}" }];
    const item = itemOf({ kind: "tool_call", content, status: "in_progress", completed_at: null });
    expect(one(eventOf("item.started", { item }))).toMatchObject({
      type: "tool_progress",
      subtype: "pending",
      metadata: { tool_use_id: "c1", status: "in_progress" },
    });
  });

  it("[gap 6] streams a tool's output", () => {
    const data = { item_id: "itm_2", native_item_id: "c1", part_index: 0, part_type: "tool_output" as const, delta: "line\n" };
    expect(one(eventOf("item.delta", data))).toMatchObject({
      type: "tool_progress",
      subtype: "output_delta",
      metadata: { output: "line\n", native_item_id: "c1" },
    });
  });

  it("[drop 20] follows the terminals an agent runs through its client", () => {
    const task = { task_id: "t1", tool_name: "terminal", args: {}, execution_mode: "pipes" as const };
    expect(one(eventOf("task.spawned", task)).type).toBe("tool_progress");
    expect(one(eventOf("task.output", { task_id: "t1", stream: "stdout", chunk: "hi" })).type).toBe("tool_progress");
    expect(one(eventOf("task.status", { task_id: "t1", status: "running" })).type).toBe("tool_progress");
  });
});

describe("stream_event", () => {
  const delta = (part_type: "text" | "reasoning" | "refusal" | "tool_arguments") =>
    one(eventOf("item.delta", { item_id: "i", native_item_id: null, part_index: 0, part_type, delta: "x" }));

  it("[gap 1] streams thinking in the content, with the flags older pages look for", () => {
    expect(delta("reasoning")).toMatchObject({
      type: "stream_event",
      subtype: "thinking_delta",
      content: [{ type: "thinking", thinking: "x" }],
      metadata: { reasoning: true, thought: true },
    });
  });

  it("[gap 6, gap 9] streams text, refusals and arguments, each as what it is", () => {
    expect([delta("text"), delta("refusal"), delta("tool_arguments")].map(({ type, subtype }) => `${type}/${subtype}`)).toEqual([
      "stream_event/text_delta",
      "stream_event/refusal_delta",
      "stream_event/input_json_delta",
    ]);
  });
});

describe("result", () => {
  it("has the usage of the turn", () => {
    const usage = { input_tokens: 1, output_tokens: 2, cost_usd: 0.1 };
    expect(one(eventOf("turn.ended", { turn_id: "t", stop_reason: "end_turn", usage }))).toMatchObject({
      type: "result",
      metadata: { is_error: false, usage, turn_id: "t" },
    });
  });

  const codes = [
    "provider_auth",
    "api_error",
    "context_overflow",
    "output_length",
    "aborted",
    "rate_limit",
    "max_turns",
    "max_budget",
    "execution_error",
    "unknown",
  ] as const;
  it.each(codes)("[gap 2] says %s with the canonical fields", (error_code) => {
    const { metadata } = one(eventOf("turn.ended", { turn_id: "t", stop_reason: "error", error_code }));
    expect(metadata).toMatchObject({ is_error: true, error_code, error_source: "agent" });
    expect(metadata.error_message).toMatch(/\.$/);
  });

  it("[gap 2] gives limits and faults without a code a code", () => {
    const codeOf = (stop_reason: "error" | "max_turns" | "max_budget" | "output_length") =>
      one(eventOf("turn.ended", { turn_id: "t", stop_reason })).metadata.error_code;
    expect([codeOf("error"), codeOf("max_turns"), codeOf("max_budget"), codeOf("output_length")]).toEqual([
      "unknown",
      "max_turns",
      "max_budget",
      "output_length",
    ]);
  });
});

describe("status_change", () => {
  it("[gap 2] has the agent's own words about a fault, and where it arose", () => {
    const details = { error_source: "provider" as const, native_code: 429, retryable: true };
    expect(one(eventOf("error", { message: "slow down", code: "rate_limit", details }))).toMatchObject({
      type: "status_change",
      subtype: "error",
      metadata: {
        is_error: true,
        error_code: "rate_limit",
        error_message: "slow down",
        error_source: "provider",
        native_code: 429,
      },
    });
  });

  it("[gap 8, D17] marks where steps begin and end", () => {
    expect(one(eventOf("step.started", { step_id: "p", turn_id: "t" }))).toMatchObject({
      type: "status_change",
      subtype: "step.started",
      metadata: { step_id: "p" },
    });
    expect(one(eventOf("step.ended", { step_id: "p", turn_id: "t", cost_usd: 0.01 })).metadata.cost_usd).toBe(0.01);
  });

  it("[gap 6] tells status, usage, limits and the start of a turn", () => {
    expect(one(eventOf("session.status", { status: "retrying", attempt: 2 })).metadata).toMatchObject({ attempt: 2 });
    expect(one(eventOf("usage.updated", { scope: "turn", input_tokens: 1, output_tokens: 2 })).type).toBe("status_change");
    expect(one(eventOf("limits.updated", { windows: [] })).type).toBe("status_change");
    expect(one(eventOf("turn.started", { turn_id: "t", initiator: "agent" })).metadata.initiator).toBe("agent");
  });

  it("shows a plan", () => {
    const content: ContentPart[] = [{ type: "plan", entries: [{ text: "Look", status: "completed" }] }];
    expect(whole({ kind: "status", role: null, content })).toMatchObject({ type: "status_change", subtype: "plan" });
  });
});

describe("permission_request and permission_response", () => {
  const metadata = { tool_name: "shell", input: {}, call_id: "c1", item_id: null, options: [] };
  const permission = { permission_id: "p1", action: "Run: ls", metadata };

  it("asks", () => {
    expect(one(eventOf("permission.requested", { ...permission, status: "requested" }))).toMatchObject({
      type: "permission_request",
      metadata: { request_id: "p1", tool_name: "shell", tool_use_id: "c1" },
    });
  });

  it("[drop 8] tells everybody what was answered, whoever answered", () => {
    const resolved = { ...permission, status: "approved" as const, metadata: { ...metadata, reply: "once" as const } };
    expect(one(eventOf("permission.resolved", resolved))).toMatchObject({
      type: "permission_response",
      role: "user",
      metadata: { request_id: "p1", status: "approved", reply: "once" },
    });
  });

  it("asks questions the same way", () => {
    const question = { question_id: "q1", prompt: "Which?", options: ["a"], response: null, questions: [] };
    expect(one(eventOf("question.requested", { ...question, status: "requested" }))).toMatchObject({
      type: "permission_request",
      subtype: "question",
    });
    expect(one(eventOf("question.resolved", { ...question, status: "answered", answers: [["a"]] }))).toMatchObject({
      type: "permission_response",
      subtype: "question",
      metadata: { request_id: "q1", answers: [["a"]] },
    });
  });
});

describe("interrupt", () => {
  it("tells that somebody stopped the turn, and then its result", () => {
    const messages = messagesOf(eventOf("turn.ended", { turn_id: "t", stop_reason: "interrupted" }, 9), new MessageContext());
    expect(messages.map(({ id, type }) => `${id} ${type}`)).toEqual(["evt_9 interrupt", "evt_9.2 result"]);
    expect(messages[1]?.metadata).toMatchObject({ is_error: true, error_code: "aborted" });
  });

  it("tells that somebody wants a task stopped", () => {
    expect(one(eventOf("task.cancel_requested", { task_id: "t1", reason: "enough" })).type).toBe("interrupt");
  });
});

describe("configuration_change", () => {
  it("[gap 3, D21] is told to everybody", () => {
    expect(one(eventOf("config.changed", { model: "m2" }))).toMatchObject({
      type: "configuration_change",
      subtype: "model_update",
      metadata: { model: "m2" },
    });
    expect(one(eventOf("config.changed", { permission_mode: "plan" })).subtype).toBe("current_mode_update");
  });

  it("[gap 5, D19] has the commands an agent offers now", () => {
    expect(one(eventOf("config.changed", { commands: [{ name: "help" }] }))).toMatchObject({
      subtype: "available_commands_update",
      metadata: { commands: [{ name: "help" }] },
    });
  });

  it("has the skills", () => {
    expect(one(eventOf("skill.catalog_updated", { count: 1, roots: [] })).type).toBe("configuration_change");
    expect(one(eventOf("skill.loaded", { name: "g", path: "p", digest: "d", frontmatter: {} })).type).toBe(
      "configuration_change",
    );
    expect(one(eventOf("skill.invoked", { name: "g", mode: "auto" })).type).toBe("tool_progress");
    expect(one(eventOf("skill.warning", { kind: "k", detail: "d" })).type).toBe("status_change");
  });
});

describe("session_lifecycle", () => {
  it("[gap 4, D9] tells that the context was compacted", () => {
    expect(one(eventOf("session.compacted", { trigger: "auto", pre_tokens: 9 }))).toMatchObject({
      type: "session_lifecycle",
      subtype: "session.compacted",
      metadata: { pre_tokens: 9 },
    });
  });

  it("[gap 4, D10, D11, D13] tells what became known of the session", () => {
    expect(one(eventOf("session.updated", { title: "New", metadata: { diff: "d" } }))).toMatchObject({
      type: "session_lifecycle",
      metadata: { title: "New", metadata: { diff: "d" } },
    });
  });

  it("[gap 4, D12] tells the end", () => {
    expect(one(eventOf("session.ended", { reason: "error", terminated_by: "agent", exit_code: 1 }))).toMatchObject({
      type: "session_lifecycle",
      metadata: { reason: "error", exit_code: 1 },
    });
  });

  it("[gap 4, D14, D15] takes back what the agent took back", () => {
    expect(one(eventOf("item.removed", { item_id: "i", native_item_id: null, reason: "rolled back" }))).toMatchObject({
      type: "session_lifecycle",
      subtype: "message_removed",
      metadata: { item_id: "i", reason: "rolled back" },
    });
  });

  it("tells checkpoints and artifacts", () => {
    const checkpoint = {
      checkpoint_id: "c",
      label: "l",
      created_at: "2030-01-01T00:00:00Z",
      files: [],
      auto: true,
      tool_name: null,
    };
    expect(one(eventOf("checkpoint.created", checkpoint)).type).toBe("session_lifecycle");
    expect(one(eventOf("artifact.written", { artifact_id: "a", kind: "text", bytes: 1, digest: "sha256:0" })).type).toBe(
      "session_lifecycle",
    );
  });
});

describe("control_response", () => {
  it("answers a request to go back", () => {
    expect(one(eventOf("checkpoint.rewound", { checkpoint_id: "c", label: "l", files: ["a"] })).type).toBe("control_response");
    expect(one(eventOf("checkpoint.failed", { action: "rewind", error: "gone" }))).toMatchObject({
      type: "control_response",
      metadata: { error: "gone" },
    });
  });
});

describe("auth_status and teams", () => {
  it("tells whether the agent is signed in, for every agent", () => {
    expect(one(eventOf("auth.status", { status: "required", url: "https://x" }))).toMatchObject({
      type: "auth_status",
      metadata: { status: "required", url: "https://x" },
    });
  });

  it("routes what teams say and do", () => {
    expect(one(eventOf("team.message", { from: "a", to: "b", text: "t" })).type).toBe("team_message");
    expect(one(eventOf("team.task_updated", { task_id: "1", status: "done" })).type).toBe("team_task_update");
    expect(one(eventOf("team.state_changed", { members: [] })).type).toBe("team_state_change");
  });
});

describe("unknown", () => {
  it("[D3, D5, D16, D19, D24] is told, with what is known about it", () => {
    expect(one(eventOf("agent.unparsed", { error: "no JSON", location: "stdout" }))).toMatchObject({
      type: "unknown",
      metadata: { error: "no JSON", location: "stdout" },
    });
    expect(one(eventOf("agent.notice", { name: "hook_ran", detail: 1 }))).toMatchObject({
      type: "unknown",
      metadata: { name: "hook_ran", detail: 1 },
    });
    expect(whole({ kind: "unknown", role: null, content: [{ type: "json", json: 1 }] }).type).toBe("unknown");
  });
});

describe("what stands before", () => {
  const lines = (...events: UniversalEvent[]): UnifiedMessage[] => {
    const context = new MessageContext();
    return events.flatMap((event) => messagesOf(event, context));
  };
  const grown = (part_type: "text" | "reasoning", part_index = 0): UniversalEvent =>
    eventOf("item.delta", { item_id: "itm_1", native_item_id: null, part_index, part_type, delta: "hi" });

  it.each(["user", "system", "assistant"] as const)("gives deltas of the text of %s their role", (role) => {
    const begun = eventOf("item.started", { item: itemOf({ role, status: "in_progress" }) });
    expect(lines(begun, grown("text"))[1]).toMatchObject({ type: "stream_event", subtype: "text_delta", role });
  });

  it("says of reasoning whether it is meant to be shown", () => {
    const content: ContentPart[] = [
      { type: "reasoning", text: "", visibility: "public" },
      { type: "reasoning", text: "", visibility: "private" },
    ];
    const begun = eventOf("item.started", { item: itemOf({ content, status: "in_progress" }) });
    const said = lines(begun, grown("reasoning", 0), grown("reasoning", 1)).slice(1);
    expect(said.map((message) => message.content[0])).toMatchObject([{ visibility: "public" }, { visibility: "private" }]);
  });

  it("gives a result the source and the words of the error of its turn", () => {
    const details = { error_source: "provider" as const };
    const fault = eventOf("error", { message: "429: slow down", code: "rate_limit", details });
    const ended = eventOf("turn.ended", { turn_id: "t", stop_reason: "error", error_code: "rate_limit" });
    expect(lines(fault, ended)[1]?.metadata).toMatchObject({ error_source: "provider", error_message: "429: slow down" });
    const next = eventOf("turn.started", { turn_id: "t2", initiator: "client" });
    expect(lines(fault, next, ended)[2]?.metadata).toMatchObject({ error_source: "agent" });
  });

  it("tells a change of model, mode and commands as three", () => {
    const changed = eventOf("config.changed", {
      model: "m",
      permission_mode: "plan",
      commands: [{ name: "help" }],
      tools: ["a"],
    });
    expect(lines(changed).map(({ id, subtype, metadata }) => [id, subtype, Object.keys(metadata)[0]])).toEqual([
      ["evt_7", "current_mode_update", "permission_mode"],
      ["evt_7.2", "model_update", "model"],
      ["evt_7.3", "available_commands_update", "commands"],
      ["evt_7.4", "config.changed", "tools"],
    ]);
  });

  it("knows what an agent did with its own session", () => {
    expect(lines(eventOf("agent.notice", { name: "session.deleted", detail: { session_id: "a" } }))[0]).toMatchObject({
      type: "session_lifecycle",
      subtype: "session.deleted",
    });
  });
});
