import { describe, expect, it } from "vitest";
import { permissionResponse, questionResponse } from "../connect/replies.ts";
import { type NativeRequest, PLAN_KEPT, PLAN_REJECTED, permissionChoices } from "./permissions.ts";
import { ask, assistant, call, init, of, out, play, reply, result, sent, system, toolResult, user } from "./test-frames.ts";

const rule = {
  type: "addRules",
  rules: [{ toolName: "Bash", ruleContent: "touch a" }],
  behavior: "allow",
  destination: "localSettings",
};
const mode = { type: "setMode", mode: "acceptEdits", destination: "session" };
const canUse = (id: string, more: Record<string, unknown> = {}) =>
  ask(id, {
    subtype: "can_use_tool",
    tool_name: "Bash",
    input: { command: "touch a" },
    tool_use_id: "t",
    permission_suggestions: [rule, mode],
    ...more,
  });
const begin = [user("x"), init(), assistant("m", call("t", "Bash", { command: "touch a" }))];
const native: NativeRequest = {
  kind: "permission",
  request_id: "r",
  tool_use_id: "t",
  input: { command: "touch a" },
  choices: permissionChoices([rule, mode]),
};
const question = {
  question: "Which?",
  header: "Q",
  multiSelect: true,
  options: [
    { label: "A", description: "a" },
    { label: "B", description: "b" },
  ],
};
const answer = (more: Partial<Parameters<typeof permissionResponse>[1]>) => ({
  reply: "once" as const,
  option_id: null,
  message: null,
  updated_input: undefined,
  ...more,
});

describe("permissions", () => {
  it("show the change that is asked for, as other agents do, but not where the diff would hide something", () => {
    const asked = (tool_name: string, more: Record<string, unknown>) =>
      of(
        play(...begin, canUse("r", { tool_name, input: { file_path: "/w/a.js", ...more }, description: "a.js" })),
        "permission.requested",
      )[0]?.metadata;
    const edit = { old_string: "a - b", new_string: "a + b", replace_all: false };
    const edited = asked("Edit", edit);
    expect(edited?.diff?.split("\n").slice(2)).toEqual(["@@ -1,1 +1,1 @@", "-a - b", "+a + b", ""]);
    // That lines are joined is seen.
    expect(asked("Edit", { ...edit, old_string: "a;\n", new_string: "a;" })?.diff).toContain("\\ No newline");
    // The name of the file is said already.
    expect(edited?.reason).toBeUndefined();
    expect(asked("Write", { content: "one\ntwo\n" })?.diff).toContain("\n+one\n+two\n");
    expect(asked("Edit", { ...edit, replace_all: true })?.diff).toBeUndefined();
    expect(asked("Read", {})?.diff).toBeUndefined();
  });

  it("[G6] are requested with options and resolved by our answer", () => {
    const played = play(
      ...begin,
      canUse("r"),
      reply("r", { behavior: "allow", updatedPermissions: [rule] }),
      toolResult("t", "ok"),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "permission.requested")[0]).toMatchObject({
      action: "Run: touch a",
      metadata: { call_id: "t", options: [{ id: "once" }, { id: "always" }, { id: "reject" }, { id: "reject_and_stop" }] },
    });
    expect(of(played, "permission.resolved")).toMatchObject([
      { status: "approved", metadata: { reply: "always", resolved_by: "client" } },
    ]);
  });

  it("[G6] are resolved once: by a withdrawal, by an outcome without an answer, and late answers are ignored", () => {
    const withdrawn = play(
      ...begin,
      canUse("r"),
      out({ type: "control_cancel_request", request_id: "r" }),
      toolResult("t", "no", {}, true),
      reply("r", { behavior: "allow" }),
      result(),
    );
    expect(of(withdrawn, "permission.resolved")).toMatchObject([{ status: "denied", metadata: { resolved_by: "agent" } }]);
    const unanswered = play(...begin, canUse("r"), sent("[EOF]"), toolResult("t", "stream closed", {}, true), result());
    expect(of(unanswered, "permission.resolved")).toMatchObject([{ status: "denied", metadata: { resolved_by: "agent" } }]);
    expect([...withdrawn.rules, ...unanswered.rules]).toEqual([]);
  });

  it("an error as an answer is a denial", () => {
    const played = play(
      ...begin,
      canUse("r"),
      sent({ type: "control_response", response: { subtype: "error", request_id: "r", error: "no host" } }),
      toolResult("t", "no", {}, true),
      result(),
    );
    expect(of(played, "permission.resolved")).toMatchObject([{ status: "denied", metadata: { message: "no host" } }]);
  });

  it("a refusal by a rule is requested and denied by policy at once", () => {
    const played = play(
      ...begin,
      system("permission_denied", { tool_name: "Bash", tool_use_id: "t", message: "forbidden" }),
      toolResult("t", "no", {}, true),
      result(),
    );
    expect(of(played, "permission.resolved")).toMatchObject([
      { status: "denied", metadata: { resolved_by: "policy", message: "forbidden" } },
    ]);
  });

  it("`always` sends the rule alone, for this session: nothing is written into the repository", () => {
    expect(permissionResponse(native, answer({ reply: "always" }))).toMatchObject({
      behavior: "allow",
      updatedPermissions: [{ type: "addRules", destination: "session" }],
    });
    expect(permissionResponse({ ...native, choices: permissionChoices([mode]) }, answer({ reply: "always" }))).toMatchObject({
      updatedPermissions: [mode],
    });
  });

  it("a denial always has a message, and can stop the turn", () => {
    expect(permissionResponse(native, answer({ reply: "reject" }))).toMatchObject({
      behavior: "deny",
      message: "The user rejected this tool call.",
    });
    expect(permissionResponse(native, answer({ reply: "reject", message: "no", option_id: "reject_and_stop" }))).toEqual({
      behavior: "deny",
      message: "no",
      interrupt: true,
      toolUseID: "t",
    });
  });

  it("an edited input goes back instead of the asked one", () => {
    expect(permissionResponse(native, answer({ updated_input: { command: "touch b" } }))).toMatchObject({
      updatedInput: { command: "touch b" },
    });
  });
});

describe("questions", () => {
  it("AskUserQuestion: several choices travel as one string, keyed by the question's text", () => {
    const request: NativeRequest = { ...native, kind: "question", input: { questions: [question] } };
    const response = questionResponse(request, [["A", "B"]]);
    expect(response).toMatchObject({ behavior: "allow", updatedInput: { questions: [question], answers: { "Which?": "A, B" } } });
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "AskUserQuestion", { questions: [question] })),
      canUse("r", { tool_name: "AskUserQuestion", input: { questions: [question] } }),
      reply("r", response),
      toolResult("t", "ok"),
      result(),
    );
    expect(of(played, "question.requested")[0]?.questions).toMatchObject([
      { prompt: "Which?", multi_select: true, free_text: true },
    ]);
    expect(of(played, "question.resolved")).toMatchObject([{ status: "answered", answers: [["A", "B"]] }]);
    expect(of(played, "permission.requested")).toEqual([]);
  });

  it("no answers at all is a rejection", () => {
    const input = { questions: [question] };
    const played = play(
      user("x"),
      init(),
      canUse("r", { tool_name: "AskUserQuestion", input }),
      reply("r", { behavior: "allow", updatedInput: input }),
      result(),
    );
    expect(of(played, "question.resolved")).toMatchObject([{ status: "rejected" }]);
  });

  it("ExitPlanMode is a question; a plan written inline is found in the call, because can_use_tool has none", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "ExitPlanMode", { plan: "# Plan" })),
      canUse("r", { tool_name: "ExitPlanMode", input: {} }),
      reply("r", { behavior: "deny", message: "smaller" }),
      toolResult("t", "smaller", {}, true),
      result(),
    );
    expect(of(played, "question.requested")[0]).toMatchObject({
      prompt: "# Plan",
      options: ["Approve", "Approve and accept edits", "Keep planning"],
    });
    expect(of(played, "question.resolved")).toMatchObject([{ status: "answered", answers: [["smaller"]] }]);
    // That it is a question is the daemon's reading of it.
    expect(played.events.find(({ type }) => type === "question.requested")).toMatchObject({ source: "daemon", synthetic: true });
  });

  it("a plan's answers: approve, approve with edits, anything else goes back as feedback", () => {
    const plan: NativeRequest = { ...native, kind: "plan", input: {} };
    expect(questionResponse(plan, [["Approve"]])).toEqual({ behavior: "allow", updatedInput: {}, toolUseID: "t" });
    expect(questionResponse(plan, [["Approve and accept edits"]])).toMatchObject({ updatedPermissions: [mode] });
    expect(questionResponse(plan, [["smaller"]])).toMatchObject({ behavior: "deny", message: "smaller" });
    expect(questionResponse(plan, null)).toMatchObject({ behavior: "deny", message: PLAN_REJECTED });
    expect(questionResponse(plan, [["Keep planning"]])).toMatchObject({ behavior: "deny", message: PLAN_KEPT });
  });

  it.each([
    [PLAN_REJECTED, { status: "rejected" }],
    [PLAN_KEPT, { status: "answered", answers: [["Keep planning"]] }],
    ["smaller", { status: "answered", answers: [["smaller"]] }],
  ])("the ledger tells what a person said to a plan: %s", (message, told) => {
    const asked = ask("r", { subtype: "can_use_tool", tool_name: "ExitPlanMode", input: { plan: "#" }, tool_use_id: "t" });
    const played = play(user("x"), init(), asked, reply("r", { behavior: "deny", message }), result());
    expect(of(played, "question.resolved")).toMatchObject([told]);
  });

  it("an MCP form is one question a field, with typed answers", () => {
    const form = {
      subtype: "elicitation",
      mcp_server_name: "lab",
      message: "Who?",
      requested_schema: {
        type: "object",
        properties: { name: { type: "string", title: "Name" }, age: { type: "integer" }, ok: { type: "boolean" } },
        required: ["name"],
      },
    };
    const played = play(
      user("x"),
      init(),
      ask("r", form),
      reply("r", { action: "accept", content: { name: "Ada", age: 36, ok: true } }),
      result(),
    );
    expect(of(played, "question.requested")[0]?.questions.map((one) => one.free_text)).toEqual([true, true, false]);
    expect(of(played, "question.resolved")).toMatchObject([{ answers: [["Ada"], ["36"], ["Yes"]] }]);
    const request: NativeRequest = { ...native, kind: "elicitation", input: form };
    expect(questionResponse(request, [["Ada"], ["36"], ["No"]])).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36, ok: false },
    });
    expect(questionResponse(request, null)).toEqual({ action: "decline" });
  });
});
