// Answers to requests in live sessions: bound to the input that was read, with an edited input only where the agent runs it, and with their actor.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configuredAcpAgent } from "../agents/acp/agent.ts";
import { testAgent } from "../agents/acp/connect/test-agent.ts";
import type { Agent } from "../agents/contract.ts";
import { mockAgent } from "../agents/mock/agent.ts";
import { builtInAgents } from "../agents/registry.ts";
import { type Core, openCore } from "../daemon/core.ts";
import type { Actor } from "../schema/actor.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { PermissionData } from "../schema/event-data.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { inputHash } from "./input-hash.ts";
import type { Session } from "./session.ts";
import { eventsOf, play, textsOf, turnEnd, until } from "./test-session.ts";

let dataDir: string;
let core: Core;

const ACP = "acp-test";
const actor = (surface: Actor["surface"]): Actor => ({ token_id: `tok_${surface}`, role: "operate", surface });

/** The mock agent under another id: what the core does with the capabilities of every agent, without their programs. */
const likeMock = ({ id, name, capabilities }: Agent): Agent => ({ ...mockAgent, id, name, capabilities });

const open = () =>
  openCore({
    dataDir,
    config: { agents: { acp: { [ACP]: testAgent(dataDir) } }, times: { interrupt_ms: 500 } },
    agents: [...builtInAgents.map(likeMock), configuredAcpAgent(ACP, { restricted: {} })],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-answers-"));
  core = await open();
});
afterEach(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (agent = "mock", by?: Actor): Promise<Session> => {
  // An agent that cannot ask has no mode in which it would.
  const modes = builtInAgents.find(({ id }) => id === agent)?.capabilities.permission_modes ?? [];
  const permission_mode = modes.includes("default") ? "default" : (modes[0] ?? "default");
  return await core.manager.get((await core.manager.create({ agent, directory: dataDir, permission_mode }, by)).session_id);
};

async function asked(session: Session, after = 0): Promise<PermissionData> {
  const event = await until(session, ({ type, sequence }) => type === "permission.requested" && sequence > after);
  if (event.type !== "permission.requested") throw new Error("no permission");
  return event.data;
}

const resolved = async (session: Session): Promise<PermissionData[]> =>
  (await eventsOf(session)).flatMap((event) => (event.type === "permission.resolved" ? [event.data] : []));

describe("[A3] an answer with the hash of its input", () => {
  it("counts for that input only", async () => {
    const session = await start();
    const { turn_id } = await session.send("ask touch a.txt", [], "queue");
    const { permission_id, metadata } = await asked(session);
    expect(metadata.input_hash).toBe(inputHash({ command: "touch a.txt" }));
    const other = session.replyPermission(permission_id, { reply: "once", input_hash: inputHash({ command: "rm" }) });
    await expect(other).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await resolved(session)).toEqual([]);
    await session.replyPermission(permission_id, { reply: "once", input_hash: metadata.input_hash ?? "" });
    await session.replyPermission(permission_id, { reply: "once" });
    await turnEnd(session, turn_id);
  });

  it("[A4] an ACP agent that changes the call while it waits is asked again; the old yes never counts", async () => {
    const session = await start(ACP);
    const { turn_id } = await session.send("change rm -rf b", [], "queue");
    const first = await asked(session);
    expect(first.metadata.input).toEqual({ command: "touch a" });
    const denied = await until(session, (event) => event.type === "permission.resolved");
    const second = await asked(session, denied.sequence);
    expect(second).toMatchObject({ action: "Run: rm -rf b", metadata: { input: { command: "rm -rf b" } } });
    await expect(session.replyPermission(first.permission_id, { reply: "once" })).rejects.toMatchObject({
      code: "precondition_failed",
      message: expect.stringContaining(second.permission_id),
    });
    await session.replyPermission(second.permission_id, { reply: "reject" });
    await turnEnd(session, turn_id);
    expect((await textsOf(session, "assistant")).join("")).toContain("p2");
    expect((await resolved(session)).map(({ status }) => status)).toEqual(["denied", "denied"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });
});

describe("[A5] an edited input", () => {
  const edits = new Set(["claude", "claude-sdk", "mock"]);

  it.each(builtInAgents.map(({ id, capabilities }) => [id, capabilities.edit_input] as const))("%s: %s", async (id, can) => {
    expect(can).toBe(edits.has(id));
    const session = await start(id);
    const { turn_id } = await session.send("ask touch a.txt", [], "queue");
    const { permission_id } = await asked(session);
    const edited = { reply: "once", updated_input: { command: "touch b.txt" } } as const;
    if (can) await session.replyPermission(permission_id, edited);
    else {
      await expect(session.replyPermission(permission_id, edited)).rejects.toMatchObject({ code: "unsupported" });
      expect(await resolved(session)).toEqual([]);
      expect(session.pending().permissions).toHaveLength(1);
      await session.replyPermission(permission_id, { reply: "once" });
    }
    await turnEnd(session, turn_id);
    const [shown] = await resolved(session);
    expect(shown?.metadata.updated_input).toEqual(can ? edited.updated_input : undefined);
    const ran = JSON.stringify((await eventsOf(session)).filter((event) => event.type === "item.completed"));
    expect(ran).toContain(can ? "ran {" : "ran touch a.txt");
  });

  it("has no place in a rejection, and null is none", async () => {
    const session = await start();
    await session.send("ask", [], "queue");
    const { permission_id } = await asked(session);
    const rejection = session.replyPermission(permission_id, { reply: "reject", updated_input: { command: "x" } });
    await expect(rejection).rejects.toMatchObject({ code: "invalid_request" });
    await session.replyPermission(permission_id, { reply: "once", updated_input: null });
    expect((await resolved(session))[0]?.metadata).not.toHaveProperty("updated_input");
  });
});

describe("[A1] every effect names its actor", () => {
  const find = async (session: Session, type: UniversalEvent["type"]) =>
    (await eventsOf(session)).findLast((event) => event.type === type);

  it("of a command to a session", async () => {
    const session = await start("mock", actor("cli"));
    expect((await find(session, "session.started"))?.data).toMatchObject({ metadata: { created_by: actor("cli") } });
    expect(session.view().created_by).toEqual(actor("cli"));
    await session.configure({ model: "mock-2", title: "x" }, actor("http"));
    expect((await find(session, "config.changed"))?.data).toMatchObject({ model: "mock-2", actor: actor("http") });
    expect((await find(session, "session.updated"))?.data).toMatchObject({ title: "x", actor: actor("http") });
    const { turn_id, message_id } = await session.send("ask\nquestion\nhang", [], "queue", actor("sdk"));
    const { permission_id } = await asked(session);
    expect((await find(session, "turn.started"))?.data).toEqual({
      turn_id,
      initiator: "client",
      message_id,
      actor: actor("sdk"),
    });
    await session.replyPermission(permission_id, { reply: "once" }, actor("inspector"));
    expect((await resolved(session))[0]?.metadata).toMatchObject({ resolved_by: "client", actor: actor("inspector") });
    const question = await until(session, (event) => event.type === "question.requested");
    if (question.type !== "question.requested") throw new Error("no question");
    await session.replyQuestion(question.data.question_id, [["Red"], ["Basil"]], actor("websocket"));
    expect((await find(session, "question.resolved"))?.data).toMatchObject({ resolved_by: "client", actor: actor("websocket") });
    await session.send("left", [], "steer", actor("mcp"));
    const left = { reason: "steered", turn_id, actor: actor("mcp") };
    expect((await find(session, "message.removed"))?.data).toMatchObject(left);
    await until(session, ({ type, data }) => type === "item.completed" && JSON.stringify(data).includes("Steered: left"));
    await session.interrupt(actor("cli"));
    expect((await turnEnd(session, turn_id)).data).toMatchObject({ stop_reason: "interrupted", actor: actor("cli") });
    const fork = await core.manager.get((await core.manager.fork(session.session_id, {}, actor("http"))).session_id);
    expect((await find(fork, "session.started"))?.data).toMatchObject({ metadata: { created_by: actor("http") } });
    await session.terminate(actor("mcp"));
    expect((await find(session, "session.ended"))?.data).toMatchObject({ reason: "terminated", actor: actor("mcp") });
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("of an end that leaves requests and a turn open", async () => {
    const session = await start();
    await session.send("ask", [], "queue");
    await asked(session);
    await session.terminate(actor("cli"));
    expect((await resolved(session))[0]?.metadata).toMatchObject({ resolved_by: "session_end", actor: actor("cli") });
    expect((await find(session, "turn.ended"))?.data).toMatchObject({ stop_reason: "interrupted", actor: actor("cli") });
  });

  it("of a message that waits, also after a restart; what the daemon does is its own, what the agent does is nobody's", async () => {
    const session = await start();
    await play(session, "say before");
    const ended = await find(session, "turn.ended");
    expect(ended?.data).not.toHaveProperty("actor");
    const { turn_id } = await session.send("ask", [], "queue", actor("http"));
    await asked(session);
    const waiting = await session.send("say after", [], "queue", actor("cli"));
    await core.close();
    core = await open();
    const again = await core.manager.get(session.session_id);
    await turnEnd(again, waiting.turn_id);
    const all = await eventsOf(again);
    const daemon = { token_id: null, role: null, surface: "daemon" };
    expect(all.find((event) => event.type === "turn.ended" && event.data.turn_id === turn_id)?.data).toMatchObject({
      actor: daemon,
    });
    expect((await resolved(again))[0]?.metadata).toMatchObject({ resolved_by: "session_end", actor: daemon });
    const started = all.find((event) => event.type === "turn.started" && event.data.turn_id === waiting.turn_id);
    expect(started?.data).toMatchObject({ actor: actor("cli") });
    const own = all.filter((event) => event.type === "config.changed" || event.type === "session.updated");
    for (const { data } of own) expect(data).not.toHaveProperty("actor");
  });
});

describe("the ledger", () => {
  it("has an answer where it was given: before the agent hears of it, and with whatever keys an edited input has", async () => {
    const session = await start();
    const { turn_id } = await session.send("ask touch a.txt", [], "queue");
    const { permission_id } = await asked(session);
    const updated_input = { command: "touch b.txt", native: "kept" };
    await session.replyPermission(permission_id, { reply: "once", updated_input }, actor("http"));
    await turnEnd(session, turn_id);
    const { messages } = await session.stream.readNative({ limit: 1_000 });
    const texts = messages.map(({ body }) => body.toString());
    const given = texts.findIndex((text) => text.includes('"permission.resolve"'));
    const heard = texts.findIndex((text, index) => messages[index]?.dir === "in" && text.includes("touch b.txt"));
    expect(given).toBeGreaterThan(-1);
    expect(heard).toBeGreaterThan(given);
    const resolution = {
      do: "permission.resolve",
      status: "approved",
      resolved_by: "client",
      updated_input,
      actor: actor("http"),
    };
    expect(JSON.parse(texts[given] ?? "")).toMatchObject({ do: "say", drafts: [resolution] });
  });
});

it("[R4] the answer to a question for a secret goes to the agent, and stands in no event and not in the ledger", async () => {
  const session = await start();
  const { turn_id } = await session.send("secret", [], "queue", actor("sdk"));
  const question = await until(session, (event) => event.type === "question.requested");
  if (question.type !== "question.requested") throw new Error("no question");
  const answer = [["open-sesame-4711"]];
  await session.replyQuestion(question.data.question_id, answer, actor("cli"));
  // S4 compares with what was answered, not with what is shown of it.
  await session.replyQuestion(question.data.question_id, answer, actor("cli"));
  await expect(session.replyQuestion(question.data.question_id, [["other"]], actor("cli"))).rejects.toMatchObject({
    code: "already_answered",
  });
  await turnEnd(session, turn_id);
  const events = await eventsOf(session);
  expect(await textsOf(session)).toContain("It has 16 characters.");
  expect(events.find(({ type }) => type === "question.resolved")?.data).toMatchObject({
    response: "[redacted:answer]",
    answers: [["[redacted:answer]"]],
  });
  const { messages } = await session.stream.readNative();
  const ledger = messages.map(({ body }) => body.toString()).join("\n");
  expect(ledger).toContain("[redacted:answer]");
  expect(JSON.stringify(events) + ledger).not.toContain("open-sesame-4711");
  expect(checkGrammar(events)).toEqual([]);
});
