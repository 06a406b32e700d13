/** What the sub-agents of a session used is found in the session's totals. */
import { describe, expect, it } from "vitest";
import { type Conversation, converse, message } from "./test-thread.ts";

const counted = (talk: Conversation, thread: string, turn: string, total: number, last: number): Conversation =>
  talk.notify("thread/tokenUsage/updated", {
    threadId: thread,
    turnId: turn,
    tokenUsage: {
      total: { totalTokens: total, inputTokens: total - 1, outputTokens: 1 },
      last: { totalTokens: last, inputTokens: last - 1, outputTokens: 1 },
      modelContextWindow: 1000,
    },
  });
const kid = { type: "subAgentActivity", id: "s", kind: "started", agentThreadId: "kid", agentPath: "/root/kid" };

describe("the tokens of a sub-agent", () => {
  const talk = counted(converse().started().turn().whole(message("a", "Go.")), "th", "tu", 101, 101)
    .whole(kid)
    .notify("turn/started", { threadId: "kid", turn: { id: "kt", rootTurnId: "tu" } })
    .whole(message("k", "Seven."), "kt", "kid");
  counted(talk, "kid", "kt", 31, 31).done("completed", {}, "kt", "kid").whole(message("b", "Done."));
  counted(talk, "th", "tu", 201, 100).done();
  const told = talk.of("usage.updated");

  it("are in the totals of the session and not in those of its parent's turn", () => {
    const session = told.filter(({ scope }) => scope === "session").map(({ input_tokens }) => input_tokens);
    expect(session).toEqual([100, 130, 230]);
    expect(talk.of("turn.ended")).toMatchObject([{ usage: { input_tokens: 199 } }]);
  });

  it("say nothing of how full the context of the session is", () => {
    expect(told.map(({ context_used }) => context_used)).toEqual([101, 101, undefined, undefined, 100, 100]);
  });
});
