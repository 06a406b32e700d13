import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import { type Log, openSqliteLog } from "../log/sqlite/log.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { parseRow, RowError } from "./session-row.ts";
import { TestAgent } from "./test-agent.ts";
import { eventsOf, play, textsOf, turnEnd } from "./test-session.ts";
import { exportLines } from "./transfer.ts";

let dataDir: string;
let core: Core;
let warnings: string[];
const test = new TestAgent();

const open = () =>
  openCore({
    dataDir,
    config: {},
    agents: [mockAgent, test.agent],
    env: process.env,
    defaultDirectory: dataDir,
    log: (_, message) => void warnings.push(message),
  });

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-unreadable-"));
  warnings = [];
  core = await open();
});

afterEach(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const create = async (session_id: string, agent = "mock"): Promise<void> =>
  void (await core.manager.create({ agent, session_id, directory: dataDir }));

/** Stops the daemon, changes its log as damage would, and starts it again. */
async function damage(change: (log: Log) => Promise<void>): Promise<void> {
  await core.close();
  const log = await openSqliteLog({ dataDir });
  await change(log);
  await log.close();
  core = await open();
}

type Change = (row: object) => string;
const BAD_ROWS: Record<string, Change> = {
  "not-json": () => "{",
  empty: () => "",
  list: () => "[]",
  title: (row) => JSON.stringify({ ...row, title: 5 }),
  directory: (row) => JSON.stringify({ ...row, directory: 7 }),
  status: (row) => JSON.stringify({ ...row, status: "asleep" }),
  mcp: (row) => JSON.stringify({ ...row, mcp_servers: [5] }),
  "of-another": (row) => JSON.stringify({ ...row, session_id: "good" }),
};

describe("a session that cannot be read", () => {
  it("[S8] is set aside, whatever is wrong with its row; it can be exported and removed, and the others are recovered", async () => {
    const bad = Object.keys(BAD_ROWS);
    for (const id of ["good", ...bad]) await create(id);
    await play(await core.manager.get("good"), "say hello");
    await play(await core.manager.get("title"), "say hello");
    await damage(async (log) => {
      for (const [id, change] of Object.entries(BAD_ROWS)) {
        const stream = await log.writer("session", id);
        stream?.setState(change(JSON.parse(stream.state()) as object));
      }
    });
    const { sessions, unreadable } = await core.manager.list({ limit: 50, search: "o" });
    expect(sessions.map(({ session_id }) => session_id)).toEqual(["good"]);
    expect(unreadable.map(({ session_id }) => session_id).sort()).toEqual(bad.sort());
    expect(unreadable.find(({ session_id }) => session_id === "title")?.reason).toMatch(/title must/);
    expect(warnings.filter((text) => text === "a session cannot be read and was set aside")).toHaveLength(bad.length);
    await play(await core.manager.get("good"), "say on");
    for (const id of bad) {
      await expect(core.manager.get(id)).rejects.toThrow(expect.objectContaining({ code: "session_unreadable", status: 409 }));
      const stream = await core.log.stream("session", id);
      const lines: string[] = [];
      if (stream) for await (const line of exportLines(core.log, stream, null)) lines.push(line);
      expect(JSON.parse(lines[0] ?? "")).toMatchObject(
        id === "of-another" ? { kind: "session" } : { kind: "session", row: null },
      );
      expect(lines.length).toBeGreaterThan(id === "title" ? 10 : 1);
      await core.manager.remove(id);
    }
    expect((await core.manager.list({ limit: 50 })).unreadable).toEqual([]);
    await create("title");
  });

  it("[S8] is set aside when what was open in it cannot be read", async () => {
    await create("good");
    await create("bad");
    await damage(async (log) => {
      const stream = await log.writer("session", "bad");
      if (!stream) throw new Error("no stream");
      stream.append({ text: "not an event", sequence: stream.last + 1, type: "item.started", native: null });
      stream.setOpenSince(stream.last);
    });
    expect(core.manager.unreadable()).toEqual([{ session_id: "bad", reason: expect.any(String) }]);
    await play(await core.manager.get("good"), "say on");
  });

  it("is noticed while the daemon runs, too: by lists and by its name", async () => {
    await create("bad");
    await create("also-bad");
    await play(await core.manager.get("bad"), "say hello");
    await core.close();
    core = await open();
    for (const id of ["bad", "also-bad"]) (await core.log.writer("session", id))?.setState("7");
    await core.log.documents.committed();
    await expect(core.manager.get("bad")).rejects.toThrow(/cannot be read/);
    expect((await core.manager.list({ limit: 10, search: "x" })).unreadable.map(({ session_id }) => session_id)).toEqual([
      "bad",
      "also-bad",
    ]);
  });

  it("is the only way a row can fail: any text is a row or a RowError", () => {
    const row = { session_id: "s", agent: "a", directory: "/" };
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.record({ key: fc.string(), value: fc.jsonValue() })), (input) => {
        const text = typeof input === "string" ? input : JSON.stringify({ ...row, [input.key]: input.value });
        try {
          parseRow(text);
        } catch (error) {
          expect(error).toBeInstanceOf(RowError);
        }
      }),
      { seed: 7, numRuns: 500 },
    );
    expect(parseRow(JSON.stringify(row))).toMatchObject({ permission_mode: "default", env: {}, ended: null });
  });
});

describe("a queued message", () => {
  const message = (turn_id: string, tries: number) =>
    JSON.stringify({ turn_id, message_id: `m-${turn_id}`, text: `say ${turn_id}`, attachments: [], tries });

  it("[S8] that cannot be read is set aside, and said; the session goes on", async () => {
    await create("s");
    await damage(async (log) => {
      log.documents.put("queued_message", "s/turn_1", "{");
      log.documents.put("queued_message", "s/turn_2", JSON.stringify({ turn_id: 5 }));
      log.documents.put("queued_message", "s/turn_3", message("turn_3", 0));
    });
    const session = await core.manager.get("s");
    await turnEnd(session, "turn_3");
    expect(await core.manager.unreadableMessages()).toBe(2);
    const errors = (await eventsOf(session)).filter((event) => event.type === "error");
    expect(errors.map((event) => event.data.details?.native_code)).toEqual(["unreadable_message"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
    await core.close();
    core = await open();
    expect((await eventsOf(await core.manager.get("s"))).filter((event) => event.type === "error")).toHaveLength(1);
    await core.manager.remove("s");
    expect(await core.manager.unreadableMessages()).toBe(0);
  });

  it("[S3] whose delivery stopped the daemon once is tried again; twice, it is told as failed and the session goes on", async () => {
    await create("once");
    await create("twice");
    await damage(async (log) => {
      log.documents.put("queued_message", "once/turn_1", message("turn_1", 1));
      log.documents.put("queued_message", "twice/turn_2", message("turn_2", 2));
    });
    const [once, twice] = [await core.manager.get("once"), await core.manager.get("twice")];
    expect((await turnEnd(once, "turn_1")).data).toMatchObject({ stop_reason: "end_turn" });
    expect((await turnEnd(twice, "turn_2")).data).toMatchObject({ stop_reason: "error" });
    expect((await eventsOf(twice)).find((event) => event.type === "error")?.data.message).toMatch(/stopped 2 times/);
    expect(await textsOf(twice, "user")).toEqual(["say turn_2"]);
    await play(twice, "say on");
    expect((await textsOf(twice, "assistant")).at(-1)).toBe("on");
    expect(checkGrammar(await eventsOf(twice))).toEqual([]);
  });

  it("counts a try before the agent is started, on disk", async () => {
    await create("s", "test");
    const session = await core.manager.get("s");
    test.starting.shut();
    await session.send("hang", [], "queue");
    await test.starting.arrival();
    const stored = () => session.queue().messages;
    expect(stored()).toMatchObject([{ attempts: 1 }]);
    test.starting.open();
    await session.send("later", [], "queue");
    expect(stored().at(-1)?.attempts).toBeUndefined();
  });
});
