import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../../../test-seed.ts";
import { command, converse, message } from "./test-thread.ts";
import { CodexTranslator } from "./translator.ts";

describe("messages", () => {
  it("[G4] deltas and final text agree", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", message("m", ""))
      .delta("m", "Hel")
      .delta("m", "lo")
      .item("completed", message("m", "Hello"))
      .done();
    expect(talk.items()).toMatchObject([
      { kind: "message", role: "assistant", status: "completed", content: [{ type: "text", text: "Hello" }] },
    ]);
  });

  it("[G4] a message without deltas has its whole text at the start", () => {
    const talk = converse().started().turn().whole(message("m", "All at once.")).done();
    expect(talk.items()[0]?.content).toEqual([{ type: "text", text: "All at once." }]);
  });

  it("[U1] a call of a later process hangs under a message of its own", () => {
    const talk = converse().started().turn("t1").whole(command("c1"), "t1").done("completed", {}, "t1");
    talk.rows.push({ t_ms: 1, dir: "daemon", data: { do: "process", fresh_keys: false } });
    talk.started().turn("t2").whole(command("c2"), "t2").done("completed", {}, "t2");
    const calls = talk.items().filter(({ kind }) => kind === "tool_call");
    expect(new Set(calls.map(({ parent_id }) => parent_id)).size).toBe(2);
  });

  it("[G3] a delta before its start makes the item", () => {
    const talk = converse().started().turn().delta("m", "Early").item("completed", message("m", "Early bird")).done();
    expect(talk.items()).toMatchObject([{ status: "completed", content: [{ text: "Early bird" }] }]);
  });

  it("a phase is told", () => {
    const talk = converse()
      .started()
      .turn()
      .whole(message("m", "Looking.", { phase: "commentary" }))
      .done();
    expect(talk.of("agent.notice")).toContainEqual({
      name: "message_phase",
      detail: { native_item_id: "m", phase: "commentary" },
    });
  });

  it("an asynchronous question is a message with its questions", () => {
    const asked = [{ title: "Colour?", options: ["Red", "Blue"] }];
    const talk = converse()
      .started()
      .turn()
      .whole(message("m", "Colour?", { delivery: "async", questions: asked }))
      .done();
    expect(talk.items()[0]?.content[1]).toEqual({ type: "json", json: { delivery: "async", questions: asked } });
  });

  it("reasoning and the text that follows it are one message; calls of one response have one parent", () => {
    const thought = { type: "reasoning", id: "r", summary: ["Hm."], content: [] };
    const usage = { total: { totalTokens: 1 }, last: { totalTokens: 1 } };
    const talk = converse()
      .started()
      .turn()
      .whole(thought)
      .whole(command("c1", { status: "completed", aggregatedOutput: "1", exitCode: 0 }))
      .whole(command("c2", { status: "completed", aggregatedOutput: "2", exitCode: 0 }))
      .notify("thread/tokenUsage/updated", { threadId: "th", turnId: "tu", tokenUsage: usage })
      .whole({ ...thought, id: "r2" })
      .whole(message("m", "Done."))
      .done();
    const messages = talk.items().filter(({ kind }) => kind === "message");
    expect(messages.map(({ content }) => content.map(({ type }) => type))).toEqual([["reasoning"], ["reasoning", "text"]]);
    expect(messages[1]?.native_item_id).toBe("m");
    const parents = talk.items().flatMap(({ kind, parent_id }) => (kind === "tool_call" ? [parent_id] : []));
    expect(parents).toEqual([messages[0]?.item_id, messages[0]?.item_id]);
    expect(talk.replay().sessions.flatMap(({ violations }) => violations)).toEqual([]);
  });

  it("summary and raw reasoning are parts of one item, in the order in which they came", () => {
    const part = "item/reasoning/summaryTextDelta";
    const raw = "item/reasoning/textDelta";
    const talk = converse()
      .started()
      .turn()
      .item("started", { type: "reasoning", id: "r", summary: [], content: [] })
      .delta("r", "one", part, "tu", "th", { summaryIndex: 0 })
      .delta("r", "hidden", raw, "tu", "th", { contentIndex: 0 })
      .delta("r", "two", part, "tu", "th", { summaryIndex: 1 })
      .item("completed", { type: "reasoning", id: "r", summary: ["one", "two"], content: ["hidden"] })
      .done();
    expect(talk.items()[0]?.content).toEqual([
      { type: "reasoning", text: "one", visibility: "public" },
      { type: "reasoning", text: "hidden", visibility: "private" },
      { type: "reasoning", text: "two", visibility: "public" },
    ]);
    expect(talk.of("item.delta").map(({ delta, visibility }) => [delta, visibility])).toEqual([
      ["one", undefined],
      ["hidden", "private"],
      ["two", undefined],
    ]);
  });

  it("a plan of plan mode has its text and its steps", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", { type: "plan", id: "tu-plan", text: "" })
      .delta("tu-plan", "1. Re", "item/plan/delta")
      .item("completed", { type: "plan", id: "tu-plan", text: "1. Read\n2. Write" })
      .done();
    expect(talk.items()[0]).toMatchObject({
      kind: "status",
      content: [
        { type: "text" },
        {
          type: "plan",
          entries: [
            { text: "Read", status: "pending" },
            { text: "Write", status: "pending" },
          ],
        },
      ],
    });
  });

  it("an image that came as data is taken out of the event", () => {
    const content = [
      { type: "text", text: "look" },
      { type: "image", url: "data:image/png;base64,aGk=" },
      { type: "localImage", path: "/w/a.png" },
    ];
    const talk = converse().started().turn().whole({ type: "userMessage", id: "u", content }).done();
    expect(talk.items()[0]?.content).toMatchObject(
      [{ type: "text" }, { type: "image", mime: "image/png", path: /artifacts/ }, { type: "image", path: "/w/a.png" }].map(
        (part) => ("path" in part && part.path instanceof RegExp ? { ...part, path: expect.stringMatching(part.path) } : part),
      ),
    );
  });
});

describe("items the server never closes", () => {
  it("[G3] [U17] a message cut by a lost stream is removed when it is asked for again, and no call hangs under it", () => {
    const retry = {
      error: { message: "Reconnecting... 1/2", codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: null } } },
      willRetry: true,
    };
    const talk = converse()
      .started()
      .turn()
      .item("started", message("m1", ""))
      .delta("m1", "Half")
      .notify("error", { threadId: "th", turnId: "tu", ...retry })
      .whole({ type: "mcpToolCall", id: "c", server: "lab", tool: "quick", arguments: {} })
      .item("started", message("m2", ""))
      .delta("m2", "Whole")
      .item("completed", message("m2", "Whole"))
      .done();
    expect(talk.of("item.removed")).toMatchObject([{ native_item_id: "m1" }]);
    expect(talk.items().map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      "tool_call completed",
      "tool_result completed",
      "message completed",
    ]);
    expect(talk.items()[0]?.parent_id).not.toBe(talk.of("item.removed")[0]?.item_id);
    expect(talk.of("session.status")).toContainEqual(expect.objectContaining({ status: "retrying", attempt: 1 }));
    expect(talk.of("error")).toEqual([]);
  });

  it("[G7] an interrupted turn closes its message and its open tool", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", { type: "mcpToolCall", id: "c", server: "lab", tool: "slow", arguments: {} })
      .item("started", message("m", ""))
      .delta("m", "Ha")
      .done("interrupted");
    expect(talk.items().map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
    expect(talk.items().map(({ kind }) => kind)).toEqual(["tool_call", "message", "tool_result"]);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
  });

  it("a refusal, of which Codex leaves an empty message, is a refusal", () => {
    const talk = converse().started().turn().item("started", message("m", "")).done();
    expect(talk.items()).toMatchObject([{ content: [{ type: "refusal" }] }]);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "refusal" }]);
  });

  it("a reviewer's own empty message is no refusal", () => {
    const talk = converse()
      .started()
      .call("review/start", { threadId: "th" }, { result: { turn: { id: "tu" }, reviewThreadId: "th" } })
      .notify("turn/started", { threadId: "th", turn: { id: "inner", rootTurnId: "tu" } })
      .item("started", message("m1", ""))
      .whole({ type: "exitedReviewMode", id: "x", review: "Fine." })
      .whole(message("m2", "Fine."))
      .done();
    expect(talk.of("turn.started")).toHaveLength(1);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
    expect(talk.items().at(-1)?.content).toEqual([{ type: "text", text: "Fine." }]);
    expect(talk.items().filter(({ status }) => status === "failed")).toEqual([]);
    expect(talk.of("item.removed")).toHaveLength(1);
  });

  it("[U2] what a review is about is the first item of its turn, once", () => {
    const asked = { type: "userMessage", content: [{ type: "text", text: "Review it" }] };
    const talk = converse()
      .started()
      .call("review/start", { threadId: "th" }, { result: { turn: { id: "tu", items: [{ ...asked, id: "tu" }] } } })
      .whole({ type: "enteredReviewMode", id: "e", review: "Review it" })
      .notify("turn/started", { threadId: "th", turn: { id: "inner", rootTurnId: "tu" } })
      .whole({ ...asked, id: "u" })
      .whole(message("m", "Fine."))
      .done();
    expect(talk.items().map(({ kind, role }) => `${kind}/${role}`)).toEqual(["message/user", "status/null", "message/assistant"]);
  });

  it("a cut message under which a call hangs stays", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", message("m1", ""))
      .whole(command("c", { status: "completed", aggregatedOutput: "", exitCode: 0 }))
      .item("started", message("m2", "Next."))
      .item("completed", message("m2", "Next."))
      .done();
    expect(talk.of("item.removed")).toEqual([]);
  });

  it("a command that outlives its interrupted turn is completed late", () => {
    const ended = command("c", { status: "failed", aggregatedOutput: "started\n", exitCode: -1, durationMs: 9 });
    const talk = converse()
      .started()
      .turn()
      .item("started", command("c"))
      .delta("c", "started\n", "item/commandExecution/outputDelta")
      .done("interrupted")
      .item("completed", ended);
    const events = talk.events();
    const at = (type: string) => events.findLastIndex((event) => event.type === type);
    expect(at("item.completed")).toBeGreaterThan(at("turn.ended"));
    const [result] = talk.items()[1]?.content ?? [];
    expect(result).toMatchObject({ output: "started\n", is_error: true });
    expect(result).not.toHaveProperty("exit_code");
    expect(talk.of("turn.started")).toHaveLength(1);
  });

  it("a command that still waits for its permission does not outlive its turn", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", command("c", { processId: null, source: "agent" }))
      .done("interrupted");
    const types = talk.events().map(({ type }) => type);
    expect(types.indexOf("item.completed")).toBeLessThan(types.indexOf("turn.ended"));
  });
});

describe("tools", () => {
  it("a command has its inner words as title, streamed output, exit code and duration", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", command("c"))
      .delta("c", "second\n", "item/commandExecution/outputDelta")
      .item("completed", command("c", { status: "completed", aggregatedOutput: "first\nsecond\n", exitCode: 0, durationMs: 5 }))
      .done();
    expect(talk.items()).toMatchObject([
      {
        kind: "tool_call",
        role: "assistant",
        status: "completed",
        content: [{ title: "make all", tool_kind: "shell", call_id: "c" }],
      },
      {
        kind: "tool_result",
        role: "tool",
        status: "completed",
        content: [{ output: "first\nsecond\n", exit_code: 0, duration_ms: 5 }],
      },
    ]);
  });

  it("[G5] a tool belongs to the message of its own model response", () => {
    const usage = { total: { totalTokens: 9 }, last: { totalTokens: 9 }, modelContextWindow: 100 };
    const end = command("c2", { status: "completed", aggregatedOutput: "", exitCode: 0 });
    const talk = converse()
      .started()
      .turn()
      .whole(message("m", "I will look."))
      .whole(command("c1", { status: "completed", aggregatedOutput: "", exitCode: 0 }))
      .notify("thread/tokenUsage/updated", { threadId: "th", turnId: "tu", tokenUsage: usage })
      .whole(end)
      .done();
    const [said, first, , second] = talk.items();
    expect(first?.parent_id).toBe(said?.item_id);
    expect(second?.parent_id).not.toBe(said?.item_id);
    expect(second?.parent_id).not.toBeNull();
  });

  it("added, changed, moved and deleted files have unified diffs", () => {
    const changes = [
      { path: "/w/new.txt", kind: { type: "add" }, diff: "one\n" },
      { path: "/w/a.txt", kind: { type: "update", move_path: null }, diff: "@@ -1 +1 @@\n-a\n+b\n" },
      {
        path: "/w/old.txt",
        kind: { type: "update", move_path: "/w/moved.txt" },
        diff: "@@ -1 +1 @@\n-o\n+m\n\n\nMoved to: /w/moved.txt",
      },
      { path: "/w/gone.txt", kind: { type: "delete" }, diff: "bye\n" },
    ];
    const talk = converse().started().turn().whole({ type: "fileChange", id: "f", changes, status: "completed" }).done();
    const diffs = talk.items()[1]?.content.flatMap((part) => (part.type === "file_ref" ? [part.diff] : []));
    expect(diffs?.[0]).toContain("--- /dev/null");
    expect(diffs?.[0]).toContain("+one");
    expect(diffs?.[1]).toBe("--- /w/a.txt\n+++ /w/a.txt\n@@ -1 +1 @@\n-a\n+b\n");
    expect(diffs?.[2]).toMatch(/^--- \/w\/old.txt\n\+\+\+ \/w\/moved.txt\n/);
    expect(diffs?.[2]).not.toContain("Moved to");
    expect(diffs?.[3]).toContain("+++ /dev/null");
    expect(talk.items()[0]?.content).toMatchObject([{ tool_kind: "move" }]);
  });

  it("a streamed patch begins before its item and is one call", () => {
    const changes = [{ path: "a.txt", kind: { type: "add" }, diff: "x" }];
    const talk = converse()
      .started()
      .turn()
      .notify("item/fileChange/patchUpdated", { threadId: "th", turnId: "tu", itemId: "f", changes })
      .whole({ type: "fileChange", id: "f", changes, status: "completed" })
      .done();
    expect(talk.items().map(({ kind }) => kind)).toEqual(["tool_call", "tool_result"]);
  });

  it("a picture an MCP tool gave back is an image part", () => {
    const result = {
      content: [
        { type: "text", text: "here" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
      ],
      structuredContent: null,
    };
    const talk = converse()
      .started()
      .turn()
      .whole({ type: "mcpToolCall", id: "c", server: "lab", tool: "draw", arguments: {}, status: "completed", result })
      .done();
    expect(talk.items()[1]?.content).toMatchObject([
      { type: "tool_result", output: "here" },
      { type: "image", mime: "image/png" },
    ]);
  });

  it("a call for which Codex makes no item is told from its raw items, once", () => {
    const raw = (item: object) => ({ threadId: "th", turnId: "tu", item });
    const talk = converse()
      .started()
      .turn()
      .notify("rawResponseItem/completed", raw({ type: "function_call", name: "no_such", arguments: "{}", call_id: "x" }))
      .notify("rawResponseItem/completed", raw({ type: "function_call", name: "exec_command", arguments: "{}", call_id: "c" }))
      .whole(command("c", { status: "completed", aggregatedOutput: "ok", exitCode: 0 }))
      .notify(
        "rawResponseItem/completed",
        raw({ type: "function_call_output", call_id: "x", output: "unsupported call: no_such" }),
      )
      .notify("rawResponseItem/completed", raw({ type: "function_call_output", call_id: "c", output: "ok" }))
      .done();
    const calls = talk
      .items()
      .filter(({ kind }) => kind === "tool_call")
      .map(({ content }) => content[0]);
    expect(calls).toMatchObject([{ name: "commandExecution" }, { name: "no_such" }]);
    expect(talk.items().at(-1)).toMatchObject({ status: "failed", content: [{ is_error: true }] });
  });

  it("[G3] an item id that comes again in another turn is another item", () => {
    const talk = converse()
      .started()
      .turn("t1")
      .whole(message("m", "One."), "t1")
      .done("completed", {}, "t1")
      .turn("t2")
      .whole(message("m", "Two."), "t2")
      .done("completed", {}, "t2");
    expect(talk.items().map(({ content }) => content[0])).toMatchObject([{ text: "One." }, { text: "Two." }]);
  });
});

describe("turns", () => {
  it("turn/start while a turn runs joins it", () => {
    const talk = converse()
      .started()
      .turn()
      .call("turn/start", { threadId: "th" }, { result: { turn: { id: "tu" } } })
      .whole(message("m", "Both."))
      .done();
    expect(talk.of("turn.started")).toHaveLength(1);
  });

  it("a turn nobody asked for is the agent's", () => {
    const talk = converse()
      .started()
      .notify("turn/started", { threadId: "th", turn: { id: "own" } })
      .done("completed", {}, "own");
    expect(talk.of("turn.started")).toMatchObject([{ initiator: "agent" }]);
  });

  it("a refused turn/start is told as the error of its turn", () => {
    const talk = converse()
      .started()
      .call("turn/start", { threadId: "th" }, { error: { code: -32600, message: "thread not found" } });
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "error", error_code: "execution_error" }]);
    expect(talk.of("error")).toMatchObject([{ message: "thread not found" }]);
  });

  it("a failure is told once though turn/completed repeats it", () => {
    const error = { message: "no room", codexErrorInfo: "contextWindowExceeded" };
    const talk = converse()
      .started()
      .turn()
      .notify("error", { threadId: "th", turnId: "tu", error, willRetry: false })
      .done("failed", { error });
    expect(talk.of("error")).toHaveLength(1);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "error", error_code: "context_overflow" }]);
  });

  it("[U18] a compaction we asked for is manual, one inside a turn is automatic", () => {
    const item = { type: "contextCompaction", id: "k" };
    const talk = converse()
      .started()
      .call("thread/compact/start", { threadId: "th" }, { result: {} })
      .notify("turn/started", { threadId: "th", turn: { id: "k1" } })
      .whole(item, "k1")
      .done("completed", {}, "k1")
      .turn()
      .whole(item)
      .done();
    expect(talk.of("session.compacted").map(({ trigger }) => trigger)).toEqual(["manual", "auto"]);
    expect(talk.items().map(({ role }) => role)).toEqual(["user"]);
  });

  it("usage of a turn is the sum of its responses, and repeated totals are not counted", () => {
    const usage = (n: number) => ({
      threadId: "th",
      turnId: "tu",
      tokenUsage: { total: { inputTokens: n * 10, outputTokens: n }, last: { inputTokens: 10, outputTokens: 1 } },
    });
    const talk = converse()
      .started()
      .turn()
      .notify("thread/tokenUsage/updated", usage(1))
      .notify("thread/tokenUsage/updated", usage(2))
      .notify("thread/tokenUsage/updated", usage(2))
      .done();
    expect(talk.of("turn.ended")).toMatchObject([{ usage: { input_tokens: 20, output_tokens: 2 } }]);
  });

  it("a revert removes the items of the reverted turns", () => {
    const talk = converse()
      .started()
      .turn("t1")
      .whole(message("m1", "Keep."), "t1")
      .done("completed", {}, "t1")
      .turn("t2")
      .whole(message("m2", "Drop."), "t2")
      .done("completed", {}, "t2")
      .call("thread/revert", { threadId: "th", beforeTurnId: "t2" }, { result: {} })
      .notify("thread/reverted", { threadId: "th" });
    expect(talk.items().map(({ content }) => content[0])).toMatchObject([{ text: "Keep." }]);
  });

  it("[G7] the death of the process ends the turn with an error, and the thread goes on in the next process", () => {
    const talk = converse()
      .started()
      .turn("t1")
      .item("started", message("m", ""), "t1")
      .delta("m", "Ha", "item/agentMessage/delta", "t1")
      .exit(null, "SIGKILL")
      .call("thread/resume", { threadId: "th" }, { result: { thread: { id: "th" } } })
      .turn("t2")
      .whole(message("m", "Again."), "t2")
      .done("completed", {}, "t2")
      .exit(0);
    expect(talk.of("turn.ended").map(({ stop_reason }) => stop_reason)).toEqual(["error", "end_turn"]);
    expect(talk.items().map(({ status }) => status)).toEqual(["failed", "completed"]);
  });
});

describe("one process, many threads", () => {
  it("messages go to the session of their thread", () => {
    const { sessions, unparsed } = converse()
      .started("a")
      .started("b")
      .turn("ta", "a")
      .turn("tb", "b")
      .whole(message("m", "A."), "ta", "a")
      .whole(message("m", "B."), "tb", "b")
      .done("completed", {}, "tb", "b")
      .done("completed", {}, "ta", "a")
      .replay();
    expect(unparsed).toEqual([]);
    expect(sessions.map(({ native_session }) => native_session)).toEqual(["a", "b"]);
    expect(sessions.flatMap(({ violations }) => violations)).toEqual([]);
    expect(JSON.stringify(sessions[0]?.events)).not.toContain('"B."');
  });

  it("the request that makes a thread belongs to it", () => {
    const [asked, answered] = [
      { dir: "in" as const, data: { id: 7, method: "thread/start", params: {} } },
      { dir: "out" as const, data: { id: 7, result: { thread: { id: "th" } } } },
    ];
    const translator = new CodexTranslator();
    expect(translator.translate(asked)[0]?.session).toBe("req:7");
    expect(translator.translate(answered)[0]).toMatchObject({ session: "th", bind: { from: "req:7" } });
  });
});

describe("any input", () => {
  it("never throws and always says something", () => {
    const method = fc.constantFrom(
      "item/started",
      "item/completed",
      "turn/started",
      "turn/completed",
      "error",
      "thread/started",
      "rawResponseItem/completed",
      "item/tool/requestUserInput",
      "mcpServer/elicitation/request",
      "turn/start",
      "nonsense",
    );
    const thread = fc.constantFrom("a", "b");
    const type = fc.constantFrom(
      "agentMessage",
      "commandExecution",
      "fileChange",
      "subAgentActivity",
      "collabAgentToolCall",
      "plan",
      "odd",
      "function_call",
    );
    const native = fc.record(
      {
        id: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant("x")),
        method,
        params: fc.record(
          {
            threadId: thread,
            turnId: thread,
            itemId: thread,
            item: fc.record(
              {
                id: thread,
                type,
                kind: fc.constantFrom("started", "completed"),
                agentThreadId: thread,
                receiverThreadIds: fc.array(thread),
              },
              { requiredKeys: [] },
            ),
            turn: fc.record({ id: thread, rootTurnId: thread, status: fc.constantFrom("completed", "failed", "odd") }),
          },
          { requiredKeys: [] },
        ),
        result: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const row = fc.record({
      dir: fc.constantFrom("in" as const, "out" as const, "err" as const, "exit" as const),
      data: fc.oneof({ weight: 4, arbitrary: native }, fc.jsonValue()),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
        const translator = new CodexTranslator();
        for (const one of rows) expect(translator.translate(one).length).toBeGreaterThan(0);
      }),
      { seed: seedOf(166), numRuns: 150 },
    );
  });
});
