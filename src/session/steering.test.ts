// Messages that go into a running turn, and a daemon that dies over them: no agent gets one twice, and the session's story names each.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import { checkGrammar } from "../schema/grammar.ts";
import type { MessageAccepted } from "../schema/session.ts";
import type { Session } from "./session.ts";
import { TestAgent } from "./test-agent.ts";
import { eventsOf, play, until } from "./test-session.ts";

let folder: string;
let cores: Core[];
let test: TestAgent;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-steering-"));
  cores = [];
  test = new TestAgent();
});

afterEach(async () => {
  test.steering.open();
  for (const core of cores) await core.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(dataDir: string): Promise<Core> {
  const core = await openCore({
    ...{ dataDir, config: {}, agents: [mockAgent, test.agent], env: process.env, defaultDirectory: folder },
    log: () => {},
  });
  cores.push(core);
  return core;
}

async function busy(): Promise<{ session: Session; turn_id: string }> {
  const core = await open(join(folder, "first"));
  await core.manager.create({ agent: "test", session_id: "s", directory: folder });
  const session = await core.manager.get("s");
  const { turn_id } = await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "turn.started");
  return { session, turn_id };
}

/** The session as a daemon finds it that starts on what is on disk now. */
async function afterCrash(): Promise<Session> {
  cpSync(join(folder, "first"), join(folder, "second"), { recursive: true });
  const core = await open(join(folder, "second"));
  return core.manager.get("s");
}

const steer = (session: Session, again: boolean): Promise<MessageAccepted> =>
  session.send("more", [], "steer", undefined, { key: { id: "key", again } });
const steers = (): string[] => test.prompts.filter((text) => text.endsWith("more"));

describe("[S3] a message that goes into a running turn", () => {
  it("is named by the story before the agent gets it, and leaves the queue when the agent has it", async () => {
    const { session, turn_id } = await busy();
    test.steering.shut();
    const sent = steer(session, false);
    await test.steering.arrival();
    expect((await eventsOf(session)).at(-1)).toMatchObject({ type: "message.queued", data: { text: "more", steering: turn_id } });
    test.steering.open();
    const accepted = await sent;
    expect(accepted).toMatchObject({ turn_id, queued: false });
    expect((await eventsOf(session)).at(-1)).toMatchObject({ type: "message.removed", data: { reason: "steered", turn_id } });
    expect(session.queued).toBe(0);
    expect(await steer(session, true)).toEqual(accepted);
    expect(steers()).toEqual(["steer more"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("is not given again when the daemon died before it answered", async () => {
    const { session, turn_id } = await busy();
    test.steering.shut();
    void steer(session, false);
    await test.steering.arrival();
    const next = await afterCrash();
    expect(await steer(next, true)).toMatchObject({ turn_id, queued: false });
    await play(next, "after it");
    expect(steers()).toEqual(["steer more"]);
    expect(checkGrammar(await eventsOf(next))).toEqual([]);
  });

  it("is not given again when it had waited in the queue before", async () => {
    const { session, turn_id } = await busy();
    const { message_id } = await session.send("more", [], "queue");
    test.steering.shut();
    void session.sendQueued(message_id);
    await test.steering.arrival();
    const next = await afterCrash();
    await play(next, "after it");
    expect(steers()).toEqual(["steer more"]);
    const removed = (await eventsOf(next)).find(({ type }) => type === "message.removed");
    expect(removed?.data).toMatchObject({ message_id, reason: "steered", turn_id });
    expect(checkGrammar(await eventsOf(next))).toEqual([]);
  });

  it("is not given when the log does not take it, and once when its client tries again", async () => {
    const { session, turn_id } = await busy();
    const { stream } = session;
    const committed = stream.committed.bind(stream);
    stream.committed = async () => {
      stream.committed = committed;
      throw new Error("no answer");
    };
    await expect(steer(session, false)).rejects.toThrow();
    expect(await steer(session, true)).toMatchObject({ turn_id, queued: false });
    expect(steers()).toEqual(["steer more"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("is not kept when the agent refuses it, and its client may try again", async () => {
    const { session, turn_id } = await busy();
    const pass = test.steering.pass.bind(test.steering);
    test.steering.pass = () => Promise.reject(new Error("not now"));
    await expect(steer(session, false)).rejects.toThrow();
    expect(session.queued).toBe(0);
    test.steering.pass = pass;
    expect(await steer(session, true)).toMatchObject({ turn_id, queued: false });
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });
});
