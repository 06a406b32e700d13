// What the protocol allows and hardly an agent says: ids that repeat, words that are not known, sub-agents that ask, work that outlasts its turn.
import { describe, expect, it } from "vitest";
import { type Fault, faultOf } from "./errors.ts";
import { drafts, SESSION, Talk } from "./test-talk.ts";

const text = (value: string) => ({ type: "content", content: { type: "text", text: value } });
const OPTIONS = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const shell = (command: string, more: object = {}) => ({
  toolCallId: "c",
  title: command,
  kind: "execute",
  status: "pending",
  rawInput: { command },
  ...more,
});

const prompted = (version = 1): Talk => {
  const talk = Talk.with("x", {}, version);
  talk.prompt("go");
  return talk;
};
const calls = (talk: Talk) => talk.of("item.start").filter(({ item }) => item.kind === "tool_call");
const results = (talk: Talk) =>
  talk
    .of("item.add")
    .filter(({ item }) => item.kind === "tool_result")
    .map(({ item, status }) => ({ status, parts: item.content ?? [] }));
const outputs = (talk: Talk) =>
  results(talk).map(({ parts: [part] }) => (part?.type === "tool_result" ? part.output : undefined));

describe("ids of calls", () => {
  it("the id of a call that has ended, with other words, is another call", () => {
    const talk = prompted();
    for (const command of ["ls", "pwd"]) {
      talk.update("tool_call", shell(command));
      talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text(`${command} out`)] });
    }
    expect(calls(talk)).toHaveLength(2);
    expect(new Set(calls(talk).map(({ item }) => item.key)).size).toBe(2);
    expect(outputs(talk)).toEqual(["ls out", "pwd out"]);
  });

  it("the same announcement again is the same call, also after its end", () => {
    const talk = prompted();
    talk.update("tool_call", shell("ls"));
    talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
    talk.update("tool_call", shell("ls"));
    talk.update("tool_call", shell("ls", { status: "completed" }));
    expect(calls(talk)).toHaveLength(1);
  });

  it("[U6] a call that is asked about after its end runs once more", () => {
    const talk = prompted();
    talk.update("tool_call", shell("ls"));
    talk.update("tool_call_update", { toolCallId: "c", status: "failed", content: [text("the sandbox refused it")] });
    talk.request(0, "session/request_permission", { toolCall: shell("ls"), options: OPTIONS });
    talk.reply(0, { outcome: { outcome: "selected", optionId: "yes" } });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text("a.txt")] });
    expect(talk.of("permission.request")[0]?.item).toBe(calls(talk)[1]?.item.key);
    expect(outputs(talk)).toEqual(["the sandbox refused it", "a.txt"]);
  });

  it("a call without an id is not understood", () => {
    const talk = prompted();
    talk.update("tool_call", { title: "ls" });
    talk.update("tool_call_update", { status: "completed" });
    expect(talk.unparsed()).toHaveLength(2);
  });
});

describe("words nobody knows", () => {
  it("a status: the rest of the update counts", () => {
    const talk = prompted();
    talk.update("tool_call", shell("ls", { status: "queued" }));
    expect(calls(talk)).toHaveLength(1);
    expect(talk.unparsed()).toMatchObject([{ error: "status queued of a tool call" }]);
  });

  it("content of a result is kept as it is", () => {
    const talk = prompted();
    const strange = [
      { type: "content", content: { type: "hologram", x: 1 } },
      { type: "chart", data: [1] },
    ];
    talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text("out"), ...strange] });
    expect(results(talk)[0]?.parts).toMatchObject([
      { type: "tool_result", output: "out" },
      { type: "json", json: { type: "hologram" } },
      { type: "json", json: { type: "chart" } },
    ]);
    expect(talk.unparsed()).toMatchObject([{ error: "content block hologram, tool content chart" }]);
  });

  it.each([
    [42, "42"],
    [true, "true"],
    [["a", "b"], '["a","b"]'],
    [[{ path: "a" }], '[{"path":"a"}]'],
  ])("a raw output of %j is shown", (rawOutput, shown) => {
    const talk = prompted();
    talk.update("tool_call_update", { toolCallId: "c", kind: "read", status: "completed", rawOutput });
    expect(outputs(talk)).toEqual([shown]);
  });

  it("a block of a whole message is kept as it is", () => {
    const talk = prompted(2);
    const content = [{ type: "text", text: "hello" }, { type: "hologram" }];
    talk.update("agent_message", { messageId: "m", content });
    expect(talk.of("item.update").at(-1)?.content).toMatchObject([{ text: "hello" }, { type: "json" }]);
    expect(talk.unparsed()).toMatchObject([{ error: "content block hologram" }]);
  });

  it("a stop reason ends the turn all the same", () => {
    const talk = prompted();
    talk.answer({ stopReason: "pause_turn" });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "end_turn" }]);
    expect(talk.unparsed()).toMatchObject([{ error: "stop reason pause_turn" }]);
  });

  it("a state, and a stop reason in version 2", () => {
    const talk = prompted(2);
    talk.update("state_update", { state: "dreaming" });
    talk.update("state_update", { state: "unknown" });
    talk.update("state_update", { state: "idle", stopReason: "bored" });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "end_turn" }]);
    expect(talk.unparsed().map(({ error }) => error)).toEqual(["state dreaming", "stop reason bored"]);
  });

  it("a status of a compaction does not end it", () => {
    const talk = prompted();
    talk.update("compaction_update", { compactionId: "k", status: "in_progress" });
    talk.update("compaction_update", { compactionId: "k", status: "tidying" });
    talk.update("compaction_update", { compactionId: "k", status: "completed" });
    expect(talk.unparsed()).toMatchObject([{ error: "compaction of status tidying" }]);
    expect(talk.of("event").filter(({ type }) => type === "session.compacted")).toHaveLength(1);
  });

  it("a choice of an option without a value has none", () => {
    const talk = Talk.with("x");
    const options = [{ name: "Fast" }];
    talk.update("config_option_update", {
      configOptions: [{ id: "speed", name: "Speed", type: "select", currentValue: "x", options }],
    });
    const changed = talk.of("event").find(({ type }) => type === "config.changed");
    expect(changed?.data).toMatchObject({ options: [{ choices: [{ name: "Fast", value: null }] }] });
  });
});

describe("faults", () => {
  it.each([
    [{ code: -32603, message: "Internal error", data: "the model is overloaded" }, "the model is overloaded"],
    [{ code: -32602, message: "Invalid params", data: "prompt" }, "Invalid params: prompt"],
    [{ code: -32603, message: "Internal error", data: { error: "no space" } }, "no space"],
    [{ code: -32603, message: "Internal error: no space", data: "no space" }, "no space"],
    [{ code: -32603, message: "Internal error" }, "Internal error"],
    ["no space", "no space"],
    [false, "false"],
  ])("%j is told as %j", (error, message) => {
    const talk = prompted();
    talk.fail(error);
    expect(talk.of("error")).toMatchObject([{ error: { message } }]);
  });

  it("[U13] an error in answer to session/cancel is an interruption", () => {
    const talk = prompted();
    talk.row("in", { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: SESSION } });
    talk.fail({ code: -32603, message: "Internal error" });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(talk.of("error")).toEqual([]);
  });
});

describe("a turn that was told to stop, and says that it failed", () => {
  const stopped = (agent: string, version: number): Talk => {
    const talk = Talk.with(agent, {}, version);
    talk.prompt("go");
    return talk;
  };
  const cancel = (talk: Talk) => talk.row("in", { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: SESSION } });

  it("v2: it was interrupted", () => {
    const talk = stopped("x", 2);
    talk.answer({ messageId: "m" });
    talk.update("state_update", { state: "running" });
    cancel(talk);
    talk.update("state_update", { state: "idle", stopReason: "error", error: { code: -32603, message: "Internal error" } });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(talk.of("error")).toEqual([]);
  });

  it("in the text of a fault: it was interrupted, and the text is shown", () => {
    const talk = stopped("copilot", 1);
    cancel(talk);
    talk.text("Error: Failed to get response from the AI model");
    talk.answer({ stopReason: "end_turn" });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(talk.of("error")).toEqual([]);
    expect(talk.texts()).toEqual(["Error: Failed to get response from the AI model"]);
  });
});

describe("commands that were stopped", () => {
  it.each([
    ["gemini", { content: [text("Command cancelled by user.\n\nOutput before cancellation:\nstarted")] }],
    [
      "gemini",
      { content: [text("Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.")] },
    ],
    ["gemini", { content: [text("Command terminated by signal: 9")] }],
    ["opencode", { rawOutput: { output: "started", metadata: { exit: null } } }],
  ])("%s calls them completed: they have failed", (agent, more) => {
    const talk = Talk.with(agent);
    talk.prompt("go");
    talk.update("tool_call_update", { toolCallId: "c", title: "sleep 9", kind: "execute", status: "completed", ...more });
    expect(results(talk)).toMatchObject([{ status: "failed", parts: [{ is_error: true }] }]);
  });
});

it("a command whose terminal a signal ended has failed; it has no exit code, and that is said", () => {
  const talk = prompted();
  talk.update("tool_call", shell("make"));
  talk.update("tool_call_update", { toolCallId: "c", content: [{ type: "terminal", terminalId: "t" }] });
  talk.request(0, "terminal/wait_for_exit", { terminalId: "t" });
  talk.reply(0, { exitCode: null, signal: "SIGKILL" });
  talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
  expect(results(talk)).toMatchObject([{ status: "failed", parts: [{ is_error: true, exit_code: null }] }]);
});

it("gemini: the exit code of a command that printed nothing is its output", () => {
  const talk = Talk.with("gemini");
  talk.prompt("go");
  const content = [text("Command exited with code: 3")];
  talk.update("tool_call_update", { toolCallId: "c", title: "exit 3", kind: "execute", status: "completed", content });
  expect(results(talk)).toMatchObject([{ status: "failed", parts: [{ output: "", exit_code: 3, is_error: true }] }]);
});

describe("sub-agents with a session of their own", () => {
  const withKid = (): { talk: Talk; key: string } => {
    const talk = prompted();
    talk.text("I ask somebody.", "m1");
    talk.update("subagent_update", { sessionId: "kid", title: "Look", state: { state: "running" } });
    return { talk, key: calls(talk)[0]?.item.key ?? "" };
  };

  it("[G5] everything of theirs hangs under their call, also a call that is first asked about", () => {
    const { talk, key } = withKid();
    const toolCall = { ...shell("rm x"), toolCallId: "k1" };
    talk.row("out", {
      jsonrpc: "2.0",
      id: 0,
      method: "session/request_permission",
      params: { sessionId: "kid", toolCall, options: OPTIONS },
    });
    talk.update("user_message_chunk", { content: { type: "text", text: "your task" } }, "kid");
    talk.update("plan", { entries: [{ content: "look", priority: "high", status: "pending" }] }, "kid");
    talk.update("agent_message", { messageId: "w", content: [{ type: "text", text: "whole" }] }, "kid");
    const inside = talk.of("item.start").filter(({ item }) => item.key.startsWith(`${key}:`));
    expect(inside.map(({ item }) => [item.kind, item.role, item.parent])).toEqual([
      ["tool_call", "assistant", key],
      ["message", "user", key],
      ["status", null, key],
      ["message", "assistant", key],
    ]);
    expect(talk.told.every(({ session }) => session !== "kid")).toBe(true);
  });

  it("their compaction is not the session's", () => {
    const { talk } = withKid();
    talk.update("compaction_update", { compactionId: "k", status: "completed" }, "kid");
    expect(talk.of("event").some(({ type }) => type === "session.compacted")).toBe(false);
  });

  it("their last words, or their error, are the result of their call", () => {
    const { talk } = withKid();
    talk.update("agent_message_chunk", { messageId: "k", content: { type: "text", text: "three files" } }, "kid");
    talk.update("subagent_update", { sessionId: "kid", state: { state: "idle", stopReason: "end_turn" } });
    talk.update("subagent_update", { sessionId: "kid2", state: { state: "running" } });
    const error = { code: -32603, message: "no model" };
    talk.update("subagent_update", { sessionId: "kid2", state: { state: "idle", stopReason: "error", error } });
    expect(results(talk)).toMatchObject([
      { status: "completed", parts: [{ call_id: "kid", output: "three files" }] },
      { status: "failed", parts: [{ call_id: "kid2", output: "no model", is_error: true }] },
    ]);
  });

  it("what one says when it works again after its call has ended comes to an end too", () => {
    const { talk } = withKid();
    const idle = { sessionId: "kid", state: { state: "idle", stopReason: "end_turn" } };
    const say = (text: string) => talk.update("agent_message_chunk", { content: { type: "text", text } }, "kid");
    say("three files");
    talk.update("subagent_update", idle);
    talk.update("subagent_update", { sessionId: "kid", state: { state: "running" } });
    say("a fourth");
    const key = talk.of("item.start").at(-1)?.item.key;
    talk.update("subagent_update", idle);
    expect(talk.of("item.complete").at(-1)).toEqual({ do: "item.complete", key });
    expect(results(talk)).toHaveLength(1);
  });

  it("a piece of a message between sessions names both", () => {
    const { talk } = withKid();
    talk.update("session_message", { messageId: "l", senderSessionId: SESSION, recipientSessionId: "kid", content: [] });
    talk.update("session_message_chunk", { messageId: "l", content: { type: "text", text: "hurry" } });
    expect(talk.of("event").filter(({ type }) => type === "team.message")).toMatchObject([
      { data: { from: SESSION, to: "kid", text: "" } },
      { data: { from: SESSION, to: "kid", text: "hurry" } },
    ]);
  });
});

describe("sub-agents without a session", () => {
  const task = { toolCallId: "s", title: "look", kind: "other", rawInput: { prompt: "look", agent_type: "general" } };

  it.each([
    ["copilot", {}],
    ["x", { _meta: { claudeCode: { parentToolUseId: "s" } } }],
  ])("%s: what they say hangs under their call, and ends before it", (agent, more) => {
    const talk = Talk.with(agent);
    talk.prompt("go");
    talk.update("tool_call", { ...task, status: "pending" });
    talk.update("agent_message_chunk", { content: { type: "text", text: "three files" }, ...more });
    const ended = talk.update("tool_call_update", { toolCallId: "s", status: "completed", content: [text("three files")] });
    talk.text("Done.");
    const [key] = calls(talk).map(({ item }) => item.key);
    const said = talk.of("item.start").filter(({ item }) => item.kind === "message" && item.role === "assistant");
    expect(said.map(({ item }) => item.parent)).toEqual([key, null]);
    expect(drafts(ended).map((draft) => ("key" in draft ? draft.key : ""))).toEqual([said[0]?.item.key, key, ""]);
  });
});

it("[U13] words of an error that name an abort are an interrupt, unless time ran out", () => {
  const said = (message: string): Fault => faultOf({ code: -32603, message, data: undefined });
  expect(said("The operation was aborted")).toEqual({ error: null, stop: "interrupted" });
  expect(said("Request cancelled\nby the user")).toEqual({ error: null, stop: "interrupted" });
  for (const message of ["The operation was aborted due to timeout", "Request cancelled: it timed out"])
    expect(said(message)).toMatchObject({ error: { code: "api_error", message, details: { retryable: true } }, stop: "error" });
});

it("[U17] codex-acp: what was said of an answer that is asked for again is removed, the last try stays and has failed", () => {
  const talk = Talk.with("@agentclientprotocol/codex-acp");
  talk.prompt("go");
  talk.text("Half", "m1");
  talk.update("session_info_update", {
    _meta: { codex: { error: { message: "Reconnecting... 1/1", additionalDetails: "stream disconnected", willRetry: true } } },
  });
  talk.text("Half again", "m2");
  talk.text("stream disconnected before completion\n\n");
  talk.answer({ stopReason: "end_turn", usage: null });
  const [first, second] = talk.of("item.start");
  expect(talk.of("item.remove")).toMatchObject([{ key: first?.item.key }]);
  expect(talk.of("item.complete")).toMatchObject([{ key: second?.item.key, status: "failed" }]);
});

it("qwen: the skills beside the commands are the catalog, reported when it changes", () => {
  const talk = Talk.with("qwen-code");
  const list = (...availableSkills: string[]) =>
    talk.update("available_commands_update", { availableCommands: [], _meta: { availableSkills } });
  list();
  list("batch", "review");
  list("batch", "review");
  list();
  const told = talk.of("event").filter(({ type }) => type === "skill.catalog_updated");
  expect(told.map(({ data }) => data)).toEqual([
    { count: 2, roots: [] },
    { count: 0, roots: [] },
  ]);
});

it.each([
  ["end_turn", "end_turn"],
  ["cancelled", "interrupted"],
  ["max_turn_requests", "max_turns"],
])("qwen: a turn of its own that ends with %s is %s", (reason, stop_reason) => {
  const talk = Talk.with("qwen-code");
  talk.request(3, "_qwencode/start_turn", { turnId: "t" });
  talk.text("Working");
  const params = { sessionId: SESSION, turnId: "t", reason };
  talk.row("out", { jsonrpc: "2.0", method: "_qwencode/end_turn", params });
  expect(talk.of("turn.end")).toMatchObject([{ stop_reason }]);
});

it("a report of usage that reports nothing is no event", () => {
  const talk = prompted();
  const usages = () => talk.of("event").filter(({ type }) => type === "usage.updated");
  for (const nothing of [{}, { used: "many" }, { cost: { amount: 3, currency: "EUR" } }]) talk.update("usage_update", nothing);
  expect(usages()).toEqual([]);
  talk.update("usage_update", { used: 10 });
  expect(usages()).toHaveLength(1);
});

describe("work that outlasts its turn", () => {
  it("[G7] version 2 names it: the call stays open and ends later", () => {
    const talk = prompted(2);
    talk.update("tool_call_update", shell("make", { status: "in_progress" }));
    const background = [{ type: "tool_call", toolCallId: "c" }];
    talk.update("state_update", { state: "idle", stopReason: "end_turn", background });
    expect(talk.of("item.update").at(-1)).toMatchObject({ key: calls(talk)[0]?.item.key, outlives_turn: true });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text("built")] });
    expect(outputs(talk)).toEqual(["built"]);
  });

  it("version 1 has no word for it: a result that comes too late is noted, not lost", () => {
    const talk = prompted();
    talk.update("tool_call", shell("make"));
    talk.answer({ stopReason: "end_turn" });
    const [told] = talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text("built")] });
    expect(told).toMatchObject({
      disposition: "noted",
      drafts: [{ data: { name: "late_tool_result", detail: { call_id: "c", status: "completed", output: "built" } } }],
    });
  });
});
