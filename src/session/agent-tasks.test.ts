import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Core, openCore } from "../daemon/core.ts";
import type { Draft } from "../schema/draft.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { checkTaskGrammar } from "../schema/task-grammar.ts";
import type { Session } from "./session.ts";
import { TestAgent } from "./test-agent.ts";
import { eventsOf, play, until } from "./test-session.ts";

let dataDir: string;
let core: Core;
let test: TestAgent;

const open = async (): Promise<void> => {
  core = await openCore({
    dataDir,
    config: {},
    agents: [test.agent],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });
};
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-agent-tasks-"));
  test = new TestAgent();
  await open();
});
afterEach(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const begin = async (): Promise<Session> => {
  const session = await core.manager.get((await core.manager.create({ agent: "test", directory: dataDir })).session_id);
  await play(session, "hello");
  return session;
};
const say = (...drafts: Draft[]): void => test.launch?.port.say(drafts);
const start: Draft = { do: "task.start", key: "k", tool_name: "Bash", command: "npm run dev", title: "Server" };
const last = (event: UniversalEvent): boolean => event.type === "task.status";
const stored = async (id: string): Promise<UniversalEvent[]> =>
  (await (await core.tasks.stream(id)).read({ limit: 1_000 })).events.map((json) => JSON.parse(json) as UniversalEvent);

describe("a command that the agent runs beside its turns", () => {
  it("[K1] [K6] is a task of the session: its own stream has all of it, the session's its start and its end", async () => {
    const session = await begin();
    say(start, { do: "task.output", key: "k", text: "ready\n" });
    say(
      { do: "task.output", key: "k", text: "oops\n", stream: "stderr" },
      { do: "task.end", key: "k", status: "exited", exit_code: 0 },
    );
    const end = await until(session, last);
    const { tasks } = await core.tasks.list({ session_id: session.session_id });
    expect(tasks).toMatchObject([
      { owner: "agent", title: "Server", status: "exited", exit_code: 0, controls: [], cwd: dataDir },
    ]);
    const id = tasks[0]?.task_id ?? "";
    expect(end.data).toMatchObject({ task_id: id, status: "exited" });
    const events = await stored(id);
    expect(events.map(({ type }) => type)).toEqual(["task.spawned", "task.status", "task.output", "task.output", "task.status"]);
    expect(checkTaskGrammar(events)).toEqual([]);
    const told = await eventsOf(session);
    expect(told.filter(({ type }) => type.startsWith("task.")).map(({ type }) => type)).toEqual(["task.spawned", "task.status"]);
    expect(checkGrammar(told)).toEqual([]);
    expect(await core.tasks.output(id, { stream: "stderr" })).toMatchObject({ text: "oops\n" });
  });

  it("[K6] has failed when its agent dies, is put to rest, or its session ends", async () => {
    for (const finish of [
      async (session: Session) => {
        test.launch?.port.closed({ exit: null, message: "gone" });
        await until(session, last);
      },
      async (session: Session) => {
        await session.rest();
        await until(session, last);
      },
      (session: Session) => session.terminate(),
    ]) {
      const session = await begin();
      say(start);
      await until(session, ({ type }) => type === "task.spawned");
      await finish(session);
      const { tasks } = await core.tasks.list({ session_id: session.session_id });
      await core.tasks.tasks.ended(tasks[0]?.task_id ?? "");
      expect(core.tasks.tasks.get(tasks[0]?.task_id ?? "")).toMatchObject({ status: "failed", error: expect.any(String) });
    }
  });

  it("[K6] keeps its agent from being put to rest as long as it runs", async () => {
    const session = await begin();
    const inAnHour = Date.now() + 60 * 60_000;
    say(start);
    await until(session, ({ type }) => type === "task.spawned");
    session.tick(inAnHour);
    await play(session, "still there?");
    expect(test.starts).toBe(1);
    say({ do: "task.end", key: "k", status: "exited", exit_code: 0 });
    await until(session, last);
    session.tick(inAnHour);
    await play(session, "and now?");
    expect(test.starts).toBe(2);
  });

  it("nothing is made of output and ends that belong to no command", async () => {
    const session = await begin();
    say({ do: "task.output", key: "x", text: "lost" }, { do: "task.end", key: "x", status: "exited" });
    say(start, start);
    await until(session, ({ type }) => type === "task.spawned");
    expect((await core.tasks.list({ session_id: session.session_id })).tasks).toHaveLength(1);
  });
});
