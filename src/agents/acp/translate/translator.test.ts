import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../../../test-seed.ts";
import { drafts, SESSION, Talk } from "./test-talk.ts";
import { AcpTranslator } from "./translator.ts";

const SEED = seedOf(20_261_115);
const text = (value: string) => ({ type: "content", content: { type: "text", text: value } });
const OPTIONS = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "ever", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

describe("turns", () => {
  it("opens the client's turn with the prompt, shows the message, and ends it with the answer", () => {
    const talk = Talk.with("x");
    talk.prompt("hello");
    talk.text("Hi");
    talk.answer({ stopReason: "end_turn", usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } });
    expect(talk.of("turn.start")).toMatchObject([{ initiator: "client", synthetic: true }]);
    expect(talk.texts("user")).toEqual(["hello"]);
    expect(talk.texts()).toEqual(["Hi"]);
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "end_turn", usage: { input_tokens: 5, output_tokens: 2 } }]);
  });

  it.each([
    ["max_tokens", "output_length"],
    ["max_turn_requests", "max_turns"],
    ["refusal", "refusal"],
    ["cancelled", "interrupted"],
  ])("says %s as %s", (native, universal) => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.answer({ stopReason: native });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: universal }]);
    expect(talk.of("error")).toEqual([]);
  });

  it("[G7] a second prompt while busy gets its turn when the first has ended", () => {
    const talk = Talk.with("x");
    talk.prompt("one");
    const first = talk.lastId;
    talk.prompt("two");
    expect(talk.of("turn.start")).toHaveLength(1);
    talk.answer({ stopReason: "cancelled" }, first);
    expect(talk.of("turn.start")).toHaveLength(2);
    expect(talk.texts("user")).toEqual(["one", "two"]);
    talk.answer({ stopReason: "end_turn" });
    expect(talk.of("turn.end").map((draft) => draft.stop_reason)).toEqual(["interrupted", "end_turn"]);
  });

  it("a text after the end of the turn is an item, and opens no turn that nobody would end", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.answer({ stopReason: "end_turn" });
    talk.text("late");
    expect(talk.texts()).toEqual(["late"]);
    expect(talk.of("turn.start")).toHaveLength(1);
  });

  it("the end of the process ends the turn with an error, once", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.row("exit", { code: null, signal: "SIGKILL" });
    expect(talk.of("error")).toMatchObject([{ error: { code: "execution_error", details: { error_source: "transport" } } }]);
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "error", error_code: "execution_error" }]);
  });

  it("the end of the process after session/cancel is an interruption", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.row("in", { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: SESSION } });
    talk.row("exit", { code: 0, signal: null });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(talk.of("error")).toEqual([]);
  });
});

describe("messages", () => {
  it("without messageId, chunks before and after a tool call are two messages", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.text("before ");
    talk.text("it");
    talk.update("tool_call", { toolCallId: "c1", title: "Read", kind: "read" });
    talk.update("tool_call_update", { toolCallId: "c1", status: "completed" });
    talk.text("after");
    expect(talk.texts()).toEqual(["before it", "after"]);
  });

  it("thoughts with a heading of their own are set apart, pieces of one thought are not", () => {
    const talk = Talk.with("gemini-cli");
    talk.ask("session/prompt", { sessionId: SESSION, prompt: [{ type: "text", text: "hi" }] });
    for (const text of ["**Looking**\nIt may take a while.", "****\n Still looking.", "**Deciding**\nThis one."])
      talk.update("agent_thought_chunk", { content: { type: "text", text } });
    const deltas = talk.told.flatMap(({ drafts }) => drafts).flatMap((draft) => (draft.do === "item.delta" ? [draft.delta] : []));
    expect(deltas.join("")).toBe("**Looking**\nIt may take a while. Still looking.\n\n**Deciding**\nThis one.");
  });

  it("thoughts begin the answer that follows them, also under an id of their own", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("agent_thought_chunk", { messageId: "t1", content: { type: "text", text: "hm" } });
    talk.update("agent_thought_chunk", { messageId: "t2", content: { type: "text", text: "so" } });
    talk.text("Hello.", "m");
    talk.text("More.", "n");
    const key = talk.of("item.delta")[0]?.key;
    expect(talk.of("item.delta").map((draft) => [draft.key === key, draft.part_type, draft.part_index, draft.delta])).toEqual([
      [true, "reasoning", 0, "hm"],
      [true, "reasoning", 1, "so"],
      [true, "text", 2, "Hello."],
      [false, "text", 0, "More."],
    ]);
    expect(talk.of("item.update").at(-1)).toMatchObject({ key, native_item_id: "m" });
  });

  it("one messageId is one message across thought and text, parts in order", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("agent_thought_chunk", { messageId: "m", content: { type: "text", text: "hm" } });
    talk.text("a", "m");
    talk.text("b", "m");
    expect(talk.of("item.delta").map((draft) => [draft.part_type, draft.part_index, draft.delta])).toEqual([
      ["reasoning", 0, "hm"],
      ["text", 1, "a"],
      ["text", 1, "b"],
    ]);
    expect(talk.of("item.start").filter((draft) => draft.item.kind === "message")).toHaveLength(1);
  });

  it("does not open a message for an empty chunk", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    expect(drafts(talk.text(""))).toEqual([]);
  });

  it("claude-code-acp: an empty chunk of the same kind begins another message", () => {
    const talk = Talk.with("@zed-industries/claude-code-acp");
    talk.prompt("go");
    for (const piece of ["", "cut", "", "cut"]) talk.text(piece);
    expect(talk.texts()).toEqual(["cut", "cut"]);
  });

  it("an image block is media, an unknown block is unparsed and nothing else is lost", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.text("see ", "m");
    talk.update("agent_message_chunk", { messageId: "m", content: { type: "image", mimeType: "image/png", data: "AA==" } });
    expect(talk.of("item.update").at(-1)?.content).toEqual([
      { type: "text", text: "see " },
      { type: "media", media: "image", mime: "image/png", base64: "AA==" },
    ]);
    expect(talk.update("agent_message_chunk", { content: { type: "hologram" } })[0]?.disposition).toBe("unparsed");
  });

  it("an echo of our own prompt is not shown twice", () => {
    const talk = Talk.with("x");
    talk.prompt("hello there");
    talk.update("user_message_chunk", { content: { type: "text", text: "hello there" } });
    expect(talk.texts("user")).toEqual(["hello there"]);
  });
});

describe("tool calls", () => {
  it("a call announced twice is one call", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "Terminal", kind: "execute", rawInput: {} });
    talk.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute", rawInput: { command: "ls" } });
    expect(talk.of("item.start").filter((draft) => draft.item.kind === "tool_call")).toHaveLength(1);
    expect(talk.of("item.update")[0]?.content).toMatchObject([
      { title: "ls", arguments: '{"command":"ls"}', tool_kind: "shell" },
    ]);
  });

  it("[G6] an update for a call never announced makes its start", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("tool_call_update", { toolCallId: "c", status: "failed", kind: "read", content: [text("no such argument")] });
    const items = talk.drafts.flatMap((draft) => (draft.do === "item.start" || draft.do === "item.add" ? [draft.item.kind] : []));
    expect(items).toEqual(["message", "tool_call", "tool_result"]);
    expect(talk.of("item.add").at(-1)).toMatchObject({
      status: "failed",
      item: { content: [{ output: "no such argument", is_error: true }] },
    });
  });

  it("a diff becomes a file_ref with a unified diff; a failed edit changes no file", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    const diff = { type: "diff", path: "/w/a.txt", oldText: "a\n", newText: "b\n" };
    talk.update("tool_call", { toolCallId: "c", title: "Edit", kind: "edit", content: [diff], status: "in_progress" });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
    expect(talk.of("item.add").at(-1)?.item.content).toEqual([
      { type: "tool_result", call_id: "c", output: "" },
      { type: "file_ref", path: "/w/a.txt", action: "patch", diff: "--- /w/a.txt\n+++ /w/a.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n" },
    ]);
    talk.update("tool_call", { toolCallId: "d", title: "Edit", kind: "edit", content: [diff] });
    talk.update("tool_call_update", { toolCallId: "d", status: "failed" });
    expect(talk.of("item.add").at(-1)?.item.content).toHaveLength(1);
  });

  it("streams cumulative output as deltas and ends with the exit code", () => {
    const talk = Talk.with("OpenCode");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "bash", kind: "execute", status: "pending", rawInput: {} });
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "in_progress",
      rawInput: { command: "x" },
      content: [text("one\n")],
    });
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "in_progress",
      rawInput: { command: "x" },
      content: [text("one\ntwo\n")],
    });
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "completed",
      content: [text("one\ntwo\n")],
      rawOutput: { metadata: { exit: 3 } },
    });
    expect(
      talk
        .of("item.delta")
        .filter((draft) => draft.part_type === "tool_output")
        .map((draft) => draft.delta),
    ).toEqual(["one\n", "two\n"]);
    expect(talk.of("item.complete").at(-1)?.content).toMatchObject([{ output: "one\ntwo\n", exit_code: 3 }]);
    expect(talk.of("item.start").at(-2)?.item.content).toMatchObject([{ name: "bash" }]);
  });

  it("a description said with the input is not output", () => {
    const talk = Talk.with("@agentclientprotocol/claude-agent-acp");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", name: "Bash", title: "Terminal", kind: "execute", rawInput: {} });
    talk.update("tool_call_update", { toolCallId: "c", title: "ls", rawInput: { command: "ls" }, content: [text("list files")] });
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "completed",
      rawOutput: "a\nb",
      content: [text("```console\na\nb\n```")],
    });
    expect(talk.of("item.add").at(-1)?.item.content).toMatchObject([{ output: "a\nb" }]);
  });

  it("codex-acp: a terminal that is none of the client's tells its output in _meta", () => {
    const talk = Talk.with("@agentclientprotocol/codex-acp");
    talk.prompt("go");
    talk.update("tool_call", {
      toolCallId: "c",
      title: "ls",
      kind: "execute",
      status: "in_progress",
      content: [{ type: "terminal", terminalId: "c" }],
    });
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "completed",
      _meta: {
        terminal_output_delta: { data: "out\n", terminal_id: "c" },
        terminal_exit: { exit_code: 1, signal: null, terminal_id: "c" },
      },
    });
    expect(talk.of("item.complete").at(-1)?.content).toEqual([
      { type: "tool_result", call_id: "c", output: "out\n", is_error: true, exit_code: 1 },
    ]);
  });

  it("copilot: the trailer of an output is its exit code", () => {
    const talk = Talk.with("Copilot");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "run", kind: "execute", rawInput: { command: "false" } });
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "completed",
      content: [text("out\n<shellId: 0 completed with exit code 7>")],
    });
    expect(talk.of("item.add").at(-1)?.item.content).toMatchObject([{ output: "out", exit_code: 7 }]);
  });

  it("the client's terminal: output from the answers we gave, linked by content", () => {
    const talk = Talk.with("@zed-industries/claude-code-acp");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "c", title: "ls", kind: "execute", rawInput: { command: "ls" } });
    talk.request(1, "terminal/create", { command: "ls" });
    talk.reply(1, { terminalId: "term_1" });
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "in_progress",
      content: [{ type: "terminal", terminalId: "term_1" }],
    });
    expect(talk.translator.clientTerminal(SESSION, "term_1", { data: "a.txt\n" })).toMatchObject([
      { do: "item.start" },
      { delta: "a.txt\n" },
    ]);
    talk.request(2, "terminal/output", { terminalId: "term_1" });
    expect(drafts(talk.reply(2, { output: "a.txt\n", truncated: false, exitStatus: { exitCode: 0, signal: null } }))).toEqual([]);
    talk.update("tool_call_update", {
      toolCallId: "c",
      status: "completed",
      rawOutput: [{ type: "text", text: "Exited with code 0." }],
    });
    expect(talk.of("item.complete").at(-1)?.content).toEqual([
      { type: "tool_result", call_id: "c", output: "a.txt\n", exit_code: 0 },
    ]);
  });

  it("calls of a sub-agent stand under the call that spawned it", () => {
    const talk = Talk.with("@agentclientprotocol/claude-agent-acp");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "a", name: "Agent", title: "Task", kind: "think" });
    talk.update("tool_call", {
      toolCallId: "b",
      name: "Read",
      title: "Read",
      kind: "read",
      _meta: { claudeCode: { parentToolUseId: "a" } },
    });
    const [spawning, inner] = talk.of("item.start").slice(-2);
    expect(inner?.item.parent).toBe(spawning?.item.key);
  });
});

describe("permissions", () => {
  const shell = { toolCallId: "run_shell__1", title: "touch a", kind: "execute", status: "pending", content: [] };

  it("gemini: the request is the only announcement of the call, and names its tool", () => {
    const talk = Talk.with("gemini-cli");
    talk.prompt("go");
    talk.request(0, "session/request_permission", { options: OPTIONS, toolCall: shell });
    expect(talk.of("item.start").at(-1)?.item).toMatchObject({ kind: "tool_call", content: [{ name: "run_shell" }] });
    expect(talk.of("permission.request")).toMatchObject([
      {
        action: "Run: touch a",
        input: { command: "touch a" },
        options: [{ id: "yes" }, { id: "ever" }, { id: "no" }],
        native: { id: 0 },
      },
    ]);
  });

  it("[G6] a rejected call that the agent never mentions again ends as failed before the model goes on", () => {
    const talk = Talk.with("gemini-cli");
    talk.prompt("go");
    talk.request(0, "session/request_permission", { options: OPTIONS, toolCall: shell });
    talk.reply(0, { outcome: { outcome: "selected", optionId: "no" } });
    expect(talk.of("permission.resolve")).toMatchObject([{ status: "denied", reply: "reject", resolved_by: "client" }]);
    const told = drafts(talk.text("All right."));
    expect(told[0]).toMatchObject({ do: "item.complete", status: "failed" });
  });

  it.each([
    [{ outcome: { outcome: "selected", optionId: "ever" } }, "approved", "always"],
    [{ outcome: { outcome: "selected", optionId: "bogus" } }, "denied", "reject"],
    [{ outcome: { outcome: "cancelled" } }, "denied", "reject"],
  ])("answer %j is %s", (result, status, reply) => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.request("uuid", "session/request_permission", { options: OPTIONS, toolCall: shell });
    talk.reply("uuid", result);
    expect(talk.of("permission.resolve")).toMatchObject([{ status, reply }]);
  });

  it("ids of the two directions are separate", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    const id = talk.lastId;
    talk.request(id, "session/request_permission", { options: OPTIONS, toolCall: shell });
    talk.reply(id, { outcome: { outcome: "selected", optionId: "yes" } });
    expect(talk.of("turn.end")).toEqual([]);
    talk.answer({ stopReason: "end_turn" }, id);
    expect(talk.of("turn.end")).toHaveLength(1);
  });

  it("$/cancel_request takes a request back", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.request(0, "session/request_permission", { options: OPTIONS, toolCall: shell });
    talk.row("out", { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 0 } });
    expect(talk.of("permission.resolve")).toMatchObject([{ status: "denied", resolved_by: "agent" }]);
  });

  it("qwen: questions dressed as a permission are questions", () => {
    const talk = Talk.with("qwen-code");
    talk.prompt("go");
    const questions = [{ question: "Which?", header: "H", multiSelect: false, options: [{ label: "Red" }, { label: "Blue" }] }];
    talk.request(0, "session/request_permission", {
      options: OPTIONS,
      toolCall: { toolCallId: "q", title: "Ask", kind: "think", _meta: { qwenQuestions: questions } },
    });
    expect(talk.of("permission.request")).toEqual([]);
    expect(talk.of("question.request")).toMatchObject([
      { questions: [{ prompt: "Which?", options: [{ label: "Red" }, { label: "Blue" }] }] },
    ]);
    talk.reply(0, { outcome: { outcome: "selected", optionId: "yes" }, answers: { 0: "Blue" } });
    expect(talk.of("question.resolve")).toMatchObject([{ status: "answered", answers: [["Blue"]] }]);
  });
});

describe("texts that are not the model's", () => {
  it("gemini: [MODE_UPDATE] is a change of configuration", () => {
    const talk = Talk.with("gemini-cli");
    expect(drafts(talk.text("[MODE_UPDATE] plan"))).toEqual([
      { do: "event", type: "config.changed", data: { agent_mode: "plan", permission_mode: "plan" } },
    ]);
  });

  it("codex-acp-zed: warnings are notices", () => {
    const talk = Talk.with("codex-acp");
    talk.prompt("go");
    const [told] = talk.text("Model metadata for `m` not found. Defaulting to fallback metadata.");
    expect(told?.disposition).toBe("noted");
    expect(talk.texts()).toEqual([]);
  });

  it("claude-agent-acp: an error said as a chunk and as the answer is one error", () => {
    const talk = Talk.with("@agentclientprotocol/claude-agent-acp");
    talk.prompt("go");
    talk.text("API Error: 429 slow", "aad9f3a5-372d-4e9e-b7ef-bb81364609bc");
    talk.fail({ code: -32603, message: "Internal error: API Error: 429 slow", data: { errorKind: "rate_limit" } });
    expect(talk.texts()).toEqual([]);
    expect(talk.of("error")).toMatchObject([{ error: { code: "rate_limit", message: "API Error: 429 slow" } }]);
  });

  it("an unpaid bill is an error of the provider, and no reason to sign in", () => {
    const talk = Talk.with("@agentclientprotocol/claude-agent-acp");
    talk.prompt("go");
    talk.fail({ code: -32603, message: "Internal error: no credit", data: { errorKind: "billing_error" } });
    expect(talk.of("error")).toMatchObject([{ error: { code: "api_error" } }]);
  });

  it("qwen: a turn that went in circles ends as one with too many steps, and it is the agent that says so", () => {
    const talk = Talk.with("qwen-code");
    talk.prompt("go");
    talk.fail({ code: -32603, message: "Tool-call loop protection stopped this turn.", data: { errorKind: "loop_detected" } });
    expect(talk.of("error")).toMatchObject([{ error: { code: "max_turns", details: { error_source: "agent" } } }]);
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "max_turns" }]);
  });

  it("codex-acp: a chunk without messageId and end_turn without usage is an error", () => {
    const talk = Talk.with("@agentclientprotocol/codex-acp");
    talk.prompt("go");
    talk.text("exceeded retry limit, last status: 429 Too Many Requests\n\n");
    talk.answer({ stopReason: "end_turn", usage: null });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "error", error_code: "rate_limit" }]);
    expect(talk.texts()).toEqual([]);
  });

  it("copilot: a text that begins with Error: is the model's when the turn used tokens", () => {
    const talk = Talk.with("Copilot");
    talk.prompt("go");
    talk.text("Error: is a word");
    talk.answer({ stopReason: "end_turn", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } });
    expect(talk.texts()).toEqual(["Error: is a word"]);
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "end_turn" }]);
  });

  it("copilot: its own sentence about a fault is one, also after a tool has used tokens", () => {
    const talk = Talk.with("Copilot");
    talk.prompt("go");
    talk.text("Error: 400 The request is not valid.");
    talk.answer({ stopReason: "end_turn", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "error" }]);
    expect(talk.texts()).toEqual([]);
  });

  it("gemini: a turn with nothing in it and no model used is a safety stop", () => {
    const talk = Talk.with("gemini-cli");
    talk.prompt("go");
    talk.answer({
      stopReason: "end_turn",
      _meta: { quota: { token_count: { input_tokens: 0, output_tokens: 0 }, model_usage: [] } },
    });
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "refusal" }]);
  });
});

describe("history", () => {
  it("what is replayed before the answer to session/load is not shown twice", () => {
    const talk = Talk.with("x");
    talk.ask("session/load", { sessionId: "old", cwd: "/work", mcpServers: [] });
    const told = [
      talk.update("user_message_chunk", { content: { type: "text", text: "one" } }, "old"),
      talk.update("agent_message_chunk", { content: { type: "text", text: "answer" } }, "old"),
      talk.update("tool_call", { toolCallId: "c", title: "x" }, "old"),
    ].flat();
    expect(drafts(told)).toEqual([]);
    expect(told.every((translation) => translation.disposition === "mapped")).toBe(true);
    talk.answer({});
    talk.update("agent_message_chunk", { content: { type: "text", text: "new" } }, "old");
    expect(talk.texts()).toEqual(["new"]);
  });

  it("gemini: the replay after the answer ends with the next prompt", () => {
    const talk = Talk.with("gemini-cli");
    talk.ask("session/load", { sessionId: SESSION, cwd: "/work", mcpServers: [] });
    talk.answer({});
    talk.text("old");
    talk.prompt("next");
    talk.text("new");
    expect(talk.texts()).toEqual(["new"]);
  });

  it("copilot: an update for a session that is not named yet is addressed to it, and the request is bound", () => {
    const talk = new Talk();
    talk.ask("initialize", { protocolVersion: 1 });
    talk.answer({ protocolVersion: 1, agentInfo: { name: "Copilot", version: "1" } });
    const [asked] = talk.ask("session/new", { cwd: "/work", mcpServers: [] });
    const [early] = talk.update(
      "available_commands_update",
      { availableCommands: [{ name: "help", description: "h" }] },
      "later",
    );
    const [made] = talk.answer({ sessionId: "later" });
    expect(early?.session).toBe("later");
    expect(made).toMatchObject({ session: "later", bind: { from: asked?.session } });
  });
});

describe("version 2", () => {
  it("takes the user's message from the echo and the turn from state_update", () => {
    const talk = Talk.with("@agentclientprotocol/claude-agent-acp", {}, 2);
    talk.prompt("hello");
    expect(talk.texts("user")).toEqual([]);
    talk.update("user_message", { messageId: "u", content: [{ type: "text", text: "hello" }] });
    talk.answer({ messageId: "u" });
    talk.update("state_update", { state: "running" });
    talk.text("Hi", "m");
    talk.update("state_update", {
      state: "idle",
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    });
    expect(talk.texts("user")).toEqual(["hello"]);
    expect(talk.of("turn.start")).toHaveLength(1);
    expect(talk.of("turn.end")).toMatchObject([{ stop_reason: "end_turn", usage: { input_tokens: 1 } }]);
  });

  it("a running state without a prompt is a turn of the agent's own", () => {
    const talk = Talk.with("x", {}, 2);
    talk.update("state_update", { state: "running" });
    expect(talk.of("turn.start")).toMatchObject([{ initiator: "agent" }]);
  });

  it("decodes terminal output and takes a git patch as the diff", () => {
    const talk = Talk.with("x", {}, 2);
    talk.prompt("go");
    const patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    talk.update("terminal_update", { terminalId: "t", command: "ls" });
    talk.update("tool_call_update", {
      toolCallId: "c",
      kind: "execute",
      title: "ls",
      status: "in_progress",
      content: [{ type: "terminal", terminalId: "t" }],
    });
    talk.update("terminal_output_chunk", { terminalId: "t", data: Buffer.from("é\n").toString("base64") });
    talk.update("terminal_update", { terminalId: "t", exitStatus: { exitCode: 2 } });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
    expect(talk.of("item.complete").at(-1)?.content).toEqual([
      { type: "tool_result", call_id: "c", output: "é\n", is_error: true, exit_code: 2 },
    ]);
    const diff = { type: "diff", changes: [{ operation: "modify", path: "/w/x" }], patch: { format: "git_patch", text: patch } };
    talk.update("tool_call_update", { toolCallId: "d", kind: "edit", title: "Edit", status: "completed", content: [diff] });
    expect(talk.of("item.add").at(-1)?.item.content).toContainEqual({
      type: "file_ref",
      path: "/w/x",
      action: "patch",
      diff: patch,
    });
  });

  it("v2: a character whose bytes come in two pieces is one character", () => {
    const talk = Talk.with("x", {}, 2);
    talk.prompt("go");
    const content = [{ type: "terminal", terminalId: "t" }];
    talk.update("tool_call_update", { toolCallId: "c", kind: "execute", title: "ls", status: "in_progress", content });
    const bytes = Buffer.from("a€b");
    const pieces = [bytes.subarray(0, 2), bytes.subarray(2, 3), bytes.subarray(3)];
    for (const piece of pieces) talk.update("terminal_output_chunk", { terminalId: "t", data: piece.toString("base64") });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
    expect(talk.of("item.delta").map(({ delta }) => delta)).toEqual(["a", "€b"]);
    expect(talk.of("item.complete").at(-1)?.content).toMatchObject([{ output: "a€b" }]);
  });
});

describe("anything else", () => {
  it("extensions are noted, what breaks the protocol's rules is unparsed", () => {
    const talk = Talk.with("x");
    expect(talk.row("out", { jsonrpc: "2.0", method: "_vendor/note", params: {} })[0]?.disposition).toBe("noted");
    expect(talk.row("out", { jsonrpc: "2.0", id: 9, method: "_vendor/ask", params: {} })[0]?.disposition).toBe("noted");
    expect(talk.row("out", { jsonrpc: "2.0", method: "brand/new", params: {} })[0]?.disposition).toBe("unparsed");
    expect(talk.update("brand_new_variant", {})[0]?.disposition).toBe("unparsed");
    expect(talk.row("out", "a log line")[0]?.disposition).toBe("unparsed");
    expect(talk.row("out", { jsonrpc: "2.0", id: 777, result: {} })[0]?.disposition).toBe("unparsed");
  });

  it("an unknown kind or status of a tool is taken for what it can be", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("tool_call", { toolCallId: "z", title: "Odd", kind: "brand_new_kind", status: "paused" });
    expect(talk.of("item.start").at(-1)?.item.content).toMatchObject([{ tool_kind: "other" }]);
    expect(talk.unparsed()).toEqual([]);
  });

  it("accepts any message in any order, and never says nothing", () => {
    const update = fc.record(
      {
        sessionUpdate: fc.constantFrom(
          "tool_call",
          "tool_call_update",
          "agent_message_chunk",
          "plan",
          "plan_update",
          "state_update",
          "subagent_update",
          "terminal_update",
          "config_option_update",
          "odd",
        ),
        toolCallId: fc.constantFrom("a", "b"),
        status: fc.constantFrom("pending", "completed", "failed", null),
        content: fc.oneof(fc.jsonValue(), fc.constant([text("t")]), fc.constant({ type: "text", text: "t" })),
        rawInput: fc.jsonValue(),
        rawOutput: fc.jsonValue(),
        _meta: fc.jsonValue(),
        sessionId: fc.constantFrom("k", 3),
        plan: fc.jsonValue(),
        configOptions: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const params = fc.oneof(
      fc.record(
        {
          sessionId: fc.constantFrom("s", "k"),
          update,
          requestId: fc.constantFrom(1, 2),
          toolCall: update,
          options: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    );
    const message = fc.record(
      {
        id: fc.constantFrom(1, 2, "1", null),
        method: fc.constantFrom(
          "session/update",
          "session/prompt",
          "session/request_permission",
          "elicitation/create",
          "session/new",
          "session/load",
          "initialize",
          "terminal/create",
          "x",
        ),
        params,
        result: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const row = fc.record({
      dir: fc.constantFrom("in" as const, "out" as const, "err" as const, "exit" as const),
      data: fc.oneof(message, fc.jsonValue()),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        const translator = new AcpTranslator();
        for (const each of rows) expect(translator.translate(each).length).toBeGreaterThan(0);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});

describe("what the schema allows and no agent of ours says", () => {
  it("a session that names itself or its parent as its sub-agent is none", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    talk.update("subagent_update", { sessionId: SESSION });
    talk.update("subagent_update", { sessionId: "kid" });
    talk.update("subagent_update", { sessionId: SESSION }, "kid");
    talk.text("Hi");
    expect(talk.of("item.start").filter(({ item }) => item.kind === "tool_call")).toHaveLength(1);
    expect(talk.told.filter(({ disposition }) => disposition === "unparsed")).toEqual([]);
  });

  it("an image without bytes is an image", () => {
    const talk = Talk.with("x");
    talk.prompt("go");
    const [told] = talk.update("agent_message_chunk", { content: { type: "image", data: "", mimeType: "image/png" } });
    expect(told).toMatchObject({ disposition: "mapped" });
  });

  it("an error for a prompt whose turn is over is noted", () => {
    const talk = Talk.with("x", {}, 2);
    talk.prompt("go");
    talk.update("state_update", { state: "idle", stopReason: "end_turn" });
    const detail = { code: -32602, message: "late" };
    expect(talk.fail(detail)).toMatchObject([{ disposition: "noted", drafts: [{ data: { name: "request_failed", detail } }] }]);
  });
});
