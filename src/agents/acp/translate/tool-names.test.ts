/** What a call is called and of which kind it is, when the agent says little about it. */
import { describe, expect, it } from "vitest";
import { SESSION, Talk } from "./test-talk.ts";

const callOf = (talk: Talk) => {
  const content = talk.of("item.start").find((draft) => draft.item.kind === "tool_call")?.item.content ?? [];
  return content[0];
};

const resultOf = (talk: Talk) => talk.of("item.add").find((draft) => draft.item.kind === "tool_result")?.item.content?.[0];

describe("a call of no kind", () => {
  it("is the tool of an MCP server when it begins with the name of one", () => {
    const talk = Talk.with("opencode");
    talk.ask("session/load", {
      sessionId: SESSION,
      cwd: "/work",
      mcpServers: [{ name: "lab", command: "x", args: [], env: [] }],
    });
    talk.answer({});
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "lab_echo", kind: "other", status: "pending", rawInput: {} });
    expect(callOf(talk)).toMatchObject({ name: "lab_echo", tool_kind: "mcp", title: "lab_echo" });
  });

  it("is of no server when none has that name", () => {
    const talk = Talk.with("opencode");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "lab_echo", kind: "other", status: "pending", rawInput: {} });
    expect(callOf(talk)).toMatchObject({ tool_kind: "other" });
  });

  it.each([
    ["spawnAgent", "subagent"],
    ["closeAgent", "subagent"],
    ["mcp__broken__startup", "mcp"],
    ["exit_plan_mode", "plan"],
  ])("that is titled %s is %s", (title, kind) => {
    const talk = Talk.with("@agentclientprotocol/codex-acp");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title, kind: "other", status: "in_progress", rawInput: {} });
    expect(callOf(talk)).toMatchObject({ name: title, tool_kind: kind, title });
  });

  it("keeps a sentence as its title alone", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "Look at it", kind: "other" });
    expect(callOf(talk)).toMatchObject({ name: "other", title: "Look at it" });
  });
});

it("a call without a title has its name for one", () => {
  const talk = Talk.with("x");
  talk.prompt("go");
  talk.update("tool_call", { toolCallId: "c", kind: "read", status: "pending" });
  expect(callOf(talk)).toMatchObject({ name: "read", title: "read" });
});

describe("a result", () => {
  const resultWith = (update: Record<string, unknown>) => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "Do", kind: "other" });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed", ...update });
    return resultOf(talk);
  };

  it("in fields nobody knows is shown as it is", () => {
    expect(resultWith({ rawOutput: { matches: [1, 2] } })).toMatchObject({ output: '{"matches":[1,2]}' });
  });

  it("that is empty in a usual field stays empty", () => {
    expect(resultWith({ rawOutput: { stdout: "", stderr: "", exit_code: 0 } })).toMatchObject({ output: "", exit_code: 0 });
    expect(resultWith({ rawOutput: {} })).toMatchObject({ output: "" });
  });

  it("that has words of its own shows them alone", () => {
    const content = [{ type: "content", content: { type: "text", text: "Found two." } }];
    expect(resultWith({ rawOutput: { matches: [1, 2] }, content })).toMatchObject({ output: "Found two." });
  });
});

it.each([
  [3, "failed"],
  [0, "completed"],
])("[U3] a command that ended with %i is %s, whatever the agent calls it", (exit, status) => {
  const talk = Talk.with("opencode");
  talk.prompt("go");
  talk.update("tool_call", { toolCallId: "c", title: "bash", kind: "execute", status: "pending", rawInput: { command: "x" } });
  talk.update("tool_call_update", { toolCallId: "c", status: "completed", rawOutput: { output: "x", metadata: { exit } } });
  expect(talk.of("item.complete").at(-1)).toMatchObject({ status });
  expect(talk.of("item.add").at(-1)).toMatchObject({ status });
});

it.each([
  ["a status in its words", { code: -32603, message: "Internal error: API Error: 400 no" }],
  [
    "the provider's answer",
    { code: -32603, message: "Internal error", data: { message: '{"error":{"message":"no","type":"invalid_request_error"}}' } },
  ],
])("a request that the provider refused is not worth another try: %s", (_, error) => {
  const talk = Talk.with("x");
  talk.prompt("go");
  talk.fail(error);
  expect(talk.of("error").map((draft) => draft.error)).toMatchObject([{ code: "api_error", details: { retryable: false } }]);
});
