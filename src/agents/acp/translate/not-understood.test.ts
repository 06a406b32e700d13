// What is not understood in a message that otherwise is: it is reported, and what can be shown or asked still is.
import { describe, expect, it } from "vitest";
import { SESSION, Talk } from "./test-talk.ts";

const OPTIONS = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
const prompted = (version = 1): Talk => {
  const talk = Talk.with("x", {}, version);
  talk.prompt("go");
  return talk;
};
const errors = (talk: Talk) => talk.unparsed().map(({ error }) => error);

describe("a block of a message", () => {
  it.each(["agent_message_chunk", "agent_thought_chunk"])("of %s stands in the message as JSON, between the texts", (variant) => {
    const talk = prompted();
    const block = { type: "hologram", data: 7 };
    talk.text("Look: ", "m");
    talk.update(variant, { content: block, messageId: "m" });
    talk.text("Nice.", "m");
    expect(errors(talk)).toEqual(["content block hologram"]);
    expect(talk.of("item.update").at(-1)?.content).toEqual([
      { type: "text", text: "Look: " },
      { type: "json", json: block },
    ]);
    expect(talk.of("item.delta").at(-1)).toMatchObject({ delta: "Nice.", part_index: 2 });
    expect(talk.of("item.start")).toHaveLength(1);
  });

  it("that is missing is nothing to show", () => {
    const talk = prompted();
    talk.update("agent_message_chunk", {});
    expect(errors(talk)).toEqual(["content block without type"]);
    expect(talk.of("item.start")).toEqual([]);
  });
});

describe("a permission", () => {
  it("about something nobody knows is asked, with what it is about", () => {
    const talk = prompted(2);
    const subject = { type: "purchase", price: 3 };
    talk.request(1, "session/request_permission", { title: "Buy it?", subject, options: OPTIONS });
    expect(errors(talk)).toEqual(["permission about purchase"]);
    expect(talk.of("permission.request")).toMatchObject([{ action: "Buy it?", tool_name: "purchase", input: subject }]);
  });

  it("with an option of a kind nobody knows is asked, and that option allows nothing", () => {
    const talk = prompted(2);
    const options = [...OPTIONS, { optionId: "later", name: "Later", kind: "postpone" }];
    talk.request(1, "session/request_permission", {
      title: "Run?",
      subject: { type: "command", command: "ls", cwd: "/w" },
      options,
    });
    expect(errors(talk)).toEqual(["permission option of kind postpone"]);
    expect(talk.of("permission.request")[0]?.options.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
  });
});

it("a form of a mode nobody knows is asked", () => {
  const talk = prompted();
  talk.request(1, "elicitation/create", { mode: "voice", message: "Say it" });
  expect(errors(talk)).toEqual(["elicitation of mode voice"]);
  expect(talk.of("question.request")).toHaveLength(1);
});

it.each([
  [{ title: "Kid" }, "sub-agent without a session", 0],
  [{ sessionId: "kid", state: { state: "asleep" } }, "state asleep of a sub-agent", 1],
])("sub-agent %j", (update, error, calls) => {
  const talk = prompted();
  const params = { sessionId: SESSION, update: { sessionUpdate: "subagent_update", ...update } };
  talk.row("out", { jsonrpc: "2.0", method: "session/update", params });
  expect(errors(talk)).toEqual([error]);
  expect(talk.of("item.start")).toHaveLength(calls);
});

it("v2: a move concerns both files, also when the location names only one", () => {
  const talk = prompted(2);
  const content = [{ type: "diff", changes: [{ operation: "move", oldPath: "/w/a", path: "/w/b" }] }];
  talk.update("tool_call_update", { toolCallId: "c", title: "Move", kind: "move", locations: [{ path: "/w/b" }], content });
  expect(talk.of("item.start")[0]?.item.content).toMatchObject([{ paths: ["/w/b", "/w/a"] }]);
});
