import { describe, expect, it } from "vitest";
import type { PermissionData, QuestionData } from "../schema/event-data.ts";
import { Decider } from "./decider.ts";

const permission = (input: string, kinds: ("allow_once" | "allow_always" | "reject_once")[] = []): PermissionData => ({
  permission_id: "prm_1",
  action: "shell",
  status: "requested",
  metadata: {
    tool_name: "Bash",
    input,
    call_id: null,
    item_id: null,
    options: kinds.map((kind) => ({ id: kind, label: kind, kind })),
  },
});
const question = (...labels: string[][]): QuestionData => ({
  question_id: "qst_1",
  prompt: "?",
  options: [],
  response: null,
  status: "requested",
  questions: labels.map((options) => ({
    prompt: "?",
    options: options.map((label) => ({ label })),
    multi_select: false,
    free_text: true,
  })),
});

describe("answers of a scenario", () => {
  it("are given in order, the last one again and again", () => {
    const decider = new Decider({ permissions: [{ reply: "once" }, { reply: "reject", message: "no" }] });
    const replies = [1, 2, 3].map(() => decider.permission(permission("x")).reply);
    expect(replies).toEqual([{ reply: "once" }, { reply: "reject", message: "no" }, { reply: "reject", message: "no" }]);
  });

  it("go to the request they match, whatever the order", () => {
    const decider = new Decider({
      permissions: [
        { reply: "once", matching: "one.txt" },
        { reply: "reject", matching: "two.txt" },
      ],
    });
    expect(decider.permission(permission("touch two.txt")).reply?.reply).toBe("reject");
    expect(decider.permission(permission("touch one.txt")).reply?.reply).toBe("once");
  });

  it("allow once when nothing is said, and leave open what is not to be answered", () => {
    expect(new Decider(undefined).permission(permission("x")).reply).toEqual({ reply: "once" });
    expect(new Decider({ permissions: [{ reply: "none" }] }).permission(permission("x")).reply).toBeNull();
    expect(new Decider({ questions: [{ none: true }] }).question(question(["a"]))).toBeUndefined();
  });

  it("choose what the agent offers", () => {
    const always = new Decider({ permissions: [{ reply: "always" }] });
    expect(always.permission(permission("x", ["allow_once", "reject_once"])).reply?.reply).toBe("once");
    expect(always.permission(permission("x", ["allow_once", "allow_always"])).reply?.reply).toBe("always");
  });

  it("use the offered spelling of a label, and free text as it is", () => {
    const decider = new Decider({ questions: [{ answers: [["approve"], ["something else"]] }] });
    expect(decider.question(question(["Approve the plan", "Send it back"], ["a", "b"]))).toEqual({
      answers: [["Approve the plan"], ["something else"]],
    });
  });

  it("answer every question an agent asks, also when the scenario knows fewer", () => {
    expect(new Decider({ questions: [{ answers: [["b"]] }] }).question(question(["a", "b"], ["c"]))).toEqual({
      answers: [["b"], ["c"]],
    });
    expect(new Decider({ questions: [{ reject: true }] }).question(question(["a"]))).toEqual({ answers: null });
  });
});
