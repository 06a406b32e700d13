/** A thread that the server does not have any more: deleted, archived or unloaded by somebody. */
import { describe, expect, it } from "vitest";
import { command, converse, message } from "./test-thread.ts";

const NOTICES = ["thread/deleted", "thread/archived", "thread/closed"];
/** What nothing brings back is an error, as with other agents. */
const DELETED = new Map([["thread/deleted", ["thread_deleted"]]]);
const ask = { threadId: "th", turnId: "tu", itemId: "c", command: "make", cwd: "/w" };

describe("a thread that is gone", () => {
  it.each(NOTICES)("%s: its turn is interrupted, with all that was open, and a late end of it ends nothing", (method) => {
    const talk = converse()
      .started()
      .turn()
      .item("started", command("c"))
      .out({ id: 0, method: "item/commandExecution/requestApproval", params: ask })
      .item("started", message("m", ""))
      .delta("m", "Half")
      .notify(method, { threadId: "th" })
      .out({ method: "serverRequest/resolved", params: { threadId: "th", requestId: 0 } })
      .item("completed", command("c", { status: "failed", exitCode: -1 }))
      .done("interrupted");
    expect(talk.of("turn.started")).toHaveLength(1);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(talk.of("error").map(({ details }) => details?.native_code)).toEqual(DELETED.get(method) ?? []);
    expect(talk.of("permission.resolved")).toMatchObject([{ status: "denied" }]);
    expect(talk.items().map(({ status }) => status)).not.toContain("in_progress");
    expect(talk.of("agent.notice").map(({ name }) => name)).toContain(method.replace("/", "_"));
  });

  it.each(NOTICES)("%s without a turn is a notice", (method) => {
    const talk = converse().started().turn().whole(message("m", "Done.")).done().notify(method, { threadId: "th" });
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
    expect(talk.of("agent.notice")).toHaveLength(1);
  });

  it("that was a sub-agent's is named, and leaves the turn of its parent alone", () => {
    const kid = { type: "subAgentActivity", id: "s", kind: "started", agentThreadId: "kid", agentPath: "/root/kid" };
    const talk = converse()
      .started()
      .turn()
      .whole(kid)
      .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
      .item("started", command("kc"), "kt", "kid")
      .notify("thread/closed", { threadId: "kid" });
    expect(talk.items().find(({ native_item_id, kind }) => native_item_id === "kc" && kind === "tool_call")).toMatchObject({
      status: "failed",
    });
    expect(talk.of("agent.notice")).toMatchObject([{ name: "thread_closed", detail: { agent: "kid" } }]);
    expect(talk.done().of("turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
  });
});
