import { describe, expect, it } from "vitest";
import { AGENT_MESSAGE_TYPES, ANSWER_TYPES, UPDATE_TYPES } from "./native-types.ts";
import { SESSION, Talk } from "./test-talk.ts";
import { VARIANTS } from "./updates.ts";

describe("the coverage table", () => {
  it("has exactly the variants of session/update that are understood", () => {
    expect(Object.keys(UPDATE_TYPES).sort()).toEqual([...Object.keys(VARIANTS), "subagent_update"].sort());
  });

  it.each(Object.entries(UPDATE_TYPES))("%s gets the disposition it is listed with", (variant, { disposition }) => {
    const talk = Talk.with("x");
    talk.prompt("go");
    const plan = { type: "items", planId: "p", entries: [] };
    const block = { type: "text", text: "t" };
    const piece = variant.startsWith("tool_call") ? { type: "content", content: block } : block;
    const lists = { entries: [], availableCommands: [], configOptions: [] };
    const words = { currentModeId: "m", toolCallId: "c", sessionId: "child", state: "running", status: "in_progress" };
    const terminal = { terminalId: "t", data: "" };
    const fields = { plan, ...lists, ...words, ...terminal };
    const [told] = talk.update(variant, { ...fields, content: variant.endsWith("_chunk") ? piece : [] });
    expect(told?.disposition).toBe(disposition);
    expect(told?.type).toBe(`session/update:${variant}`);
  });

  it.each(Object.entries(AGENT_MESSAGE_TYPES).filter(([name]) => !name.startsWith("vendor:")))(
    "%s gets the disposition it is listed with",
    (method, { disposition }) => {
      const talk = Talk.with("x");
      const message = { jsonrpc: "2.0", method, params: { sessionId: SESSION, requestId: 5, state: "authenticated" } };
      const isNotification = method.startsWith("$/") || method.endsWith("status_update") || method === "elicitation/complete";
      expect(talk.row("out", isNotification ? message : { ...message, id: 5 })[0]?.disposition).toBe(disposition);
    },
  );

  it.each(Object.entries(ANSWER_TYPES))("the answer to %s gets the disposition it is listed with", (method, { disposition }) => {
    const talk = Talk.with("x");
    talk.ask(method, { sessionId: SESSION });
    const [told] = talk.answer({ sessionId: SESSION });
    expect(told?.disposition).toBe(disposition);
    expect(told?.type).toBe(`${method}:result`);
  });
});
