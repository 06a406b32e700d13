// Permissions and questions: what is shown, and what goes back.
import { describe, expect, it } from "vitest";
import { permissionResult } from "./permissions.ts";
import { questionResult } from "./questions.ts";
import { command, converse } from "./test-thread.ts";
import { CodexTranslator } from "./translator.ts";

const asking = {
  threadId: "th",
  turnId: "tu",
  itemId: "c",
  command: "/bin/bash -lc 'touch x'",
  cwd: "/w",
  proposedExecpolicyAmendment: ["touch"],
};

/** The draft of one server request. */
function draftOf(method: string, params: object, before: object[] = []) {
  const translator = new CodexTranslator();
  for (const data of before) translator.translate({ dir: "out", data });
  const draft = translator.translate({ dir: "out", data: { id: 0, method, params } })[0]?.drafts.at(-1);
  if (draft?.do !== "permission.request" && draft?.do !== "question.request") throw new Error("no request");
  return draft;
}

const nativeOf = (draft: { native: unknown }) => draft.native as never;
const reply = { option_id: null, message: null, updated_input: undefined };

describe("permissions", () => {
  it("request id 0 works; a decision that would write into the person's rules is not offered", () => {
    const draft = draftOf("item/commandExecution/requestApproval", asking);
    if (draft.do !== "permission.request") throw new Error("no permission");
    expect(draft.action).toBe("Run: touch x");
    expect(draft.options.map(({ id }) => id)).toEqual(["accept", "acceptForSession", "decline", "cancel"]);
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "once" })).toEqual({ decision: "accept" });
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "always" })).toEqual({ decision: "acceptForSession" });
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "reject" })).toEqual({ decision: "decline" });
    const amended = { decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["touch"] } } };
    expect(JSON.stringify(nativeOf(draft))).not.toContain(JSON.stringify(amended));
  });

  it("a file change shows the diff of its item, which the request does not have", () => {
    const item = {
      type: "fileChange",
      id: "f",
      changes: [{ path: "/w/a", kind: { type: "update" }, diff: "@@ -1 +1 @@\n-a\n+b\n" }],
      status: "inProgress",
    };
    const before = [{ method: "item/started", params: { threadId: "th", turnId: "tu", item } }];
    const draft = draftOf("item/fileChange/requestApproval", { threadId: "th", turnId: "tu", itemId: "f", reason: null }, before);
    expect(draft).toMatchObject({ diff: "--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-a\n+b\n", paths: ["/w/a"], call_id: "f" });
  });

  it("wider access is granted for the turn or the session", () => {
    const permissions = { network: null, fileSystem: { read: null, write: ["/out"] } };
    const draft = draftOf("item/permissions/requestApproval", { threadId: "th", turnId: "tu", itemId: "c", permissions });
    expect(draft).toMatchObject({ action: "Grant access: write /out" });
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "once" })).toEqual({ permissions, scope: "turn" });
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "always" })).toEqual({ permissions, scope: "session" });
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "reject" })).toEqual({ permissions: {}, scope: "turn" });
  });

  it("an MCP tool approval, which comes as an elicitation, is a permission", () => {
    const params = {
      threadId: "th",
      turnId: "tu",
      serverName: "lab",
      mode: "form",
      message: 'Allow the lab MCP server to run tool "destroy"?',
      _meta: { codex_approval_kind: "mcp_tool_call", persist: ["session", "always"], tool_params: { x: 1 } },
    };
    const draft = draftOf("mcpServer/elicitation/request", params);
    expect(draft).toMatchObject({ do: "permission.request", tool_name: "mcp__lab__destroy", input: { x: 1 } });
    // `persist: always` would write into the person's configuration.
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "always" })).toEqual({
      action: "accept",
      content: {},
      _meta: { persist: "session" },
    });
    expect(permissionResult(nativeOf(draft), { ...reply, reply: "reject" })).toMatchObject({ action: "decline" });
  });

  it("[G6] an answer on the wire resolves once; late, repeated and mistyped answers are ignored", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", command("c", { processId: null }))
      .out({ id: 0, method: "item/commandExecution/requestApproval", params: asking })
      .in({ id: "0", result: { decision: "decline" } })
      .in({ id: 0, result: { decision: "accept" } })
      .in({ id: 0, result: { decision: "decline" } })
      .notify("serverRequest/resolved", { threadId: "th", requestId: 0 })
      .item("completed", command("c", { status: "completed", exitCode: 0, aggregatedOutput: "" }))
      .done();
    expect(talk.of("permission.resolved")).toMatchObject([
      { status: "approved", metadata: { reply: "once", option_id: "accept" } },
    ]);
  });

  it("[G6] a request made void by an interrupt is resolved by the agent", () => {
    const talk = converse()
      .started()
      .turn()
      .item("started", command("c", { processId: null }))
      .out({ id: 0, method: "item/commandExecution/requestApproval", params: asking })
      .done("interrupted")
      .notify("serverRequest/resolved", { threadId: "th", requestId: 0 });
    expect(talk.of("permission.resolved")).toMatchObject([{ status: "denied", metadata: { resolved_by: "agent" } }]);
  });

  it("[G6] request ids begin again in the next process and are other requests", () => {
    const talk = converse().started();
    for (const turn of ["t1", "t2"])
      talk
        .turn(turn)
        .out({ id: 0, method: "item/commandExecution/requestApproval", params: { ...asking, turnId: turn } })
        .exit(null, "SIGKILL")
        .call("thread/resume", { threadId: "th" }, { result: { thread: { id: "th" } } });
    expect(talk.of("permission.requested")).toHaveLength(2);
    expect(talk.of("permission.resolved")).toHaveLength(2);
  });

  it("what the guardian decided is resolved by policy", () => {
    const talk = converse()
      .started()
      .turn()
      .notify("item/autoApprovalReview/completed", {
        threadId: "th",
        turnId: "tu",
        reviewId: "r",
        targetItemId: "c",
        review: { status: "denied", rationale: "too risky" },
        action: { type: "command", command: "rm" },
      })
      .done();
    expect(talk.of("permission.resolved")).toMatchObject([
      {
        action: "Run: rm",
        status: "denied",
        metadata: { tool_name: "commandExecution", input: { command: "rm" }, resolved_by: "policy", message: "too risky" },
      },
    ]);
  });

  it("a request for an MCP tool is about the call with its name and arguments, so that the end of another one does not withdraw it", () => {
    const mcpCall = (id: string, tool: string, args: object, status = "inProgress") => ({
      type: "mcpToolCall",
      id,
      server: "lab",
      tool,
      arguments: args,
      status,
      result: status === "completed" ? { content: [{ type: "text", text: "ok" }] } : null,
    });
    const ask = (id: number, tool_params: object) => ({
      id,
      method: "mcpServer/elicitation/request",
      params: {
        threadId: "th",
        turnId: "tu",
        serverName: "lab",
        mode: "form",
        _meta: { codex_approval_kind: "mcp_tool_call", persist: ["session"], tool_params },
        message: 'Allow the lab MCP server to run tool "drop"?',
        requestedSchema: { type: "object", properties: {} },
      },
    });
    const talk = converse()
      .started()
      .turn()
      .item("started", mcpCall("a", "drop", { table: "x" }))
      .item("started", mcpCall("b", "drop", { table: "y" }))
      .item("started", mcpCall("c", "drop", { table: "y" }))
      .item("started", mcpCall("d", "show", {}))
      .out(ask(0, { table: "x" }))
      .out(ask(1, { table: "y" }))
      .out(ask(2, { table: "y" }))
      .item("completed", mcpCall("d", "show", {}, "completed"));
    expect(talk.of("permission.requested").map(({ metadata }) => metadata.call_id)).toEqual(["a", "c", "b"]);
    expect(talk.of("permission.resolved")).toEqual([]);
  });

  it("all that is asked for stands in the words, also what only the entries name", () => {
    const actionOf = (permissions: object) => {
      const draft = draftOf("item/permissions/requestApproval", { threadId: "th", turnId: "tu", itemId: "i", permissions });
      return draft.do === "permission.request" ? draft.action : "";
    };
    const entry = (path: string, access: string) => ({ path: { type: "path", path }, access });
    expect(
      actionOf({ network: { enabled: true }, fileSystem: { read: null, write: null, entries: [entry("/etc", "write")] } }),
    ).toBe("Grant access: network, write /etc");
    expect(actionOf({ network: null, fileSystem: { read: null, write: ["/o"], entries: [entry("/o", "write")] } })).toBe(
      "Grant access: write /o",
    );
  });
});

describe("questions", () => {
  it("the model's questions keep their ids, options and free text", () => {
    const questions = [
      { id: "colour", header: "Colour", question: "Which?", isOther: true, options: [{ label: "Red", description: "warm" }] },
      { id: "name", header: "Name", question: "Who?", isSecret: true, options: null },
    ];
    const draft = draftOf("item/tool/requestUserInput", {
      threadId: "th",
      turnId: "tu",
      itemId: "c",
      questions,
      isBlocking: true,
    });
    expect(draft).toMatchObject({
      questions: [
        { prompt: "Which?", free_text: true, options: [{ label: "Red", description: "warm" }] },
        { free_text: true, secret: true, options: [] },
      ],
      metadata: { secret: [false, true] },
    });
    expect(questionResult(nativeOf(draft), [["Red"], ["Ada"]])).toEqual({
      answers: { colour: { answers: ["Red"] }, name: { answers: ["Ada"] } },
    });
    expect(questionResult(nativeOf(draft), null)).toEqual({ answers: {} });
  });

  it("a form asks for every field, and answers have the types of the schema", () => {
    const properties = {
      sure: { type: "boolean", title: "Sure?" },
      count: { type: "integer" },
      size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
      tags: { type: "array", items: { enum: ["a", "b"] } },
      note: { type: "string" },
    };
    const draft = draftOf("mcpServer/elicitation/request", {
      threadId: "th",
      turnId: "tu",
      serverName: "lab",
      mode: "form",
      message: "Confirm",
      requestedSchema: { type: "object", properties },
    });
    if (draft.do !== "question.request") throw new Error("no question");
    expect(draft.questions.map(({ prompt }) => prompt)).toEqual(["Sure?", "count", "size", "tags", "note"]);
    expect(draft.questions[0]?.options).toEqual([{ label: "Yes" }, { label: "No" }]);
    expect(questionResult(nativeOf(draft), [["true"], ["3"], ["Large"], ["a", "b"], []])).toEqual({
      action: "accept",
      content: { sure: true, count: 3, size: "l", tags: ["a", "b"] },
      _meta: null,
    });
    expect(questionResult(nativeOf(draft), null)).toEqual({ action: "decline", content: null, _meta: null });
  });

  it("a link is confirmed or declined", () => {
    const draft = draftOf("mcpServer/elicitation/request", {
      threadId: "th",
      turnId: null,
      serverName: "lab",
      mode: "url",
      message: "Sign in",
      url: "https://x.test",
    });
    expect(draft).toMatchObject({ questions: [{ prompt: "Sign in\nhttps://x.test" }], metadata: { url: "https://x.test" } });
    expect(questionResult(nativeOf(draft), [["Accept"]])).toMatchObject({ action: "accept" });
    expect(questionResult(nativeOf(draft), [["Decline"]])).toMatchObject({ action: "decline" });
  });
});
