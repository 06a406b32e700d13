import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { PROGRAM, sdkAddress } from "../../../runtime/mcp/test-server.ts";
import { checkGrammar } from "../../../schema/grammar.ts";
import { foldItems } from "../../../schema/projection/item-projection.ts";
import { eventsOf, play, turnEnd, until } from "../../../session/test-session.ts";
import { allow, outputsOf, TestCore } from "./test-core.ts";

let test: TestCore;
afterEach(() => test.close());

const server = () => {
  writeFileSync(join(test.dir, "lab.mjs"), PROGRAM.replaceAll("$SDK", sdkAddress()));
  return { command: process.execPath, args: [join(test.dir, "lab.mjs")], env: { CALLS: join(test.dir, "calls") } };
};
const lab = () => ({ name: "lab", type: "stdio" as const, ...server() });

describe("MCP servers", () => {
  it("are tools of the model, asked about like others; pictures become artifacts and questions reach the person", async () => {
    const calls = ["add", "picture", "ask"];
    test = await TestCore.open(
      (request) => {
        const name = calls[outputsOf(request).length];
        return name === undefined ? [{ text: "Done." }] : [{ call: `mcp__lab__${name}`, args: { a: 1, b: 2 } }];
      },
      { mcp_start_ms: 60_000 },
    );
    const session = await test.start({ mcp_servers: [lab()] });
    const { turn_id } = await session.send("Go.", [], "queue");
    let after = 0;
    for (const name of calls) {
      const asked = await allow(session, after);
      expect(asked.data.metadata.tool_name).toBe(`mcp__lab__${name}`);
      after = asked.sequence;
    }
    const question = await until(session, ({ type }) => type === "question.requested");
    if (question.type !== "question.requested") throw new Error("no question");
    expect(question.data.prompt).toContain("lab: Who are you?");
    await session.replyQuestion(question.data.question_id, [["Ada"], [""]]);
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(test.request(1).tools.find(({ name }) => name === "mcp__lab__add")).toMatchObject({
      parameters: { properties: { a: { type: "number" } } },
    });
    expect(outputsOf(test.request(4)).at(0)).toBe("3");
    expect(outputsOf(test.request(4)).at(2)).toContain("Ada");
    const events = await eventsOf(session);
    expect(checkGrammar(events)).toEqual([]);
    const parts = foldItems(events).flatMap(({ content }) => content);
    expect(parts.find(({ type }) => type === "image")).toMatchObject({ mime: "image/png" });
    expect(parts.find((part) => part.type === "tool_call" && part.name === "mcp__lab__add")).toMatchObject({ tool_kind: "mcp" });
    const config = events.flatMap((event) => (event.type === "config.changed" ? (event.data.mcp_servers ?? []) : []));
    expect(config.at(-1)).toEqual({ name: "lab", status: "connected" });
  });

  it("of a directory that is not trusted are never started", async () => {
    test = await TestCore.open(() => [{ text: "Hello." }], { mcp_start_ms: 60_000 });
    const proof = join(test.dir, "started");
    const entry = { command: "bash", args: ["-c", `echo yes > ${proof}; exec sleep 60`] };
    writeFileSync(join(test.work, ".mcp.json"), JSON.stringify({ mcpServers: { local: entry } }));
    await play(await test.start({ trust: "restricted" }), "Go.");
    expect(existsSync(proof)).toBe(false);
    writeFileSync(join(test.work, ".mcp.json"), JSON.stringify({ mcpServers: { local: server() } }));
    await play(await test.start({ trust: "trusted" }), "Go.");
    expect(test.request(2).tools.map(({ name }) => name)).toContain("mcp__local__add");
  });
});

describe("what the agent keeps of a session", () => {
  it("is removed with it, but not while a fork needs it", async () => {
    test = await TestCore.open(() => [{ text: "Hello." }]);
    const folder = join(test.dir, "data", "agents", "responses", "sessions");
    const session = await test.start();
    await play(session, "Go.");
    const fork = await test.core.manager.fork(session.session_id, {});
    await test.core.manager.remove(session.session_id);
    expect(readdirSync(folder)).toHaveLength(1);
    await play(await test.core.manager.get(fork.session_id), "Go on.");
    await test.core.manager.remove(fork.session_id);
    const kept = await test.start();
    await play(kept, "Go.");
    await kept.rest();
    await kept.stream.committed();
    expect(await test.core.manager.removeUnused(kept.session_id)).toBe(true);
    // The first one's journal, which the fork had branched off from.
    expect(readdirSync(folder)).toHaveLength(1);
  });
});
