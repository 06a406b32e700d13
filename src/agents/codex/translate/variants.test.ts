// Messages as the protocol allows them and no recorded session has them: late and repeated ones, ends without a reason, agents of agents.
import { describe, expect, it } from "vitest";
import { command, converse, message } from "./test-thread.ts";

const begun = () => converse().started().turn();
const done = { status: "completed", exitCode: 0, aggregatedOutput: "made" };

describe("a piece that comes after the end of its item", () => {
  it("begins no other item, in the turn or after it", () => {
    const talk = begun()
      .whole(command("c", done))
      .delta("c", "late", "item/commandExecution/outputDelta")
      .whole(message("m", "Done."))
      .delta("m", "late")
      .done()
      .delta("m", "later");
    expect(talk.replay().unexplained).toEqual([]);
    expect(talk.items().map(({ kind, status }) => [kind, status])).toEqual([
      ["tool_call", "completed"],
      ["tool_result", "completed"],
      ["message", "completed"],
    ]);
  });

  it("adds nothing to an answer that was interrupted", () => {
    const cut = begun().item("started", message("m", "")).delta("m", "Ha").done("interrupted");
    const talk = cut.delta("m", "lf").item("completed", message("m", "Half"));
    expect(talk.items()).toMatchObject([{ status: "failed", content: [{ text: "Ha" }] }]);
  });

  it("but an id that is started again in the same turn is another item", () => {
    const talk = begun().whole(message("m", "One")).item("started", message("m", "")).delta("m", "Two");
    const texts = talk
      .item("completed", message("m", "Two"))
      .done()
      .items()
      .map(({ content }) => content);
    expect(texts).toMatchObject([[{ text: "One" }], [{ text: "Two" }]]);
  });
});

describe("the end of a turn", () => {
  it("that comes twice, or after which its start comes again, is one turn", () => {
    const turn = { id: "tu", rootTurnId: "tu" };
    const talk = begun().whole(message("m", "Hi")).done().done().notify("turn/started", { threadId: "th", turn });
    expect(talk.of("turn.started")).toHaveLength(1);
    expect(talk.of("turn.ended")).toHaveLength(1);
    expect(talk.replay().unexplained).toEqual([]);
  });

  it("is an error that is told, also when Codex does not say which", () => {
    const talk = begun().done("failed");
    expect(talk.of("error")).toMatchObject([{ code: "unknown", details: { error_source: "agent" } }]);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "error", error_code: "unknown" }]);
  });

  it.each(["failed", "declined", "timedOut"])("of a call that ended as %s has failed", (status) => {
    const talk = converse()
      .started()
      .turn()
      .whole(command("c", { status, aggregatedOutput: "x", exitCode: null }))
      .done();
    expect(talk.items().map(({ kind, status: end }) => [kind, end])).toEqual([
      ["tool_call", "failed"],
      ["tool_result", "failed"],
    ]);
  });

  it("with a status nobody knows ends the turn, and is unparsed", () => {
    const { sessions, unparsed } = begun().done("paused").replay();
    expect(unparsed).toMatchObject([{ type: "turn/completed", error: "turn status paused" }]);
    const types = sessions[0]?.events.map(({ type }) => type) ?? [];
    expect(types).toContain("agent.unparsed");
    expect(types).toContain("turn.ended");
  });
});

describe("agents of agents", () => {
  const spawn = (id: string, child: string) => ({
    type: "collabAgentToolCall",
    id,
    tool: "spawnAgent",
    status: "completed",
    receiverThreadIds: [child],
    prompt: `do ${id}`,
    agentsStates: {},
  });
  const child = (thread: string) => ({ threadId: thread, turn: { id: `${thread}-turn` } });

  it("two that work at the same time, and one that one of them started, stand each under their own call", () => {
    const talk = begun()
      .whole(spawn("s1", "k1"))
      .whole(spawn("s2", "k2"))
      .notify("turn/started", child("k1"))
      .notify("turn/started", child("k2"))
      .item("started", message("m1", ""), "k1-turn", "k1")
      .item("started", message("m2", ""), "k2-turn", "k2")
      .delta("m1", "one", undefined, "k1-turn", "k1")
      .delta("m2", "two", undefined, "k2-turn", "k2")
      .item("completed", message("m2", "two"), "k2-turn", "k2")
      .item("completed", message("m1", "one"), "k1-turn", "k1")
      .whole(spawn("s3", "k3"), "k1-turn", "k1")
      .notify("turn/started", child("k3"))
      .whole(command("c3", done), "k3-turn", "k3")
      .done("completed", {}, "k3-turn", "k3")
      .done("completed", {}, "k2-turn", "k2")
      .done("completed", {}, "k1-turn", "k1")
      .done();
    const items = talk.items();
    const named = (id: string) => items.find(({ native_item_id, kind }) => native_item_id === id && kind !== "tool_result");
    expect(named("m1")?.parent_id).toBe(named("s1")?.item_id);
    expect(named("m2")?.parent_id).toBe(named("s2")?.item_id);
    // A call of a sub-agent hangs under the message it came from, as with every agent; without one, under the call that started the agent.
    expect(named("s3")?.parent_id).toBe(named("m1")?.item_id);
    expect(named("c3")?.parent_id).toBe(named("s3")?.item_id);
  });
});
