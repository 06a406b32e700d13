import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Core, openCore } from "../daemon/core.ts";
import { checkGrammar } from "../schema/grammar.ts";
import type { Session } from "./session.ts";
import { TestAgent } from "./test-agent.ts";
import { eventsOf, play, turnEnd, until } from "./test-session.ts";

let dataDir: string;
let core: Core;
let test: TestAgent;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-ending-"));
  test = new TestAgent();
  core = await openCore({
    dataDir,
    config: {},
    agents: [test.agent],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });
});

afterEach(async () => {
  test.starting.open();
  test.closing.open();
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (): Promise<Session> =>
  await core.manager.get((await core.manager.create({ agent: "test", directory: dataDir })).session_id);

const ended = { code: "session_ended" };

describe("a session that is being ended", () => {
  it("[S7] refuses every command at once, and leaves no process", async () => {
    const session = await start();
    await play(session, "hello");
    test.closing.shut();
    const ending = session.terminate();
    await test.closing.arrival();
    await expect(session.send("more", [], "queue")).rejects.toMatchObject(ended);
    await expect(session.send("more", [], "steer")).rejects.toMatchObject(ended);
    await expect(session.configure({ title: "new" })).rejects.toMatchObject(ended);
    await expect(session.interrupt()).rejects.toMatchObject(ended);
    const again = session.terminate();
    test.closing.open();
    await Promise.all([ending, again]);
    expect([test.alive, test.starts, session.alive]).toEqual([0, 1, false]);
    expect(session.view().status).toBe("ended");
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[S7] ends an agent that is just starting, and does not give it the message", async () => {
    const session = await start();
    test.starting.shut();
    await session.send("hello", [], "queue");
    await test.starting.arrival();
    const ending = session.terminate();
    await expect(session.send("more", [], "queue")).rejects.toMatchObject(ended);
    test.starting.open();
    await ending;
    expect([test.alive, test.starts, test.prompts.length]).toEqual([0, 1, 0]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[S7] refuses a message whose commit was awaited when the end began", async () => {
    const session = await start();
    const sent = session.send("hello", [], "queue");
    const ending = session.terminate();
    await expect(sent).rejects.toMatchObject(ended);
    await ending;
    expect([test.alive, test.prompts.length]).toEqual([0, 0]);
  });

  it("[S6] is removed once, whoever asks, and nothing is started meanwhile", async () => {
    const session = await start();
    await play(session, "hello");
    test.closing.shut();
    const removals = [core.manager.remove(session.session_id), core.manager.remove(session.session_id)];
    await test.closing.arrival();
    await expect((await core.manager.get(session.session_id)).send("more", [], "queue")).rejects.toMatchObject(ended);
    test.closing.open();
    await Promise.all(removals);
    expect([test.alive, test.starts]).toEqual([0, 1]);
    await expect(core.manager.get(session.session_id)).rejects.toThrow(/no session/);
  });
});

describe("a session that is put to rest", () => {
  it("[S7] starts the agent again for a message that comes meanwhile, but not beside the one that goes", async () => {
    const session = await start();
    await play(session, "hello");
    test.closing.shut();
    const resting = session.rest();
    await test.closing.arrival();
    const { turn_id } = await session.send("again", [], "queue");
    expect(test.starts).toBe(1);
    test.closing.open();
    await resting;
    await turnEnd(session, turn_id);
    expect([test.starts, test.most, test.alive]).toEqual([2, 1, 1]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("is suspended with the daemon: nothing is started any more, and the message stays queued for the next start", async () => {
    const session = await start();
    test.starting.shut();
    const { turn_id } = await session.send("hello", [], "queue");
    await test.starting.arrival();
    const closing = core.close();
    test.starting.open();
    await closing;
    expect([test.alive, test.starts, test.prompts]).toEqual([0, 1, []]);
    core = await openCore({
      dataDir,
      config: {},
      agents: [test.agent],
      env: process.env,
      defaultDirectory: dataDir,
      log: () => {},
    });
    await turnEnd(await core.manager.get(session.session_id), turn_id);
    expect(test.prompts).toEqual(["hello"]);
  });
});

describe("a session whose object was given up", () => {
  it("[S7] is read again from the log, and its next agent waits for the end of the last", async () => {
    const session = await start();
    await session.send("hang", [], "queue");
    await until(session, (event) => event.type === "turn.started");
    test.closing.shut();
    // What no agent should say: it makes the log refuse.
    test.launch?.port.say([{ do: "event", type: "no such\ntype" as never, data: {} as never }]);
    await test.closing.arrival();
    await expect(session.send("x", [], "queue")).rejects.toThrow();
    const again = await core.manager.get(session.session_id);
    expect(again).not.toBe(session);
    const { turn_id } = await again.send("hello", [], "queue");
    expect(test.starts).toBe(1);
    test.closing.open();
    await turnEnd(again, turn_id);
    expect([test.starts, test.most]).toEqual([2, 1]);
    expect(checkGrammar(await eventsOf(again))).toEqual([]);
  });
});

describe("a turn that ends while a message is on its way into it", () => {
  it("leaves the message to a turn of its own, and that one is named", async () => {
    const session = await start();
    const { turn_id } = await session.send("hang", [], "queue");
    await until(session, (event) => event.type === "turn.started");
    const steered = session.send("late", [], "steer");
    test.emit({ type: "done", reason: "end_turn" });
    const accepted = await steered;
    expect(accepted.turn_id).not.toBe(turn_id);
    await turnEnd(session, accepted.turn_id);
    expect(test.prompts).toEqual(["hang", "late"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });
});
