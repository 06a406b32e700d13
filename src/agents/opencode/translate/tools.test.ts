// Tools, sub-agents, plans, requests, reverts: what hangs on a message or takes it away.
import { describe, expect, it } from "vitest";
import { SESSION, Wire } from "./test-wire.ts";

const time = { start: 10, end: 30 };
const running = (input: object, more: object = {}) => ({ status: "running", input, time: { start: 10 }, ...more });
const completed = (input: object, output: string, more: object = {}) => ({
  status: "completed",
  input,
  output,
  title: "",
  metadata: {},
  time,
  ...more,
});

describe("tools", () => {
  it("a command streams its output and ends with exit code and duration", () => {
    const input = { command: "make" };
    const told = new Wire()
      .begun()
      .tool("msg_a", "t", "bash", { status: "pending", input: {}, raw: "" })
      .tool("msg_a", "t", "bash", running(input, { metadata: { output: "" } }))
      .tool("msg_a", "t", "bash", running(input, { metadata: { output: "" } }))
      .tool("msg_a", "t", "bash", running(input, { metadata: { output: "one\n" } }))
      .tool("msg_a", "t", "bash", running(input, { metadata: { output: "one\ntwo\n" } }))
      .tool("msg_a", "t", "bash", completed(input, "one\ntwo\n", { metadata: { output: "one\ntwo\n", exit: 2 } }))
      .done("msg_a", "tool-calls")
      .idle()
      .replay();
    expect(
      told
        .of("item.delta")
        .filter(({ part_type }) => part_type === "tool_output")
        .map(({ delta }) => delta),
    ).toEqual(["one\n", "two\n"]);
    expect(told.of("item.updated")).toHaveLength(1);
    const result = told.of("item.completed").find(({ item }) => item.kind === "tool_result")?.item;
    expect(result?.content).toEqual([
      { type: "tool_result", call_id: "call_t", output: "one\ntwo\n", is_error: true, exit_code: 2, duration_ms: 20 },
    ]);
    expect(told.faults).toEqual([]);
  });

  it("an edit carries its diff, a new file one made from its content, an image its bytes to the store", () => {
    const patch = "Index: /p/a\n===\n--- /p/a\n+++ /p/a\n@@ -1 +1 @@\n-x\n+y\n";
    const wire = new Wire()
      .begun()
      .tool("msg_a", "e", "edit", completed({ filePath: "/p/a" }, "ok", { metadata: { filediff: { file: "/p/a", patch } } }));
    wire.tool(
      "msg_a",
      "w",
      "write",
      completed({ filePath: "/p/b", content: "new\n" }, "ok", { metadata: { filepath: "/p/b", exists: false } }),
    );
    wire.tool(
      "msg_a",
      "r",
      "read",
      completed({ filePath: "/p/c.png" }, "ok", {
        attachments: [{ type: "file", mime: "image/png", url: "data:image/png;base64,AAAA" }],
      }),
    );
    const told = wire.done("msg_a").idle().replay();
    const refs = told.of("item.completed").flatMap(({ item }) => item.content.filter((part) => part.type === "file_ref"));
    expect(refs).toEqual([
      { type: "file_ref", path: "/p/a", action: "patch", diff: "--- /p/a\n+++ /p/a\n@@ -1 +1 @@\n-x\n+y\n" },
      { type: "file_ref", path: "/p/b", action: "write", diff: "--- /dev/null\n+++ /p/b\n@@ -0,0 +1,1 @@\n+new\n" },
      { type: "file_ref", path: "/p/c.png", action: "read" },
    ]);
    expect(told.of("artifact.written")).toHaveLength(1);
    expect(JSON.stringify(told.events.filter(({ raw }) => raw === null))).not.toContain("AAAA");
  });

  it("an unknown tool is renamed to invalid and ends completed: here it keeps its name, is of no kind and has failed", () => {
    const input = { tool: "lab_fly", error: "Model tried to call unavailable tool 'lab_fly'. Available tools: bash." };
    const told = new Wire()
      .begun()
      .tool("msg_a", "t", "lab_fly", { status: "pending", input: {}, raw: "" })
      .tool("msg_a", "t", "invalid", running(input))
      .tool("msg_a", "t", "invalid", completed(input, "no such tool", { title: "Invalid Tool" }))
      .done("msg_a")
      .idle()
      .replay();
    const call = told.of("item.completed").find(({ item }) => item.kind === "tool_call")?.item;
    expect(call?.status).toBe("failed");
    expect(call?.content[0]).toMatchObject({ name: "lab_fly", tool_kind: "other" });
    expect(told.items).toContain("tool_result failed: no such tool");
  });

  it("[U17] a retry in mid-stream removes the message and the call it was writing, and starts another", () => {
    const told = new Wire()
      .begun()
      .part("msg_a", "s1", { type: "step-start" })
      .delta("msg_a", "p1", "Half")
      .tool("msg_a", "t1", "bash", { status: "pending", input: {}, raw: "" })
      .status("retry", { attempt: 1, message: "reset", next: 1 })
      .status("busy")
      .part("msg_a", "s2", { type: "step-start" })
      .delta("msg_a", "p2", "Whole")
      .part("msg_a", "f", {
        type: "step-finish",
        reason: "stop",
        cost: 0.5,
        tokens: { input: 1, output: 2, reasoning: 0, cache: { read: 0, write: 0 } },
      })
      .tool("msg_a", "t1", "bash", { status: "error", input: {}, error: "Tool execution aborted", time })
      .done("msg_a")
      .idle()
      .replay();
    expect(told.of("step.ended").map(({ finish_reason, cost_usd }) => [finish_reason, cost_usd])).toEqual([
      ["retry", undefined],
      ["stop", 0.5],
    ]);
    expect(told.of("item.removed")).toHaveLength(2);
    expect(told.items).toEqual(["user completed: hi", "assistant completed: Whole"]);
    expect(told.faults).toEqual([]);
  });

  it("[G5] a sub-agent's items hang under its call, and its failure is not told as an error", () => {
    const child = "ses_child";
    const metadata = { sessionId: child };
    const fault = { name: "APIError", data: { message: "Bad", statusCode: 400 } };
    const wire = new Wire()
      .begun()
      .tool("msg_a", "t", "task", { status: "pending", input: {}, raw: "" })
      .event("session.created", { sessionID: child, info: { id: child, parentID: SESSION } })
      .tool("msg_a", "t", "task", running({ description: "Look" }, { metadata }));
    wire
      .user("msg_cu", "look", child)
      .status("busy", {}, child)
      .assistant("msg_ca", { parentID: "msg_cu" }, child)
      .error(fault.name, fault.data, child)
      .idle(child)
      .done("msg_ca", null, { error: fault }, child)
      .idle(child);
    const told = wire
      .tool("msg_a", "t", "task", { status: "error", input: {}, error: "Subagent failed: Bad", metadata, time })
      .done("msg_a", "tool-calls")
      .assistant("msg_b")
      .done("msg_b")
      .idle()
      .replay();
    const call = told.of("item.started").find(({ item }) => item.kind === "tool_call")?.item.item_id;
    const parents = told
      .of("item.started")
      .filter(({ item }) => item.native_item_id?.startsWith("msg_c"))
      .map(({ item }) => item.parent_id);
    expect(parents).toEqual([call]);
    expect(told.replay.sessions).toHaveLength(1);
    expect(told.of("error")).toEqual([]);
    expect(told.stops).toEqual(["end_turn"]);
    expect(told.faults).toEqual([]);
  });

  it("a session with a parent that a client made is its own, and so is a fork", () => {
    const wire = new Wire().created();
    const id = wire.request("POST", "/session", { parentID: SESSION });
    wire
      .event("session.created", { sessionID: "ses_2", info: { id: "ses_2", parentID: SESSION } })
      .answer(id, 200, { id: "ses_2", parentID: SESSION });
    wire.ask("POST", `/session/${SESSION}/fork`, {}, 200, { id: "ses_3", title: "t (fork #1)" });
    expect(wire.replay().replay.sessions.map(({ native_session }) => native_session)).toEqual([SESSION, "ses_2", "ses_3"]);
  });

  it("[U10] a sub-agent that works again in a later turn has a plan in that turn, too", () => {
    const kid = "ses_kid";
    const wire = new Wire().created();
    for (const n of [1, 2]) {
      const [user, answer, call] = [`msg_u${n}`, `msg_a${n}`, `prt_t${n}`];
      const state = { input: { prompt: "p", description: "d" }, metadata: { sessionId: kid }, time: { start: 1, end: 3 } };
      wire.prompt("go").user(user, "go").status("busy").assistant(answer, { parentID: user });
      wire.tool(answer, call, "task", { status: "running", ...state });
      for (const status of ["pending", "completed"])
        wire.event("todo.updated", { sessionID: kid, todos: [{ content: `Write ${n}`, status, priority: "high" }] });
      wire.tool(answer, call, "task", { status: "completed", ...state, output: "out", title: "d" });
      wire.done(answer, "stop", { parentID: user }).idle();
    }
    const told = wire.replay();
    expect(told.faults).toEqual([]);
    const plans = told.of("item.completed").filter(({ item }) => item.kind === "status");
    expect(plans.map(({ item }) => item.content)).toMatchObject([
      [{ entries: [{ text: "Write 1", status: "completed" }] }],
      [{ entries: [{ text: "Write 2", status: "completed" }] }],
    ]);
  });

  it("a todo list is one plan a turn", () => {
    const todos = (status: string) => ({ sessionID: SESSION, todos: [{ content: "Write", status, priority: "high" }] });
    const told = new Wire()
      .begun()
      .event("todo.updated", todos("pending"))
      .event("todo.updated", todos("completed"))
      .done("msg_a")
      .idle()
      .replay();
    const plans = told.of("item.completed").filter(({ item }) => item.kind === "status");
    expect(plans.map(({ item }) => item.content)).toEqual([
      [{ type: "plan", entries: [{ text: "Write", status: "completed", priority: "high" }] }],
    ]);
  });
});

describe("requests", () => {
  const asked = (id: string, call: string) => ({
    id,
    sessionID: SESSION,
    permission: "bash",
    patterns: ["rm x"],
    metadata: { command: "rm x" },
    always: ["rm *"],
    tool: { messageID: "msg_a", callID: call },
  });

  it("[G6] a permission is asked with its call and resolved by our answer, once", () => {
    const wire = new Wire()
      .begun()
      .tool("msg_a", "t", "bash", running({ command: "rm x" }))
      .event("permission.asked", asked("per_1", "call_t"));
    const told = wire
      .ask("POST", "/permission/per_1/reply", { reply: "reject", message: "no" }, 200, true)
      .event("permission.replied", { sessionID: SESSION, requestID: "per_1", reply: "reject" })
      .done("msg_a")
      .idle()
      .replay();
    const [request] = told.of("permission.requested");
    expect(request?.action).toBe("Run: rm x");
    expect(request?.metadata.item_id).toBe(told.of("item.started").find(({ item }) => item.kind === "tool_call")?.item.item_id);
    expect(request?.metadata.options.map(({ label }) => label)).toEqual(["Allow once", "Allow rm * for this session", "Reject"]);
    expect(
      told.of("permission.resolved").map(({ status, metadata }) => [status, metadata.resolved_by, metadata.message]),
    ).toEqual([["denied", "client", "no"]]);
    expect(told.faults).toEqual([]);
  });

  it("rejecting one rejects the others too: these are the agent's doing", () => {
    const wire = new Wire().begun().event("permission.asked", asked("per_1", "a")).event("permission.asked", asked("per_2", "b"));
    wire.ask("POST", "/permission/per_1/reply", { reply: "reject" }, 200, true);
    const told = wire
      .event("permission.replied", { sessionID: SESSION, requestID: "per_1", reply: "reject" })
      .event("permission.replied", { sessionID: SESSION, requestID: "per_2", reply: "reject" })
      .done("msg_a")
      .idle()
      .replay();
    expect(told.of("permission.resolved").map(({ metadata }) => metadata.resolved_by)).toEqual(["client", "agent"]);
  });

  it("a permission that another client answered is seen as resolved", () => {
    const told = new Wire()
      .begun()
      .event("permission.asked", asked("per_1", "a"))
      .event("permission.replied", { sessionID: SESSION, requestID: "per_1", reply: "once" })
      .done("msg_a")
      .idle()
      .replay();
    expect(told.of("permission.resolved").map(({ status }) => status)).toEqual(["approved"]);
  });

  it("a permission that was pending before we listened is found, and one that went with an abort does not return", () => {
    const found = new Wire()
      .begun()
      .ask("GET", "/permission", undefined, 200, [asked("per_1", "a")])
      .replay();
    expect(found.of("permission.requested")).toHaveLength(1);
    const wire = new Wire().begun().event("permission.asked", asked("per_1", "a"));
    wire
      .ask("POST", `/session/${SESSION}/abort`, undefined, 200, true)
      .done("msg_a", null)
      .idle()
      .ask("GET", "/permission", undefined, 200, [asked("per_1", "a")]);
    expect(wire.replay().of("permission.requested")).toHaveLength(1);
    expect(wire.replay().of("permission.resolved")).toHaveLength(1);
  });

  it("questions keep order, choices and own words", () => {
    const questions = [
      { question: "Which?", header: "W", options: [{ label: "A", description: "a" }], multiple: true },
      { question: "Name?", header: "N", options: [], custom: false },
    ];
    const wire = new Wire().begun().event("question.asked", { id: "que_1", sessionID: SESSION, questions });
    const told = wire
      .ask("POST", "/question/que_1/reply", { answers: [["A"], ["Ada"]] }, 200, true)
      .event("question.replied", { sessionID: SESSION, requestID: "que_1", answers: [["A"], ["Ada"]] })
      .done("msg_a")
      .idle()
      .replay();
    expect(told.of("question.requested")[0]?.questions.map(({ multi_select, free_text }) => [multi_select, free_text])).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(told.of("question.resolved").map(({ status, answers }) => [status, answers])).toEqual([
      ["answered", [["A"], ["Ada"]]],
    ]);
  });
});

describe("removal", () => {
  const info = (revert?: object) => ({
    sessionID: SESSION,
    info: { id: SESSION, title: "t", directory: "/p", ...(revert ? { revert } : {}) },
  });
  const turn = () =>
    new Wire()
      .begun()
      .tool("msg_a", "t", "bash", completed({ command: "x" }, "y"))
      .done("msg_a")
      .idle();

  it("a revert removes items at once, unrevert brings them back", () => {
    const told = turn()
      .event("session.updated", info({ messageID: "msg_u" }))
      .event("session.updated", info())
      .replay();
    expect(told.of("item.removed").map(({ reason }) => reason)).toEqual(["reverted", "reverted", "reverted", "reverted"]);
    expect(told.items.slice(-4)).toEqual([
      "user completed: hi",
      "assistant completed: ",
      "tool_call completed: tool_call",
      "tool_result completed: y",
    ]);
    expect(told.faults).toEqual([]);
  });

  it("what was reverted and then removed is not removed twice", () => {
    const told = turn()
      .event("session.updated", info({ messageID: "msg_a" }))
      .event("message.removed", { sessionID: SESSION, messageID: "msg_a" })
      .event("session.updated", info())
      .replay();
    expect(told.of("item.removed")).toHaveLength(3);
    expect(told.faults).toEqual([]);
  });

  it("a removed text part of a finished message replaces the message", () => {
    const wire = new Wire().begun().delta("msg_a", "p", "one").delta("msg_a", "q", "two").done("msg_a").idle();
    const told = wire.event("message.part.removed", { sessionID: SESSION, messageID: "msg_a", partID: "p" }).replay();
    expect(told.of("item.removed")).toHaveLength(1);
    expect(told.items.at(-1)).toBe("assistant completed: two");
    expect(told.faults).toEqual([]);
  });
});

it("[G6] a call of a sub-agent with the id of an open call of its parent is another call, with a result of its own", () => {
  const bash = (wire: Wire, session: string, message: string, id: string, state: object): Wire =>
    wire.part(message, id, { type: "tool", tool: "bash", callID: "call_0", state }, session);
  const wire = new Wire().begun();
  const metadata = { sessionId: "ses_kid" };
  const begun = { status: "running", input: { command: "x" }, time: { start: 1 } };
  const over = (output: string) => ({
    ...begun,
    status: "completed",
    output,
    title: "x",
    metadata: { exit: 0 },
    time: { start: 1, end: 2 },
  });
  wire.tool("msg_a", "t", "task", { status: "running", input: {}, metadata, time: { start: 1 } });
  bash(wire, SESSION, "msg_a", "one", begun);
  wire.assistant("msg_k", {}, "ses_kid");
  bash(wire, "ses_kid", "msg_k", "two", begun);
  wire.event("permission.asked", {
    id: "per_1",
    sessionID: "ses_kid",
    permission: "bash",
    patterns: ["x"],
    metadata: { command: "x" },
    always: [],
    tool: { messageID: "msg_k", callID: "call_0" },
  });
  wire.event("permission.replied", { sessionID: "ses_kid", requestID: "per_1", reply: "once" });
  bash(wire, "ses_kid", "msg_k", "two", over("of the child"));
  bash(wire, SESSION, "msg_a", "one", over("of the parent"));
  const told = wire.done("msg_k", "stop", {}, "ses_kid").done("msg_a").idle().replay();
  expect(told.faults).toEqual([]);
  const items = told.of("item.completed").map(({ item }) => item);
  const outputs = ["one", "two"].map((id) => {
    const [call, result] = ["tool_call", "tool_result"].map((kind) =>
      items.find((item) => item.kind === kind && item.native_item_id === id),
    );
    const [asked] = call?.content ?? [];
    const [answer] = result?.content ?? [];
    if (asked?.type !== "tool_call" || answer?.type !== "tool_result") throw new Error("no call or no result");
    return [answer.output, asked.call_id === answer.call_id, call?.parent_id === result?.parent_id, asked.call_id];
  });
  expect(outputs).toEqual([
    ["of the parent", true, true, "call_0"],
    ["of the child", true, true, "two"],
  ]);
  expect(told.of("permission.requested")).toMatchObject([{ metadata: { call_id: "two" } }]);
});
