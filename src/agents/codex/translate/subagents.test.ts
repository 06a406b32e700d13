import { describe, expect, it } from "vitest";
import { command, converse, message } from "./test-thread.ts";

const started = { type: "subAgentActivity", id: "s", kind: "started", agentThreadId: "kid", agentPath: "/root/kid", model: "m" };
const over = (kind: string) => ({
  type: "subAgentActivity",
  id: `over-${kind}`,
  kind,
  agentThreadId: "kid",
  agentPath: "/root/kid",
});

/** What a child thread says, without any thread/started. */
const kid = (talk: ReturnType<typeof converse>) =>
  talk
    .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
    .whole(command("kc", { status: "completed", aggregatedOutput: "7", exitCode: 0 }), "kt", "kid")
    .whole(message("km", "Seven."), "kt", "kid")
    .done("completed", {}, "kt", "kid");

describe("sub-agents", () => {
  it("[G5] v2: items of the child hang under the call that spawned it, and its last words are the result", () => {
    const talk = converse()
      .started()
      .turn()
      .notify("thread/status/changed", { threadId: "kid", status: { type: "idle" } })
      .whole(started);
    kid(talk).whole(over("completed")).whole(message("m", "Done.")).done();
    const [spawn, call, , said, result] = talk.items();
    expect(spawn?.content).toMatchObject([{ name: "spawnAgent", tool_kind: "subagent" }]);
    expect([call?.parent_id, said?.parent_id]).toEqual([spawn?.item_id, spawn?.item_id]);
    expect(result?.content).toMatchObject([{ type: "tool_result", call_id: "s", output: "Seven." }]);
    expect(talk.of("turn.ended")).toHaveLength(1);
  });

  it.each([
    ["completed", "failed", "No quota."],
    ["interrupted", "interrupted", "Sev"],
    ["errored", "completed", "Sev"],
  ])("v2: one that ends as %s after a turn that %s has failed, and its result says so", (kind, status, output) => {
    const error = status === "failed" ? { message: "No quota.", codexErrorInfo: "usageLimitExceeded" } : null;
    const talk = converse()
      .started()
      .turn()
      .whole(started)
      .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
      .whole(message("km", "Sev"), "kt", "kid")
      .done(status, { error }, "kt", "kid")
      .whole(over(kind))
      .done();
    const call = talk.items().find(({ kind: what, native_item_id }) => what === "tool_call" && native_item_id === "s");
    const result = talk.items().find(({ kind: what }) => what === "tool_result");
    expect([call?.status, result?.status]).toEqual(["failed", "failed"]);
    expect(result?.content).toMatchObject([{ is_error: true, output }]);
  });

  it("[G5] v1: a child that speaks before its spawn call has ended is found by that call", () => {
    const spawn = {
      type: "collabAgentToolCall",
      id: "s",
      tool: "spawnAgent",
      status: "inProgress",
      receiverThreadIds: [],
      prompt: "Say seven.",
    };
    const talk = converse().started().turn().item("started", spawn);
    kid(talk)
      .item("completed", {
        ...spawn,
        status: "completed",
        receiverThreadIds: ["kid"],
        agentsStates: { kid: { status: "running" } },
      })
      .done();
    const [call, inner] = talk.items();
    expect(call?.content).toMatchObject([{ name: "spawnAgent", title: "Say seven." }]);
    expect(inner?.parent_id).toBe(call?.item_id);
    expect(talk.replay().sessions).toHaveLength(1);
  });

  it("[G7] a child that works on after the turn of its parent has its message split, not lost", () => {
    const talk = converse()
      .started()
      .turn()
      .whole(started)
      .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
      .item("started", message("km", ""), "kt", "kid")
      .delta("km", "Sev", "item/agentMessage/delta", "kt", "kid")
      .done()
      .delta("km", "en.", "item/agentMessage/delta", "kt", "kid")
      .item("completed", message("km", "Seven."), "kt", "kid")
      .done("completed", {}, "kt", "kid");
    expect(
      talk
        .items()
        .filter(({ kind }) => kind === "message")
        .map(({ content }) => content[0]),
    ).toMatchObject([{ text: "Sev" }, { text: "Seven." }]);
  });

  it("[G6] a call of a child with the id of an open call of its parent is another call, with a result and a permission of its own", () => {
    const ended = (id: string, output: string) => command(id, { status: "completed", aggregatedOutput: output, exitCode: 0 });
    const asked = { threadId: "kid", turnId: "kt", itemId: "c", command: "make" };
    const talk = converse()
      .started()
      .turn()
      .whole(started)
      .item("started", command("c"))
      .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
      .item("started", command("c"), "kt", "kid")
      .out({ id: 0, method: "item/commandExecution/requestApproval", params: asked })
      .in({ id: 0, result: { decision: "accept" } })
      .item("completed", ended("c", "of the child"), "kt", "kid")
      .item("completed", ended("c", "of the parent"))
      .done("completed", {}, "kt", "kid")
      .done();
    const own = talk.items().filter(({ native_item_id }) => native_item_id === "c");
    const told = own.flatMap(({ kind, parent_id, content: [part] }) =>
      part?.type === "tool_call" || part?.type === "tool_result" ? [{ kind, parent_id, call: part.call_id, part }] : [],
    );
    const outputs = told
      .filter(({ kind }) => kind === "tool_call")
      .map(({ call, parent_id }) => {
        const answer = told.find((each) => each.kind === "tool_result" && each.call === call);
        return [answer?.part.type === "tool_result" && answer.part.output, answer?.parent_id === parent_id];
      });
    expect(outputs).toEqual([
      ["of the parent", true],
      ["of the child", true],
    ]);
    const [permission] = talk.of("permission.resolved");
    expect(permission).toMatchObject({
      status: "approved",
      metadata: { call_id: told.filter(({ kind }) => kind === "tool_call")[1]?.call },
    });
  });

  it("[U10] what became of a child is a status of nobody under the call that made it", () => {
    const gone = { type: "subAgentActivity", id: "g", kind: "interrupted", agentThreadId: "kid", agentPath: "/root/kid" };
    const talk = converse().started().turn().whole(started).whole(gone).whole(message("m", "Gone.")).done();
    const items = talk.items();
    const status = items.find(({ kind }) => kind === "status");
    expect(status).toMatchObject({ role: null, parent_id: items.find(({ kind }) => kind === "tool_call")?.item_id });
  });

  it("a permission of a child is asked in the session of its parent", () => {
    const talk = converse()
      .started()
      .turn()
      .whole(started)
      .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
      .out({
        id: 0,
        method: "item/commandExecution/requestApproval",
        params: { threadId: "kid", turnId: "kt", itemId: "kc", command: "ls" },
      })
      .in({ id: 0, result: { decision: "accept" } })
      .done("completed", {}, "kt", "kid")
      .done();
    expect(talk.of("permission.resolved")).toMatchObject([{ status: "approved" }]);
  });

  it("the end of a child's turn does not end the turn of its parent, nor do its failures", () => {
    const error = { message: "overloaded", codexErrorInfo: "serverOverloaded" };
    const talk = converse()
      .started()
      .turn()
      .whole(started)
      .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
      .notify("error", { threadId: "kid", turnId: "kt", error, willRetry: false })
      .done("failed", { error }, "kt", "kid")
      .whole(message("m", "It failed."))
      .done();
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
    expect(talk.of("error")).toEqual([]);
    expect(talk.of("agent.notice")).toContainEqual(expect.objectContaining({ name: "subagent_error" }));
    const items = talk.items();
    const spawn = items.find(({ kind }) => kind === "tool_call");
    expect(items.filter(({ kind }) => kind === "system")).toMatchObject([
      { parent_id: spawn?.item_id, role: "system", content: [{ type: "text", text: "overloaded" }] },
    ]);
  });

  it("[G5] v1: of two children that are heard of before their spawn calls have ended, each hangs under its own call", () => {
    const spawn = (id: string, more: object = {}) => ({
      type: "collabAgentToolCall",
      id,
      tool: "spawnAgent",
      status: "inProgress",
      receiverThreadIds: [],
      prompt: id,
      agentsStates: {},
      ...more,
    });
    const named = (id: string, child: string) => spawn(id, { status: "completed", receiverThreadIds: [child] });
    const active = { type: "active", activeFlags: [] };
    const talk = converse()
      .started()
      .turn()
      .item("started", spawn("s1"))
      .item("started", spawn("s2"))
      .notify("thread/status/changed", { threadId: "two", status: active })
      .notify("thread/status/changed", { threadId: "one", status: active })
      .item("completed", named("s2", "two"))
      .item("completed", named("s1", "one"))
      .whole(message("m1", "of one"), "t1", "one")
      .whole(message("m2", "of two"), "t2", "two")
      .done();
    const items = talk.items();
    const parentOf = (id: string) => items.find(({ native_item_id }) => native_item_id === id)?.parent_id;
    const callOf = (id: string) =>
      items.find(({ kind, native_item_id }) => kind === "tool_call" && native_item_id === id)?.item_id;
    expect([parentOf("m1"), parentOf("m2")]).toEqual([callOf("s1"), callOf("s2")]);
  });

  it("[G5] what a child does in a way nobody knows yet, and the picture it draws, hang under its call too", () => {
    const item = { type: "image_generation_call", id: "drawn", result: "AAAA", revised_prompt: "a cat" };
    const talk = converse()
      .started()
      .turn()
      .whole(started)
      .whole({ type: "ofTomorrow", id: "new" }, "kt", "kid")
      .notify("rawResponseItem/completed", { threadId: "kid", turnId: "kt", item })
      .done();
    const events = talk.replay().sessions[0]?.events ?? [];
    const items = events.flatMap((event) => (event.type === "item.started" ? [event.data.item] : []));
    const spawn = items.find(({ native_item_id }) => native_item_id === "s");
    const found = items.filter(({ native_item_id }) => native_item_id === "new" || native_item_id === "drawn");
    expect(found.map(({ kind, parent_id }) => [kind, parent_id])).toEqual([
      ["unknown", spawn?.item_id],
      ["tool_call", spawn?.item_id],
      ["tool_result", spawn?.item_id],
    ]);
  });
});
