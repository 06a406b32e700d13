import { describe, expect, it } from "vitest";
import { answers, assistant, err, exit, init, of, out, play, result, SESSION, sent, system, text, user } from "./test-frames.ts";

const lifecycle = (uuid: string, state: string) =>
  out({ type: "command_lifecycle", command_uuid: uuid, state, session_id: SESSION });

describe("turns", () => {
  it("our message opens the client's turn and is synthesized at once, because the CLI does not echo it", () => {
    const played = play(
      user([
        { type: "text", text: "look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
      ]),
      init(),
      assistant("m", text("ok")),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "turn.started")).toMatchObject([{ initiator: "client" }]);
    const message = played.events.find((event) => event.type === "item.completed");
    expect(message).toMatchObject({
      synthetic: true,
      data: { item: { role: "user", native_item_id: null, content: [{ text: "look" }, { type: "image" }] } },
    });
  });

  it("init comes with every turn; only what changed is told", () => {
    const played = play(user("a"), init(), result(), user("b"), init({ model: "n" }), result());
    expect(of(played, "config.changed").map((one) => one.model)).toEqual(["m", "n"]);
  });

  /** 2.1.325: u2 and u3 come while text streams; the CLI takes them together in a native turn of their own. */
  const steeredIntoText = [
    user("a", { uuid: "u1" }),
    lifecycle("u1", "queued"),
    lifecycle("u1", "started"),
    init({ user_message_uuids: ["u1"] }),
    user("b", { uuid: "u2" }),
    lifecycle("u2", "queued"),
    user("c", { uuid: "u3" }),
    lifecycle("u3", "queued"),
    assistant("m1", text("one")),
    result({ user_message_uuids: ["u1"], usage: { input_tokens: 10, output_tokens: 2 } }),
    lifecycle("u1", "completed"),
  ];

  it("what steers while text streams is answered in the turn that ran, though the CLI makes a native turn of it", () => {
    const played = play(
      ...steeredIntoText,
      lifecycle("u2", "started"),
      lifecycle("u3", "started"),
      init({ user_message_uuids: ["u2", "u3"] }),
      assistant("m2", text("two")),
      result({ user_message_uuids: ["u2", "u3"], usage: { input_tokens: 20, output_tokens: 3 } }),
    );
    expect(played.rules).toEqual([]);
    const [turn] = of(played, "turn.started");
    expect(of(played, "turn.started")).toHaveLength(1);
    expect(played.items.filter((item) => item.role === "user").map((item) => item.turn_id)).toEqual(Array(3).fill(turn?.turn_id));
    expect(answers(played).map((item) => item.turn_id)).toEqual([turn?.turn_id, turn?.turn_id]);
    expect(of(played, "turn.ended")).toMatchObject([
      { turn_id: turn?.turn_id, stop_reason: "end_turn", usage: { input_tokens: 30, output_tokens: 5 } },
    ]);
  });

  it("a turn that goes on for messages which are cancelled then ends", () => {
    const played = play(...steeredIntoText, lifecycle("u2", "cancelled"), lifecycle("u3", "cancelled"));
    expect(played.rules).toEqual([]);
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
    expect(of(played, "item.removed")).toHaveLength(2);
  });

  it("an interrupted turn ends, whatever waits behind it", () => {
    const aborted = { subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" };
    const played = play(...steeredIntoText.slice(0, 9), result(aborted), init({ user_message_uuids: ["u2", "u3"] }));
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(of(played, "turn.started").map((turn) => turn.initiator)).toEqual(["client", "client"]);
  });

  it("a CLI that does not tell what became of a message keeps no turn open for it", () => {
    const played = play(user("a"), init(), user("b"), assistant("m1", text("both")), result());
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
  });

  it("a message folded into the running turn leaves the next self-started turn to the agent", () => {
    const played = play(
      user("a", { uuid: "u1" }),
      init({ user_message_uuids: ["u1"] }),
      user("b", { uuid: "u2" }),
      lifecycle("u2", "queued"),
      lifecycle("u2", "started"),
      assistant("m1", text("both"), { user_message_uuids: ["u2"] }),
      result({ user_message_uuids: ["u1", "u2"] }),
      init(),
      assistant("m2", text("by myself")),
      result({ origin: { kind: "task-notification" } }),
    );
    expect(of(played, "turn.started").map((turn) => turn.initiator)).toEqual(["client", "agent"]);
  });

  it("a queued message that is cancelled is taken back", () => {
    const played = play(
      user("a", { uuid: "u1" }),
      init({ user_message_uuids: ["u1"] }),
      user("b", { uuid: "u2" }),
      lifecycle("u2", "queued"),
      lifecycle("u2", "cancelled"),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "item.removed")).toHaveLength(1);
  });

  it("an echo of --replay-user-messages is no second message", () => {
    const echo = out({
      type: "user",
      message: { role: "user", content: "hi" },
      parent_tool_use_id: null,
      isReplay: true,
      uuid: "e",
      session_id: SESSION,
    });
    const played = play(user("hi"), init(), echo, assistant("m", text("ok")), result());
    expect(played.items.filter((item) => item.role === "user")).toHaveLength(1);
  });

  it("/clear changes the native session, not ours; conversation_reset carries the old id", () => {
    const played = play(
      user("/clear"),
      out({ type: "conversation_reset", new_conversation_id: "neither", session_id: SESSION, uuid: "r" }),
      init({ session_id: "new-one" }),
      result({ session_id: "new-one" }),
      user("hi"),
      init({ session_id: "new-one" }),
      result({ session_id: "new-one" }),
    );
    expect(played.sessions).toHaveLength(1);
    expect(played.events.at(-1)?.native_session_id).toBe("new-one");
  });

  it("a refused --resume does not change the native session to the id in its result", () => {
    const played = play(
      user("hi"),
      result({
        subtype: "error_during_execution",
        is_error: true,
        terminal_reason: undefined,
        errors: ["No conversation found"],
        session_id: "bogus",
      }),
      exit(1),
    );
    expect(played.events.every((event) => event.native_session_id !== "bogus")).toBe(true);
    expect(of(played, "error")).toMatchObject([{ code: "execution_error", message: "No conversation found" }]);
  });

  it("output of a local command is a system item, not an answer of the model", () => {
    const said = {
      message: { id: "x", model: "<synthetic>", role: "assistant", content: [text("Set model to Sonnet")] },
      local_command_run: { command: "model" },
    };
    const played = play(
      user("/model sonnet"),
      init(),
      assistant("x", text(""), said),
      result({ result: "Set model to Sonnet", local_command: "model" }),
    );
    expect(answers(played)).toEqual([]);
    expect(played.items.filter((item) => item.kind === "system")).toHaveLength(1);
  });

  it("compaction is a status, an event and the summary as a system item", () => {
    const summary = out({
      type: "user",
      message: { role: "user", content: "This session is being continued" },
      parent_tool_use_id: null,
      isSynthetic: true,
      uuid: "s",
      session_id: SESSION,
    });
    const played = play(
      user("/compact"),
      system("status", { status: "compacting" }),
      system("status", { status: null, compact_result: "success" }),
      init(),
      system("compact_boundary", { compact_metadata: { trigger: "manual", pre_tokens: 125, post_tokens: 20 } }),
      summary,
      result({ local_command: "compact" }),
    );
    expect(of(played, "session.compacted")).toEqual([{ trigger: "manual", pre_tokens: 125, post_tokens: 20 }]);
    expect(of(played, "session.status").map((one) => one.status)).toContain("compacting");
  });

  it("the answer of --output-format text is plain lines; among frames a plain line is garbage", () => {
    expect(answers(play(out("Hello."), exit(0)))[0]?.content).toEqual([{ type: "text", text: "Hello.\n" }]);
    expect(play(user("x"), init(), out("noise")).unparsed).toHaveLength(1);
  });

  it("--output-format json: the result alone is the answer", () => {
    expect(answers(play(result({ result: "Hello." })))[0]?.content).toEqual([{ type: "text", text: "Hello." }]);
  });

  it("stdin that the CLI cannot read is noted, never unparsed: we sent it", () => {
    expect(
      play(sent("not json"), sent(""), sent("[EOF]"), sent({ type: "odd" }), user("x", { message: { role: "assistant" } }))
        .unparsed,
    ).toEqual([]);
  });

  it("a process that ends in mid-turn ends the turn with what it said on stderr", () => {
    const killed = play(user("x"), init(), assistant("m", text("half")), err("out of memory"), exit(null, "SIGKILL"));
    expect(killed.rules).toEqual([]);
    expect(of(killed, "error")[0]?.message).toContain("out of memory");
    expect(of(play(user("x"), init(), exit(143)), "turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
  });
});
