/** What agents say in ways the protocol allows and recordings do not show, or in types it forbids: it is told, or it is reported as not understood. */
import { describe, expect, it } from "vitest";
import { drafts, SESSION, Talk } from "./test-talk.ts";

const text = (value: string) => ({ type: "content", content: { type: "text", text: value } });
const prompted = (agent = "x", version = 1): Talk => {
  const talk = Talk.with(agent, {}, version);
  talk.prompt("go");
  return talk;
};
const errors = (talk: Talk) => talk.unparsed().map(({ error }) => error);
const notices = (talk: Talk) => talk.of("event").flatMap((draft) => (draft.type === "agent.notice" ? [draft.data] : []));

describe("wrong types", () => {
  it.each([
    ["agent_message_chunk", { content: { type: "text", text: 5 } }, "content block text"],
    ["agent_message_chunk", { content: [{ type: "text", text: "a" }] }, "content block without type"],
    ["tool_call", { toolCallId: "c", title: "x", content: "done" }, "tool content that is no list"],
    ["tool_call", { toolCallId: "c", title: "x", content: ["done"] }, "tool content that is no object"],
    ["tool_call", { toolCallId: "c", title: "x", content: [{ type: "diff", newText: "a" }] }, "diff without a path"],
    ["tool_call", { toolCallId: "c", title: "x", content: [{ type: "terminal" }] }, "terminal without an id"],
    ["tool_call", { toolCallId: "c", title: ["x"] }, "title of a tool call that is no text"],
    ["tool_call", { toolCallId: "c", title: "x", kind: 4 }, "kind of a tool call that is no text"],
    ["tool_call", { toolCallId: "c", title: "x", locations: "/a" }, "locations of a tool call that are no list"],
    ["plan", { entries: "Look" }, "plan whose entries are no list"],
    ["plan", { entries: [{ content: "Look", status: "blocked" }] }, "plan entry of status blocked"],
    ["available_commands_update", { availableCommands: "plan" }, "commands that are no list"],
    ["config_option_update", { configOptions: { id: "a" } }, "options that are no list"],
    ["usage_update", { used: 1, size: 2, cost: { amount: "much" } }, "cost without an amount"],
  ])("%s %j", (variant, update, error) => {
    const talk = prompted();
    talk.update(variant, update);
    expect(errors(talk)).toEqual([error]);
  });

  it("null stands for nothing", () => {
    const talk = prompted();
    const nothing = { title: null, kind: null, content: null, locations: null, rawInput: null, rawOutput: null, name: null };
    talk.update("tool_call", { ...nothing, toolCallId: "c", title: "x" });
    talk.update("tool_call_update", { ...nothing, toolCallId: "c", status: "completed" });
    expect(errors(talk)).toEqual([]);
  });

  it("a sign-in of a state that nobody knows is none", () => {
    const talk = prompted();
    talk.row("out", { jsonrpc: "2.0", method: "auth/status_update", params: { state: "expired" } });
    expect(errors(talk)).toEqual(["sign-in of state expired"]);
    expect(talk.of("event").filter(({ type }) => type === "auth.status")).toEqual([]);
  });
});

it("a sign-in names the account that is active", () => {
  const talk = prompted();
  const accounts = [{ label: "old" }, { label: "mine", active: true }];
  talk.row("out", { jsonrpc: "2.0", method: "auth/status_update", params: { state: "authenticated", accounts } });
  expect(talk.of("event").at(-1)?.data).toEqual({ status: "ok", message: "mine" });
});

it("a cost in another currency is a notice", () => {
  const talk = prompted();
  const cost = { amount: 2, currency: "EUR" };
  talk.update("usage_update", { used: 1, size: 2, cost });
  talk.update("usage_update", { used: 3, size: 2, cost });
  expect(notices(talk)).toEqual([{ name: "cost", detail: cost }]);
  expect(talk.of("event").filter(({ type }) => type === "usage.updated")).toHaveLength(2);
});

it("usage beside the last words of an answer counts as well as beside an empty piece", () => {
  const talk = prompted("qwen-code");
  const _meta = { usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } };
  talk.update("agent_message_chunk", { content: { type: "text", text: "Done." }, _meta });
  talk.answer({ stopReason: "end_turn" });
  expect(talk.of("turn.end")[0]?.usage).toEqual({ input_tokens: 7, output_tokens: 3 });
  expect(talk.texts()).toEqual(["Done."]);
});

describe("a text that may be an error", () => {
  const CODEX = "@agentclientprotocol/codex-acp";
  const doubtful = "Something happened.\n\n";

  it("is the model's when no turn will decide about it", () => {
    const talk = Talk.with(CODEX);
    talk.text(doubtful);
    expect(talk.texts()).toEqual([doubtful]);
  });

  it("is its own when a sub-agent says it, and stands under its call", () => {
    const talk = prompted("claude-agent-acp");
    talk.update("tool_call", { toolCallId: "t", title: "Task", status: "pending", _meta: { claudeCode: { toolName: "Agent" } } });
    const _meta = { claudeCode: { parentToolUseId: "t" } };
    const id = "22c08298-a5e9-4f7c-8f5f-99094ce5ba14";
    talk.update("agent_message_chunk", { content: { type: "text", text: "Sub." }, messageId: id, _meta });
    const call = talk.of("item.start").find(({ item }) => item.kind === "tool_call")?.item.key;
    expect(talk.of("item.start").at(-1)?.item).toMatchObject({ kind: "message", parent: call });
  });
});

it("a fault that codex-acp reports beside its titles fails the turn, whatever else was said", () => {
  const talk = prompted("@agentclientprotocol/codex-acp");
  talk.text("Half an");
  talk.update("session_info_update", { _meta: { codex: { error: { message: "it broke", willRetry: false } } } });
  talk.answer({ stopReason: "end_turn" });
  expect(talk.of("error").map(({ error }) => error.message)).toEqual(["it broke"]);
  expect(talk.of("turn.end").map(({ stop_reason }) => stop_reason)).toEqual(["error"]);
});

it("a whole message that was said in pieces before a call is said once", () => {
  const talk = prompted("x", 2);
  const whole = (value: string) => talk.update("agent_message", { messageId: "m", content: [{ type: "text", text: value }] });
  talk.text("I look.", "m");
  talk.update("tool_call_update", { toolCallId: "c", title: "ls", kind: "execute" });
  expect(drafts(whole("I look."))).toEqual([]);
  expect(drafts(whole("I look again."))).not.toEqual([]);
});

it("a call that says nothing of what it runs runs what its terminal was made for", () => {
  const talk = prompted();
  talk.update("tool_call", { toolCallId: "c", title: "Run", kind: "execute" });
  talk.request(0, "terminal/create", { command: "sh", args: ["-c", "ls"], env: [{ name: "KEY", value: "secret" }] });
  talk.reply(0, { terminalId: "t" });
  talk.update("tool_call_update", { toolCallId: "c", content: [{ type: "terminal", terminalId: "t" }] });
  const [told] = talk.of("item.update");
  expect(told?.content).toMatchObject([{ arguments: JSON.stringify({ command: "sh", args: ["-c", "ls"] }) }]);
  expect(talk.of("item.update")).toHaveLength(1);
});

describe("plans", () => {
  const entries = (status: string) => [{ content: "Look", status, priority: "high" }];

  it("the same list again is no news", () => {
    const talk = prompted();
    talk.update("plan", { entries: entries("pending") });
    expect(drafts(talk.update("plan", { entries: entries("pending") }))).toEqual([]);
    expect(drafts(talk.update("plan", { entries: entries("completed") }))).toHaveLength(1);
  });

  it("a list that took the place of another stays when that one is removed", () => {
    const talk = prompted();
    talk.update("plan_update", { plan: { type: "items", planId: "a", entries: entries("pending") } });
    talk.update("plan_update", { plan: { type: "items", planId: "b", entries: entries("completed") } });
    expect(drafts(talk.update("plan_removed", { planId: "a" }))).toEqual([]);
    expect(drafts(talk.update("plan_removed", { planId: "b" }))).toMatchObject([{ do: "item.remove" }]);
  });

  it("what is said after a list is another message, where messages have no ids", () => {
    const talk = prompted();
    talk.text("First.");
    talk.update("plan", { entries: entries("pending") });
    talk.text("Second.");
    expect(talk.texts()).toEqual(["First.", "Second."]);
  });
});

describe("what comes after the end of a call", () => {
  const late = (talk: Talk) => notices(talk).flatMap(({ name, detail }) => (name === "late_tool_result" ? [detail] : []));

  it("output that nobody has seen is a notice, once", () => {
    const talk = prompted();
    talk.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute" });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text("a")] });
    for (const said of ["a", "b", "b"]) talk.update("tool_call_update", { toolCallId: "c", content: [text(said)] });
    expect(late(talk)).toEqual([{ call_id: "c", output: "b" }]);
  });

  it("why it was rejected, said after the model went on", () => {
    const talk = prompted();
    const options = [{ optionId: "n", name: "No", kind: "reject_once" }];
    talk.request(0, "session/request_permission", { toolCall: { toolCallId: "c", title: "rm", kind: "execute" }, options });
    talk.reply(0, { outcome: { outcome: "selected", optionId: "n" } });
    talk.text("Then not.");
    talk.update("tool_call_update", { toolCallId: "c", status: "failed", content: [text("You said no.")] });
    expect(late(talk)).toEqual([{ call_id: "c", status: "failed", output: "You said no." }]);
  });

  it("its announcement makes no second call", () => {
    const talk = prompted();
    talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text("a")] });
    talk.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute", rawInput: { command: "ls" } });
    expect(talk.of("item.start").filter(({ item }) => item.kind === "tool_call")).toHaveLength(1);
    expect(late(talk)).toEqual([{ call_id: "c", title: "ls", kind: "execute", input: { command: "ls" } }]);
  });

  it("output of a terminal after the end of its turn", () => {
    const talk = prompted();
    talk.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute" });
    talk.answer({ stopReason: "cancelled" });
    talk.update("tool_call_update", { toolCallId: "c", _meta: { terminal_output_delta: { terminal_id: "c", data: "late\n" } } });
    expect(late(talk)).toEqual([{ call_id: "c", output: "late\n" }]);
  });
});

describe("compactions", () => {
  const compaction = (talk: Talk, update: object) => talk.update("compaction_update", { compactionId: "k", ...update });

  it("a summary that comes after the end is a notice, and said again it is not", () => {
    const talk = prompted();
    compaction(talk, { status: "completed" });
    compaction(talk, { status: "completed", summary: [{ type: "text", text: "All." }] });
    talk.update("compaction_summary_chunk", { compactionId: "k", content: { type: "text", text: "All." } });
    expect(notices(talk)).toEqual([{ name: "compaction_summary", detail: "All." }]);
  });
});

describe("a prompt that waits behind another", () => {
  const ends = (talk: Talk) => talk.of("turn.end").map(({ stop_reason }) => stop_reason);

  it("has its turn also when it was answered before that began", () => {
    const talk = prompted();
    const first = talk.lastId;
    talk.prompt("and then");
    talk.answer({ stopReason: "cancelled" });
    expect(ends(talk)).toEqual([]);
    talk.answer({ stopReason: "end_turn" }, first);
    expect(ends(talk)).toEqual(["end_turn", "interrupted"]);
    expect(talk.texts("user")).toEqual(["go", "and then"]);
  });

  it("has its turn also when the process ends before", () => {
    const talk = prompted();
    talk.prompt("and then");
    talk.row("exit", { code: 1, signal: null });
    expect(ends(talk)).toEqual(["error", "error"]);
    expect(talk.texts("user")).toEqual(["go", "and then"]);
  });
});

describe("sub-agents with a session", () => {
  const begun = (): Talk => {
    const talk = prompted();
    talk.update("subagent_update", { sessionId: "child", title: "Look", state: { state: "running" } });
    return talk;
  };
  const said = (value: string) => ({ messageId: "m", content: { type: "text", text: value } });

  it("stand under the call that began them, where the agent names it", () => {
    const talk = prompted();
    talk.update("tool_call", { toolCallId: "t", title: "Task", kind: "think" });
    talk.update("subagent_update", { sessionId: "child", title: "Look", _meta: { claudeCode: { parentToolUseId: "t" } } });
    const [call, child] = talk.of("item.start");
    expect(child?.item.parent).toBe(call?.item.key);
  });

  it("go on in a message of their own after the end of the turn", () => {
    const talk = begun();
    talk.update("agent_message_chunk", said("before"), "child");
    talk.answer({ stopReason: "end_turn" });
    talk.update("agent_message_chunk", said("after"), "child");
    expect(talk.texts()).toEqual(["before", "after"]);
  });

  it("a call that the end of the turn cut gives its result as a notice", () => {
    const talk = begun();
    talk.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute" }, "child");
    talk.answer({ stopReason: "end_turn" });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed", content: [text("a")] }, "child");
    expect(notices(talk)).toEqual([{ name: "late_tool_result", detail: { call_id: "c", status: "completed", output: "a" } }]);
  });

  it("their settings are told, though they are not the session's", () => {
    const talk = begun();
    talk.update("current_mode_update", { currentModeId: "plan" }, "child");
    const update = { sessionUpdate: "current_mode_update", currentModeId: "plan" };
    expect(notices(talk)).toEqual([
      { name: "subagent_update", detail: { variant: "current_mode_update", session: "child", update } },
    ]);
  });
});

it("[U5] what begins and ends in one batch was announced by nobody", () => {
  const talk = prompted();
  const update = (fields: object) => ({
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId: SESSION, update: fields },
  });
  talk.row("out", [
    update({ sessionUpdate: "tool_call", toolCallId: "c", title: "ls", kind: "execute" }),
    update({ sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed" }),
  ]);
  expect(talk.of("item.start").map(({ synthetic }) => synthetic)).toEqual([true]);
});

it.each([
  ["Read", "read"],
  ["grep_search", "search"],
  ["TaskCreate", "plan"],
  ["KillShell", "shell"],
  ["brand_new", "other"],
])("a tool of no kind that is called %s is %s", (name, kind) => {
  const talk = prompted();
  talk.update("tool_call", { toolCallId: "c", title: "Do it", name });
  expect(talk.of("item.start")[0]?.item.content).toMatchObject([{ name, tool_kind: kind }]);
});

it("[U4] how long a call took is taken from where Claude Code says it", () => {
  const talk = prompted();
  talk.update("tool_call", { toolCallId: "c", title: "Task", kind: "think" });
  talk.update("tool_call_update", { toolCallId: "c", _meta: { claudeCode: { toolResponse: { totalDurationMs: 63 } } } });
  talk.update("tool_call_update", { toolCallId: "c", status: "completed", rawOutput: "done" });
  expect(talk.of("item.add").at(-1)?.item.content).toMatchObject([{ type: "tool_result", duration_ms: 63 }]);
});
