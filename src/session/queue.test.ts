// The queue of a session: what waits is part of its story, and can be changed while it waits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { SessionProjection } from "../schema/projection/session-projection.ts";
import type { SessionSnapshot } from "../schema/snapshot.ts";
import { importSession } from "./import-session.ts";
import type { Session } from "./session.ts";
import { TestAgent } from "./test-agent.ts";
import { eventsOf, play, turnEnd, until } from "./test-session.ts";
import { exportLines } from "./transfer.ts";

let dataDir: string;
let core: Core;
let test: TestAgent;

const open = () =>
  openCore({ dataDir, config: {}, agents: [mockAgent, test.agent], env: process.env, defaultDirectory: dataDir, log: () => {} });

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-queue-"));
  test = new TestAgent();
  core = await open();
});

afterEach(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** A session whose agent is busy with a turn that does not end by itself, and three messages behind it. */
async function busy(): Promise<{ session: Session; ids: string[]; turn_id: string }> {
  await core.manager.create({ agent: "test", session_id: "s", directory: dataDir });
  const session = await core.manager.get("s");
  const { turn_id } = await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "turn.started");
  const ids: string[] = [];
  for (const text of ["one", "two", "three"]) ids.push((await session.send(text, [], "queue")).message_id);
  return { session, ids, turn_id };
}

const texts = (session: Session): string[] => session.queue().messages.map(({ text }) => text);
const named = async (session: Session): Promise<(string | undefined)[]> =>
  (await eventsOf(session)).flatMap((event) => (event.type === "turn.started" ? [event.data.message_id] : []));

/** As it is stored. */
function projected(events: UniversalEvent[], from?: SessionSnapshot): SessionSnapshot {
  const projection = new SessionProjection(from);
  for (const event of events) projection.apply(event);
  return JSON.parse(JSON.stringify(projection)) as SessionSnapshot;
}

describe("[G9] the queue of a session", () => {
  it("is edited, moved and shortened, and delivered as it then is; every turn names its message", async () => {
    const { session, ids, turn_id } = await busy();
    const [one = "", two = "", three = ""] = ids;
    expect(texts(session)).toEqual(["one", "two", "three"]);
    expect(await session.updateQueued(three, { position: 0 })).toMatchObject({ message_id: three });
    expect(await session.updateQueued(one, { text: "uno" })).toMatchObject({ text: "uno" });
    await session.removeQueued(two);
    expect(texts(session)).toEqual(["three", "uno"]);
    await expect(session.removeQueued(two)).rejects.toMatchObject({ code: "message_not_found" });
    await session.interrupt();
    await turnEnd(session, turn_id);
    await until(session, (event) => event.type === "turn.started" && event.data.message_id === one);
    expect(test.prompts).toEqual(["hang", "three", "uno"]);
    expect((await named(session)).slice(1)).toEqual([three, one]);
    expect(session.queue().messages).toEqual([]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
    const all = await eventsOf(session);
    for (let k = 0; k <= all.length; k++) expect(projected(all.slice(k), projected(all.slice(0, k)))).toEqual(projected(all));
  });

  it("puts a message before another one, wherever that stands by then, and says so when it waits no more", async () => {
    const { session, ids } = await busy();
    const [one = "", two = "", three = ""] = ids;
    await session.updateQueued(three, { before: two });
    expect(texts(session)).toEqual(["one", "three", "two"]);
    await session.removeQueued(one);
    await session.updateQueued(two, { before: three, text: "dos" });
    expect(texts(session)).toEqual(["dos", "three"]);
    for (const before of [one, two]) {
      const refused = session.updateQueued(two, { before, text: "deux" });
      await expect(refused).rejects.toMatchObject({ code: "message_not_found" });
    }
    const both = session.updateQueued(two, { before: three, position: 0 });
    await expect(both).rejects.toMatchObject({ code: "invalid_request" });
    expect(texts(session)).toEqual(["dos", "three"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("sends one now: into the running turn where the agent can, and it has no turn of its own", async () => {
    const { session, ids, turn_id } = await busy();
    const [, two = ""] = ids;
    expect(await session.sendQueued(two)).toEqual({ turn_id, message_id: two, queued: false });
    expect(test.prompts).toEqual(["hang", "steer two"]);
    expect(texts(session)).toEqual(["one", "three"]);
    const removed = (await eventsOf(session)).find((event) => event.type === "message.removed");
    expect(removed?.data).toMatchObject({ message_id: two, reason: "steered", turn_id });
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("sends two now at once: neither is given twice, also when somebody asks again or the turn ends meanwhile", async () => {
    const { session, ids, turn_id } = await busy();
    const [one = "", two = ""] = ids;
    test.steering.shut();
    const first = session.sendQueued(one);
    await test.steering.arrival();
    const second = session.sendQueued(two);
    await expect(session.sendQueued(one)).rejects.toMatchObject({ code: "message_sending" });
    await expect(session.removeQueued(two)).rejects.toMatchObject({ code: "message_sending" });
    await expect.poll(() => test.prompts).toContain("steer two");
    await session.interrupt();
    await turnEnd(session, turn_id);
    test.steering.open();
    await Promise.all([first, second]);
    await until(session, (event) => event.type === "turn.ended" && event.data.turn_id !== turn_id);
    expect(test.prompts).toEqual(["hang", "steer one", "steer two", "three"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("sends one now only when the agent has the message that its turn began with", async () => {
    await core.manager.create({ agent: "test", session_id: "s", directory: dataDir });
    const session = await core.manager.get("s");
    await play(session, "before");
    const append = session.stream.append.bind(session.stream);
    const steered = new Promise((resolve) => {
      session.stream.append = (entry) => {
        append(entry);
        if (entry.type === "turn.started") queueMicrotask(() => resolve(session.send("more", [], "steer")));
      };
    });
    await session.send("hang", [], "queue");
    await steered;
    expect(test.prompts).toEqual(["before", "hang", "steer more"]);
  });

  it("refuses to send one now to an agent that takes nothing into a running turn, and keeps it", async () => {
    const connect = test.agent.connect.bind(test.agent);
    test.agent.connect = async (launch) => {
      const { steer: _, ...connection } = await connect(launch);
      return connection;
    };
    const { session, ids } = await busy();
    await expect(session.sendQueued(ids[1] ?? "")).rejects.toMatchObject({ code: "steer_unsupported" });
    expect(texts(session)).toEqual(["one", "two", "three"]);
  });

  it("does not change a message that is on its way, and takes a change that comes before", async () => {
    await core.manager.create({ agent: "test", session_id: "s", directory: dataDir });
    const session = await core.manager.get("s");
    test.starting.shut();
    const { message_id, turn_id } = await session.send("first", [], "queue");
    await test.starting.arrival();
    await session.updateQueued(message_id, { text: "changed" });
    test.starting.open();
    await turnEnd(session, turn_id);
    expect(test.prompts).toEqual(["changed"]);
    await expect(session.updateQueued(message_id, { text: "late" })).rejects.toMatchObject({ code: "message_not_found" });
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("can lose a message whose agent is still starting: nothing is delivered", async () => {
    await core.manager.create({ agent: "test", session_id: "s", directory: dataDir });
    const session = await core.manager.get("s");
    test.starting.shut();
    const { message_id } = await session.send("first", [], "queue");
    await test.starting.arrival();
    await session.removeQueued(message_id);
    test.starting.open();
    const { turn_id } = await session.send("second", [], "queue");
    await turnEnd(session, turn_id);
    expect(test.prompts).toEqual(["second"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[G8] is emptied before the session ends", async () => {
    const { session } = await busy();
    await session.terminate();
    const types = (await eventsOf(session)).map(({ type }) => type);
    expect(types.slice(-4)).toEqual(["message.removed", "message.removed", "message.removed", "session.ended"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[S3] outlives the daemon, in its order", async () => {
    const { session, ids } = await busy();
    await session.updateQueued(ids[2] ?? "", { position: 0 });
    await core.close();
    test.prompts = [];
    core = await open();
    const again = await core.manager.get("s");
    await until(again, (event) => event.type === "turn.started" && event.data.message_id === ids[1]);
    expect(test.prompts).toEqual(["three", "one", "two"]);
    expect(await core.log.documents.list("queued_message")).toEqual([]);
    expect(checkGrammar(await eventsOf(again))).toEqual([]);
  });

  it("[S3] the start of a turn is committed before the agent gets its message", async () => {
    await core.manager.create({ agent: "test", session_id: "s", directory: dataDir });
    const session = await core.manager.get("s");
    const seen: (number | undefined)[] = [];
    test.onPrompt = () => seen.push(session.stream.lastCommitted);
    const { turn_id, message_id } = await session.send("one", [], "queue");
    await turnEnd(session, turn_id);
    const started = (await eventsOf(session)).find((event) => event.type === "turn.started");
    expect(started).toMatchObject({ data: { turn_id, message_id, initiator: "client" }, source: "daemon" });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeGreaterThanOrEqual(started?.sequence ?? Number.POSITIVE_INFINITY);
  });

  it("[S5] an interrupt right after a message was sent stops its turn, and only that", async () => {
    await core.manager.create({ agent: "test", session_id: "s", directory: dataDir });
    const session = await core.manager.get("s");
    const { turn_id } = await session.send("hang one", [], "queue");
    await session.interrupt();
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "interrupted" } });
    const next = await session.send("two", [], "queue");
    expect(await turnEnd(session, next.turn_id)).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[S9] of an imported session is not sent: a file is data", async () => {
    const { session } = await busy();
    const lines: string[] = [];
    for await (const line of exportLines(core.log, session.stream, null)) lines.push(line);
    await importSession(core.log, lines.join(""), { session_id: "copy" });
    const starts = test.starts;
    const copy = await core.manager.get("copy");
    expect(copy.queued).toBe(0);
    await core.log.documents.committed();
    const reasons = (await eventsOf(copy)).flatMap((event) => (event.type === "message.removed" ? [event.data.reason] : []));
    expect(reasons).toEqual(["imported", "imported", "imported"]);
    expect(test.starts).toBe(starts);
    expect(checkGrammar(await eventsOf(copy))).toEqual([]);
  });
});
