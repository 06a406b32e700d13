import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Agent } from "../agents/contract.ts";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import { eventTypes, type UniversalEvent } from "../schema/event.ts";
import type { EventType } from "../schema/event-data.ts";
import { checkGrammar } from "../schema/grammar.ts";
import type { Session } from "./session.ts";
import { eventsOf, play as playTurn, textsIn, turnEnd, until } from "./test-session.ts";

let dataDir: string;
let core: Core;

/** Cannot resume. */
const mortalAgent: Agent = { ...mockAgent, id: "mortal", capabilities: { ...mockAgent.capabilities, resume: false } };

const open = () =>
  openCore({
    dataDir,
    config: { times: { interrupt_ms: 500 } },
    agents: [mockAgent, mortalAgent],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-session-"));
  core = await open();
});

afterEach(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async ({ agent = "mock" } = {}): Promise<Session> =>
  await core.manager.get((await core.manager.create({ agent, directory: dataDir })).session_id);

const play = async (session: Session, text: string): Promise<UniversalEvent[]> => {
  await playTurn(session, text);
  return await eventsOf(session);
};

const answer = (all: UniversalEvent[]): string => textsIn(all, "assistant").at(-1) ?? "";

describe("a session with the mock agent", () => {
  it("tells one turn from the user's message to the end", async () => {
    const session = await start();
    await play(session, "say Hello there.");
    await until(session, (event) => event.type === "session.status" && event.data.status === "idle");
    const all = await eventsOf(session);
    expect(checkGrammar(all)).toEqual([]);
    expect(all.map((event) => event.type)).toEqual([
      "session.started",
      "message.queued",
      "session.updated",
      "checkpoint.created",
      "turn.started",
      "session.status",
      "item.started",
      "item.delta",
      "item.completed",
      "item.started",
      "item.delta",
      "item.delta",
      "item.completed",
      "turn.ended",
      "session.status",
    ]);
    expect(answer(all)).toBe("Hello there.");
  });

  it("acts out every event type of the schema, and the grammar holds", async () => {
    const session = await start();
    await play(session, "all");
    await play(session, "garbage");
    await play(session, "error rate_limit");
    const asked = until(session, (event) => event.type === "permission.requested");
    const { turn_id } = await session.send("ask\nquestion", [], "queue");
    const permission = await asked;
    if (permission.type !== "permission.requested") throw new Error("no permission");
    const { message_id } = await session.send("say later", [], "queue");
    await session.updateQueued(message_id, { text: "say never" });
    await session.removeQueued(message_id);
    await session.replyPermission(permission.data.permission_id, { reply: "once" });
    const question = await until(session, (event) => event.type === "question.requested");
    if (question.type !== "question.requested") throw new Error("no question");
    await session.replyQuestion(question.data.question_id, [["Blue"], ["Cheese", "Basil"]]);
    await turnEnd(session, turn_id);
    await session.terminate();
    const all = await eventsOf(session);
    expect(checkGrammar(all)).toEqual([]);
    expect(answer(all)).toBe("You chose Blue; Cheese and Basil.");
    const seen = new Set<EventType>(all.map((event) => event.type));
    // A session moves only in a fleet, see test/fleet.
    expect(eventTypes.filter((type) => !seen.has(type))).toEqual(["session.moved"]);
  });

  it("queues a message that comes while a turn runs, and sends it after", async () => {
    const session = await start();
    const first = await session.send("slow 5 one two three", [], "queue");
    const second = await session.send("say second", [], "queue");
    expect([first.queued, second.queued]).toEqual([false, true]);
    await turnEnd(session, second.turn_id);
    const turns = (await eventsOf(session)).filter((event) => event.type === "turn.started");
    expect(turns.map((event) => event.data.turn_id)).toEqual([first.turn_id, second.turn_id]);
  });

  it("steers, rejects when busy, and interrupts", async () => {
    const session = await start();
    const { turn_id } = await session.send("hang", [], "queue");
    await until(session, (event) => event.type === "turn.started");
    await expect(session.send("x", [], "reject")).rejects.toMatchObject({ code: "session_busy" });
    expect(await session.send("left", [], "steer")).toMatchObject({ turn_id, queued: false });
    await session.interrupt();
    const end = await turnEnd(session, turn_id);
    expect(end.data).toMatchObject({ stop_reason: "interrupted" });
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[G6] [S4] takes the first answer, the same again, and refuses another", async () => {
    const session = await start();
    const { turn_id } = await session.send("ask", [], "queue");
    const asked = await until(session, (event) => event.type === "permission.requested");
    if (asked.type !== "permission.requested") throw new Error("no permission");
    const id = asked.data.permission_id;
    expect(session.view()).toMatchObject({ status: "waiting", pending: { permissions: 1, questions: 0 } });
    await expect(session.replyPermission(id, { reply: "once", option_id: "maybe" })).rejects.toMatchObject({
      code: "invalid_option",
    });
    await session.replyPermission(id, { reply: "reject", message: "not now" });
    await session.replyPermission(id, { reply: "reject", message: "not now" });
    await expect(session.replyPermission(id, { reply: "once" })).rejects.toMatchObject({ code: "already_answered" });
    await expect(session.replyPermission("prm_none", { reply: "once" })).rejects.toMatchObject({ code: "permission_not_found" });
    await turnEnd(session, turn_id);
    expect(answer(await eventsOf(session))).toBe("You said no: not now.");
  });

  it("[S1] outlives the death of an agent that can resume: the turn fails, the next message goes on", async () => {
    const session = await start();
    await play(session, "say the word is heron");
    await session.send("crash 7", [], "queue");
    const rest = await until(session, (event) => event.type === "session.status" && event.data.status === "dormant");
    const before = (await eventsOf(session)).slice(0, rest.sequence);
    expect(before.findLast((event) => event.type === "turn.ended")?.data).toMatchObject({ stop_reason: "error" });
    expect(before.filter((event) => event.type === "error").map(({ data }) => data)).toMatchObject([
      { details: { exit_code: 7, signal: null, stderr: { head: "mock: crashing as asked", truncated: false } } },
    ]);
    const all = await play(session, "remember");
    expect(answer(all)).toContain("the word is heron");
    expect(checkGrammar(all)).toEqual([]);
  });

  it("[S1] outlives a death between two turns, too, and can be resumed without a message", async () => {
    const session = await start();
    await session.send("depart", [], "queue");
    await until(session, (event) => event.type === "session.status" && event.data.status === "dormant");
    await session.resume();
    expect(session.view().status).toBe("idle");
    expect(session.alive).toBe(true);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[G8] ends with the agent's stderr when an agent that cannot resume crashes, everything closed", async () => {
    const session = await start({ agent: "mortal" });
    await session.send("crash 7", [], "queue");
    const end = await until(session, (event) => event.type === "session.ended");
    expect(end.data).toMatchObject({
      reason: "error",
      terminated_by: "agent",
      exit_code: 7,
      stderr: { head: "mock: crashing as asked", truncated: false },
    });
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
    await expect(session.send("x", [], "queue")).rejects.toMatchObject({ code: "session_ended" });
  });

  it("keeps the title a person gave, and the agent's own beside it", async () => {
    const named = await start();
    await named.configure({ title: "Mine" });
    const all = await play(named, "facts");
    expect(named.view().title).toBe("Mine");
    const updates = all
      .flatMap((event) => (event.type === "session.updated" ? [event.data] : []))
      .filter(({ title, metadata }) => title !== undefined || metadata?.native_title !== undefined);
    expect(updates).toMatchObject([{ title: "Mine" }, { metadata: { native_title: "A mock session" } }]);
    expect(updates[1]).not.toHaveProperty("title");
    const unnamed = await start();
    await play(unnamed, "facts");
    expect(unnamed.view().title).toBe("A mock session");
  });

  it("is as old as its last event, not as the question", async () => {
    const session = await start();
    await play(session, "say hi");
    await session.rest();
    await core.log.documents.committed();
    const { updated_at } = session.view();
    expect(updated_at >= ((await eventsOf(session)).at(-1)?.time ?? "")).toBe(true);
    while (Date.now() <= Date.parse(updated_at) + 1) await new Promise(setImmediate);
    expect(session.view().updated_at).toBe(updated_at);
    expect(
      (await core.manager.list({ limit: 10 })).sessions.find((row) => row.session_id === session.session_id)?.updated_at,
    ).toBe(updated_at);
  });

  it("[S1] resumes natively after rest, with the conversation intact", async () => {
    const session = await start();
    await play(session, "say the word is owl");
    await session.rest();
    await core.log.documents.committed();
    expect(session.view().status).toBe("dormant");
    const all = await play(session, "remember");
    expect(answer(all)).toContain("say the word is owl");
    expect(checkGrammar(all)).toEqual([]);
  });

  it("[S3] goes on with an accepted message after the daemon was stopped", async () => {
    const session = await start();
    await play(session, "say before");
    const { turn_id } = await session.send("hang", [], "queue");
    await until(session, (event) => event.type === "turn.started" && event.data.turn_id === turn_id);
    const waiting = await session.send("remember", [], "queue");
    await core.close();
    core = await open();
    const again = await core.manager.get(session.session_id);
    await turnEnd(again, waiting.turn_id);
    const all = await eventsOf(again);
    expect(checkGrammar(all)).toEqual([]);
    expect(answer(all)).toContain("say before");
  });

  it("keeps events small: a megabyte of output goes to the artifact store", async () => {
    const session = await start();
    const all = await play(session, "big 1000000");
    const written = all.find((event) => event.type === "artifact.written");
    expect(written?.data).toMatchObject({ kind: "tool_output", bytes: 1_000_000 });
    expect(Math.max(...all.map((event) => JSON.stringify(event).length))).toBeLessThan(20_000);
  });

  it("[L1] accounts for garbage, verbatim, and goes on", async () => {
    const session = await start();
    const all = await play(session, "garbage");
    expect(all.filter((event) => event.type === "agent.unparsed")).toHaveLength(4);
    const natives = (await session.stream.readNative({ limit: 1000 })).messages;
    expect(natives.some(({ body }) => body.equals(Buffer.from([0xff, 0xfe, 0x00])))).toBe(true);
    expect(answer(all)).toBe("That was garbage.");
  });

  it("can read, end and remove a session whose agent is not configured any more", async () => {
    const session = await start();
    await play(session, "say hello");
    await core.close();
    core = await openCore({ dataDir, config: {}, agents: [], env: process.env, defaultDirectory: dataDir, log: () => {} });
    const orphan = await core.manager.get(session.session_id);
    expect(orphan.view()).toMatchObject({ agent: "mock", status: "dormant" });
    const { turn_id } = await orphan.send("hello?", [], "queue");
    await turnEnd(orphan, turn_id);
    expect(checkGrammar(await eventsOf(orphan))).toEqual([]);
    await core.manager.remove(session.session_id);
    expect((await core.manager.list({ limit: 10 })).sessions).toEqual([]);
  });

  it("forks a conversation into a session of its own", async () => {
    const session = await start();
    await play(session, "say the word is owl");
    const fork = await core.manager.get((await core.manager.fork(session.session_id, {})).session_id);
    const all = await play(fork, "remember");
    expect(answer(all)).toContain("owl");
    expect(fork.nativeSessionId).not.toBe(session.nativeSessionId);
    expect(fork.view().forked_from).toBe(session.session_id);
  });

  it("forks a session that failed into one that did not", async () => {
    const session = await start();
    await play(session, "say hello");
    await play(session, "error rate_limit");
    expect(session.view().last_error?.code).toBe("rate_limit");
    const forks = [await core.manager.fork(session.session_id, {}), await core.manager.branchAt(session.session_id, 5)];
    expect(forks.map(({ last_error, usage, forked_from }) => ({ last_error, usage, forked_from }))).toEqual(
      forks.map(() => ({ last_error: null, usage: null, forked_from: session.session_id })),
    );
  });
});
