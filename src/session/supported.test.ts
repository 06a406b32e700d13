/** Changes of a session's configuration: refused as a whole, or applied as a whole, and stored only when the agent has agreed. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Agent, AgentError, type ConfigPatch, type Connection, type Launch } from "../agents/contract.ts";
import { mockAgent } from "../agents/mock/agent.ts";
import { openCore } from "../daemon/core.ts";
import type { CreateSession } from "../schema/session.ts";
import { play, turnEnd, until } from "./test-session.ts";

type Core = Awaited<ReturnType<typeof openCore>>;

let dataDir = "";
let core: Core;
/** What each process was started with, and what was asked of a running one. */
let starts: Launch["config"][] = [];
let changes: ConfigPatch[] = [];
let answer: (patch: ConfigPatch) => Promise<"done" | "restart">;
let beforeStart: Promise<void>;
let refuseAll = false;

/** The mock agent, with less ability and a configuration that can be refused. */
const narrow: Agent = {
  ...mockAgent,
  name: "Narrow",
  capabilities: {
    ...mockAgent.capabilities,
    settings: { model: true, variant: false, agent_mode: true },
    permission_modes: ["default", "plan", "bypass"],
  },
  refusal: async ({ permission_mode, directory }) =>
    refuseAll || (permission_mode === "bypass" && directory.endsWith("careful")) ? "Not here." : null,
  async connect(launch): Promise<Connection> {
    await beforeStart;
    starts.push(launch.config);
    const connection = await mockAgent.connect(launch);
    return {
      ...connection,
      configure: async (patch) => {
        changes.push(patch);
        return answer(patch);
      },
    };
  },
};

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "dragoman-supported-"));
  [starts, changes, beforeStart] = [[], [], Promise.resolve()];
  answer = async () => "done";
  core = await openCore({ dataDir, config: {}, agents: [narrow], env: process.env, defaultDirectory: dataDir, log: () => {} });
});
afterEach(async () => {
  await core.close();
  await rm(dataDir, { recursive: true, force: true });
});

const create = async (more: Partial<CreateSession> = {}) =>
  await core.manager.get((await core.manager.create({ agent: "mock", ...more })).session_id);

describe("what the agent cannot honour", () => {
  it("[M2] is refused at creation and at a change, and null takes it back", async () => {
    await expect(create({ variant: "high" })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("variant"),
    });
    await expect(create({ permission_mode: "accept_edits" })).rejects.toMatchObject({ code: "unsupported" });
    const session = await create();
    await expect(session.configure({ variant: "high" })).rejects.toMatchObject({ code: "unsupported" });
    await expect(session.configure({ model: "mock-2", permission_mode: "accept_edits" })).rejects.toMatchObject({
      code: "unsupported",
    });
    expect(session.view()).toMatchObject({ model: null, variant: null, permission_mode: "default" });
    await session.configure({ variant: null });
    expect(await play(session, "say hello")).toMatchObject({ data: { stop_reason: "end_turn" } });
  });

  it("[M2] is refused with the agent's own sentence where the machine is the reason", async () => {
    const careful = join(dataDir, "careful");
    await mkdir(careful);
    await expect(create({ directory: careful, permission_mode: "bypass" })).rejects.toMatchObject({ message: "Not here." });
    const session = await create({ directory: careful });
    await expect(session.configure({ permission_mode: "bypass" })).rejects.toMatchObject({ code: "unsupported" });
    expect(session.view().permission_mode).toBe("default");
  });

  it("[M2] is refused at every start, because the machine may have changed", async () => {
    const session = await create({ permission_mode: "bypass" });
    refuseAll = true;
    expect(await play(session, "say hello")).toMatchObject({ data: { stop_reason: "error" } });
    expect(starts).toEqual([]);
    refuseAll = false;
    expect(await play(session, "say hello")).toMatchObject({ data: { stop_reason: "end_turn" } });
  });
});

describe("a change", () => {
  it("[M3] that the running agent refuses changes nothing", async () => {
    const session = await create();
    await play(session, "say hello");
    answer = async () => {
      throw new AgentError("agent_refused", "No such mode.");
    };
    const change = session.configure({ permission_mode: "bypass", agent_mode: "nonsense", title: "new" });
    await expect(change).rejects.toMatchObject({ code: "agent_refused" });
    expect(session.view()).toMatchObject({ permission_mode: "default", agent_mode: null, title: "say hello" });
    await session.rest();
    await play(session, "say again");
    expect(starts.at(-1)).toMatchObject({ permission_mode: "default", agent_mode: null });
  });

  it("[M3] that needs a new process is refused in a turn, and made between turns", async () => {
    const session = await create();
    answer = async () => "restart";
    const { turn_id } = await session.send("hang", [], "queue");
    await until(session, (event) => event.type === "turn.started");
    await expect(session.configure({ permission_mode: "bypass" })).rejects.toMatchObject({ code: "session_busy" });
    expect(session.view().permission_mode).toBe("default");
    await session.interrupt();
    await turnEnd(session, turn_id);
    await session.configure({ permission_mode: "bypass" });
    expect(session.view().status).toBe("dormant");
    await play(session, "say hello");
    expect(starts.map(({ permission_mode }) => permission_mode)).toEqual(["default", "bypass"]);
  });

  it("[M3] made while the agent starts reaches that agent", async () => {
    let go = (): void => {};
    beforeStart = new Promise((resolve) => {
      go = resolve;
    });
    const session = await create({ permission_mode: "bypass" });
    const { turn_id } = await session.send("say hello", [], "queue");
    const change = session.configure({ permission_mode: "plan" });
    go();
    await change;
    await turnEnd(session, turn_id);
    expect(starts.at(-1)?.permission_mode === "plan" || changes.at(-1)?.permission_mode === "plan").toBe(true);
    expect(session.view().permission_mode).toBe("plan");
  });

  it("[M6] to plan forgets what was allowed for good: the agent starts anew", async () => {
    const session = await create();
    const { turn_id } = await session.send("ask", [], "queue");
    const asked = await until(session, (event) => event.type === "permission.requested");
    if (asked.type !== "permission.requested") throw new Error("no permission");
    await session.replyPermission(asked.data.permission_id, { reply: "always" });
    await turnEnd(session, turn_id);
    await session.configure({ permission_mode: "plan" });
    expect(changes).toEqual([]);
    await play(session, "say hello");
    expect(starts.map(({ permission_mode }) => permission_mode)).toEqual(["default", "plan"]);
  });
});
