// A link to a resource says the same from every agent: where it is, what it is called and how large it is.
import { describe, expect, it } from "vitest";
import { translators } from "../registry.ts";
import { resourceLink } from "./resource-link.ts";

const LINK = { type: "resource_link", uri: "file:///w/a.pdf", name: "a.pdf", mimeType: "application/pdf", size: 12 };
const PART = { type: "resource", uri: "file:///w/a.pdf", name: "a.pdf", bytes: 12, mime: "application/pdf" };

describe("a link to a resource", () => {
  it.each([
    [LINK, PART],
    [
      { ...LINK, title: "The paper" },
      { ...PART, name: "The paper" },
    ],
    [
      { uri: "x:1", name: "", title: null, size: -1, mimeType: 5 },
      { type: "resource", uri: "x:1" },
    ],
    [{ name: "nowhere" }, undefined],
  ])("%j", (block, part) => {
    expect(resourceLink(block)).toEqual(part);
  });

  const acp = {
    method: "session/update",
    params: {
      sessionId: "s",
      update: {
        sessionUpdate: "tool_call",
        toolCallId: "c",
        title: "x",
        status: "completed",
        content: [{ type: "content", content: LINK }],
      },
    },
  };
  const amp = {
    type: "user",
    message: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c", content: JSON.stringify([LINK]), is_error: false }],
    },
  };
  const codex = {
    method: "item/completed",
    params: {
      threadId: "t",
      turnId: "u",
      item: {
        type: "mcpToolCall",
        id: "c",
        server: "s",
        tool: "x",
        status: "completed",
        arguments: {},
        result: { content: [LINK] },
      },
    },
  };
  it.each([
    ["acp", acp],
    ["amp", amp],
    ["codex", codex],
  ])("in a result of %s", (agent, data) => {
    const drafts =
      translators
        .get(agent)?.()
        .translate({ dir: "out", data })
        .flatMap((each) => each.drafts) ?? [];
    const parts = drafts.flatMap((draft) => {
      if (draft.do === "item.add") return draft.item.content ?? [];
      return draft.do === "item.complete" ? (draft.content ?? []) : [];
    });
    expect(parts).toContainEqual(PART);
  });
});
