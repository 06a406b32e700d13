/** Answers of the model as steps, and what else 0.166 does not send but its types have: progress of an MCP call, a compaction by its older name. */
import { describe, expect, it } from "vitest";
import { rpcErrorData } from "./errors.ts";
import { type Conversation, command, converse, message } from "./test-thread.ts";

const used = (total: number) => ({
  threadId: "th",
  turnId: "tu",
  tokenUsage: {
    total: { totalTokens: total, inputTokens: total - 10, outputTokens: 10 },
    last: { totalTokens: 100, inputTokens: 90, outputTokens: 10, cachedInputTokens: 40 },
    modelContextWindow: 1000,
  },
});
const COUNTED = "thread/tokenUsage/updated";
const call = (status: string, more: object = {}) => ({
  type: "mcpToolCall",
  id: "m",
  server: "lab",
  tool: "build",
  arguments: {},
  status,
  ...more,
});
/** The order of what concerns steps, and of the items that began. */
const story = (talk: Conversation): string[] =>
  talk.events().flatMap((event) => {
    if (event.type === "item.started" && event.data.item.parent_id !== null) return [event.data.item.kind];
    return /^(step|turn)\./.test(event.type) ? [event.type] : [];
  });

describe("the answers of the model", () => {
  it("are steps: from what comes of one first to its token count, whatever order their calls end in", () => {
    const talk = converse()
      .started()
      .turn()
      .whole({ type: "userMessage", id: "u", content: [{ type: "text", text: "go" }] })
      .item("started", command("one"))
      .item("started", command("two"))
      .item("completed", command("two", { status: "completed", exitCode: 0 }))
      .notify(COUNTED, used(100))
      .item("completed", command("one", { status: "completed", exitCode: 0 }))
      .delta("a", "Done")
      .item("completed", message("a", "Done"))
      .notify(COUNTED, used(200))
      .notify(COUNTED, used(200))
      .done();
    expect(story(talk)).toEqual([
      "turn.started",
      "step.started",
      "tool_call",
      "tool_call",
      "tool_result",
      "step.ended",
      "tool_result",
      "step.started",
      "step.ended",
      "turn.ended",
    ]);
    const usage = { input_tokens: 90, output_tokens: 10, cache_read_tokens: 40 };
    expect(talk.of("step.ended")).toMatchObject([{ usage }, { usage }]);
    expect(talk.of("turn.ended")).toMatchObject([{ usage: { input_tokens: 180, output_tokens: 20 } }]);
  });

  it("are steps also when they made no item, when they were cut, and when nobody counted their tokens", () => {
    const cut = { error: { message: "Reconnecting... 1/5" }, willRetry: true, threadId: "th", turnId: "tu" };
    const talk = converse()
      .started()
      .turn()
      .notify(COUNTED, used(100))
      .delta("a", "Half of")
      .notify("error", cut)
      .whole(message("b", "Whole"))
      .done();
    const steps = ["step.started", "step.ended"];
    expect(story(talk)).toEqual(["turn.started", ...steps, ...steps, ...steps, "turn.ended"]);
    expect(talk.of("step.ended").map(({ usage }) => usage?.output_tokens)).toEqual([10, undefined, undefined]);
  });
});

describe("the same totals again", () => {
  it("are no new use, also in a later turn, which a compaction begins with; after a revert they are", () => {
    const again = (method: string) => {
      const talk = converse().started().turn().whole(message("a", "One")).notify(COUNTED, used(100)).done();
      if (method === "thread/revert")
        talk.call(method, { threadId: "th", beforeTurnId: "tu" }, { result: {} }).notify("thread/reverted", { threadId: "th" });
      talk.turn("tv").notify(COUNTED, { ...used(100), turnId: "tv" });
      return talk.done("completed", {}, "tv").of("turn.ended").at(-1)?.usage?.input_tokens;
    };
    expect(again("none")).toBeUndefined();
    expect(again("thread/revert")).toBe(90);
  });

  it("are steps all the same where nothing is counted", () => {
    const nothing = { ...used(100), tokenUsage: { total: { totalTokens: 0 }, last: { totalTokens: 0 } } };
    const talk = converse().started().turn().whole(message("a", "One")).notify(COUNTED, nothing);
    expect(talk.whole(message("b", "Two")).notify(COUNTED, nothing).done().of("step.started")).toHaveLength(2);
  });
});

describe("what 0.166 does not send", () => {
  it("an MCP call shows what its server says of it, and ends as the call does", () => {
    const progress = (text: string) => ({ threadId: "th", turnId: "tu", itemId: "m", message: text });
    const talk = converse()
      .started()
      .turn()
      .item("started", call("inProgress"))
      .notify("item/mcpToolCall/progress", progress("1 of 2"))
      .notify("item/mcpToolCall/progress", progress("2 of 2"))
      .item("completed", call("completed", { result: { content: [{ type: "text", text: "built" }] } }))
      .notify("item/mcpToolCall/progress", progress("too late"))
      .done();
    const items = talk.items();
    const ofCall = items.find(({ kind }) => kind === "tool_call");
    expect(items.filter(({ kind }) => kind === "status")).toMatchObject([
      {
        parent_id: ofCall?.item_id,
        role: null,
        status: "completed",
        content: [{ type: "status", label: "lab: build", detail: "2 of 2" }],
      },
    ]);
  });

  it("[U18] a compaction that has two names is one", () => {
    const item = { type: "contextCompaction", id: "c" };
    const older = { threadId: "th", turnId: "tu" };
    const begun = () => converse().started().turn();
    const both = [
      begun().whole(item).notify("thread/compacted", older),
      begun().item("started", item).notify("thread/compacted", older).item("completed", item),
      begun().notify("thread/compacted", older),
    ];
    for (const talk of both) expect(talk.done().of("session.compacted")).toHaveLength(1);
    expect(
      begun()
        .whole(item)
        .whole({ ...item, id: "d" })
        .done()
        .of("session.compacted"),
    ).toHaveLength(2);
  });

  it("[U14] a request that is refused has the code of its reason", () => {
    const refused = (codexErrorInfo: unknown) => rpcErrorData({ code: -32600, message: "no", data: { codexErrorInfo } }).code;
    expect(refused("unauthorized")).toBe("provider_auth");
    expect(refused({ httpConnectionFailed: { httpStatusCode: 429 } })).toBe("rate_limit");
    expect(refused({ activeTurnNotSteerable: { turnKind: "review" } })).toBe("execution_error");
    expect(refused(undefined)).toBe("execution_error");
  });
});
