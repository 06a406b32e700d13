// An agent that never comes up: whoever wants it no more does not wait for it, and nothing of it is left.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentsWith } from "../agents/registry.ts";
import { type Core, openCore } from "../daemon/core.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { isAlive, until } from "../transports/test-processes.ts";
import type { Session } from "./session.ts";
import { TestAgent } from "./test-agent.ts";
import { eventsOf, turnEnd } from "./test-session.ts";

/** Says nothing but its version, and is not impressed by SIGTERM. */
const SILENT = `
  if (process.argv.includes("--version")) { console.log("1.0.0"); process.exit(); }
  process.on("SIGTERM", () => {});
  require("node:fs").writeFileSync(process.argv[2], String(process.pid));
  setInterval(() => {}, 1000);
`;

let dataDir: string;
let core: Core;
let test: TestAgent;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-hanging-"));
  writeFileSync(join(dataDir, "silent.cjs"), SILENT);
  const silent = { command: process.execPath, args: [join(dataDir, "silent.cjs"), join(dataDir, "pid")] };
  const acp = { silent: { ...silent, restricted: {} } };
  test = new TestAgent();
  core = await openCore({
    dataDir,
    config: { agents: { acp, codex: silent, opencode: silent }, times: { interrupt_ms: 100 } },
    agents: [
      ...agentsWith(acp).filter(({ id }) => ["silent", "codex", "opencode"].includes(id)),
      { ...test.agent, sharesProcess: true },
    ],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });
});
afterEach(async () => {
  test.starting.open();
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (agent: string): Promise<Session> =>
  await core.manager.get((await core.manager.create({ agent, directory: dataDir, trust: "trusted" })).session_id);

describe("an agent that hangs while it starts", () => {
  const hanging = async (agent = "silent"): Promise<{ session: Session; turnId: string; pid: number }> => {
    const session = await start(agent);
    rmSync(join(dataDir, "pid"), { force: true });
    const { turn_id } = await session.send("hello", [], "queue");
    const file = join(dataDir, "pid");
    await until(() => existsSync(file) && readFileSync(file, "utf8") !== "");
    return { session, turnId: turn_id, pid: Number(readFileSync(file, "utf8")) };
  };

  it("[S6] is ended with its session, which does not wait for it", async () => {
    const { session, pid } = await hanging();
    await session.terminate();
    expect([session.view().status, isAlive(pid)]).toEqual(["ended", false]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[S5] is given up when an interrupt has waited long enough: the message has its turn, interrupted", async () => {
    const { session, turnId, pid } = await hanging();
    await session.interrupt();
    expect((await turnEnd(session, turnId)).data).toMatchObject({ stop_reason: "interrupted" });
    const events = await eventsOf(session);
    expect([events.filter(({ type }) => type === "error").length, isAlive(pid)]).toEqual([0, false]);
    expect(checkGrammar(events)).toEqual([]);
  });

  it.each(["codex", "opencode"])("[S6] is ended soon after its last session, also where sessions share it: %s", async (agent) => {
    const { session, pid } = await hanging(agent);
    await session.terminate();
    expect(session.view().status).toBe("ended");
    await until(() => !isAlive(pid));
  });
});

describe("an agent whose process others share, and that does not answer", () => {
  it("is not waited for when the session ends; what comes of the start later is closed", async () => {
    const session = await start("test");
    test.starting.shut();
    await session.send("hello", [], "queue");
    await test.starting.arrival();
    await session.terminate();
    expect([session.view().status, test.alive]).toEqual(["ended", 1]);
    test.starting.open();
    await until(() => test.alive === 0);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[S7] is not asked for the same conversation again before it has answered", async () => {
    const session = await start("test");
    test.starting.shut();
    const { turn_id } = await session.send("hello", [], "queue");
    await test.starting.arrival();
    await session.interrupt();
    expect((await turnEnd(session, turn_id)).data).toMatchObject({ stop_reason: "interrupted" });
    const next = await session.send("again", [], "queue");
    expect(test.starts).toBe(1);
    test.starting.open();
    await turnEnd(session, next.turn_id);
    expect([test.starts, test.most, test.prompts]).toEqual([2, 1, ["again"]]);
  });
});
