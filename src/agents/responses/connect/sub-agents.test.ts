import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { checkGrammar } from "../../../schema/grammar.ts";
import { foldItems } from "../../../schema/projection/item-projection.ts";
import { eventsOf, play, turnEnd, until } from "../../../session/test-session.ts";
import { allow, type ModelRequest, outputsOf, TestCore } from "./test-core.ts";

let test: TestCore;
afterEach(() => test.close());

const said = ({ input }: ModelRequest): string => JSON.stringify(input);
const isChild = (request: ModelRequest): boolean =>
  said(request).includes("CHILD TASK") && !said(request).includes('"name":"agent"');
const children = async () => (await test.core.manager.list({ limit: 50 })).sessions.filter((one) => one.parent_session_id);

/** The parent gives the task on, the child writes a file. */
const writing = (request: ModelRequest) => {
  const done = outputsOf(request).length > 0;
  if (isChild(request))
    return done
      ? [{ text: "The file is written." }]
      : [{ text: "Writing." }, { call: "write", args: { path: "a.txt", content: "alpha\n" } }];
  return done ? [{ text: "All done." }] : [{ call: "agent", args: { prompt: "CHILD TASK: write a.txt" } }];
};

describe("a sub-agent", () => {
  it("is a session of its own, tells all in its parent, asks there, and its tokens count", async () => {
    test = await TestCore.open(writing);
    const parent = await test.start();
    const { turn_id } = await parent.send("Go.", [], "queue");
    const first = await allow(parent);
    expect(first.data.action).toBe("Call: agent");
    const second = await allow(parent, first.sequence);
    expect(second.data.action).toBe(`Sub-agent: Change: ${join(test.work, "a.txt")}`);
    expect(await turnEnd(parent, turn_id)).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(readFileSync(join(test.work, "a.txt"), "utf8")).toBe("alpha\n");
    const events = await eventsOf(parent);
    expect(checkGrammar(events)).toEqual([]);
    const items = foldItems(events);
    const call = items.find(({ content: [part] }) => part?.type === "tool_call" && part.name === "agent");
    expect(call?.content[0]).toMatchObject({ tool_kind: "subagent" });
    const below = items.filter(({ parent_id }) => parent_id === call?.item_id);
    expect(below.map(({ content: [part] }) => (part?.type === "text" ? part.text : part?.type))).toContain(
      "The file is written.",
    );
    expect(items.some(({ content: [part] }) => part?.type === "tool_call" && part.name === "write")).toBe(true);
    expect(outputsOf(test.request(test.endpoint.requests.length))).toEqual(["The file is written."]);
    const [child] = await children();
    expect(child).toMatchObject({ agent: "responses", parent_session_id: parent.session_id, status: "ended" });
    const used = (await test.core.manager.view(parent.session_id)).usage?.input_tokens ?? 0;
    expect(used).toBe(400);
    expect(child?.usage?.input_tokens).toBe(200);
    // A request answered in the parent was answered once.
    expect(events.filter(({ type }) => type === "permission.resolved")).toHaveLength(2);
  });

  it("ends with an interrupt of its parent", async () => {
    test = await TestCore.open(writing);
    const parent = await test.start({ permission_mode: "default" });
    const { turn_id } = await parent.send("Go.", [], "queue");
    const first = await allow(parent);
    await until(parent, ({ type, sequence }) => type === "permission.requested" && sequence > first.sequence);
    await parent.interrupt();
    expect(await turnEnd(parent, turn_id)).toMatchObject({ data: { stop_reason: "interrupted" } });
    const [child] = await children();
    const ended = await test.core.manager.get(child?.session_id ?? "");
    await until(ended, ({ type }) => type === "session.ended");
    expect(existsSync(join(test.work, "a.txt"))).toBe(false);
    expect(checkGrammar(await eventsOf(parent))).toEqual([]);
  });

  it("has no room beside as many as may work at once, also when one answer asks for all of them", async () => {
    const given = [1, 2, 3].map((number) => ({ call: "agent", args: { prompt: `CHILD TASK ${number}` } }));
    const model = (request: ModelRequest) => (isChild(request) || outputsOf(request).length > 0 ? [{ text: "Done." }] : given);
    test = await TestCore.open(model, { subagents: { at_once: 2 } });
    await play(await test.start({ permission_mode: "bypass" }), "Go.");
    expect(
      outputsOf(test.request(test.endpoint.requests.length)).map((output) => output.includes("2 sub-agents work already")),
    ).toEqual([false, false, true]);
    expect(await children()).toHaveLength(2);
  });

  it("may not go too deep, be too many, leave the directory, or be an agent that is not there", async () => {
    const asked: string[] = [];
    test = await TestCore.open(
      (request, nth) => {
        asked.push(String(request.tools.some(({ name }) => name === "agent")));
        if (isChild(request)) return [{ text: "Done." }];
        const calls = [{ directory: ".." }, { agent: "teleporter" }, {}, {}];
        const at = nth - 1 - asked.filter((has) => has === "false").length;
        return calls[at] === undefined ? [{ text: "End." }] : [{ call: "agent", args: { prompt: "CHILD TASK", ...calls[at] } }];
      },
      { subagents: { depth: 1, count: 3 } },
    );
    mkdirSync(join(test.work, "sub"));
    const parent = await test.start({ permission_mode: "bypass" });
    expect(await play(parent, "Go.")).toMatchObject({ data: { stop_reason: "end_turn" } });
    const outputs = outputsOf(test.request(test.endpoint.requests.length));
    expect(outputs[0]).toContain("A sub-agent works inside");
    expect(outputs[1]).toContain("There is no agent");
    expect(outputs[2]).toBe("Done.");
    expect(outputs[3]).toContain("has started its 3 sub-agents");
    // The child itself has no such tool.
    expect(asked).toContain("false");
  });
});
