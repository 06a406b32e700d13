// Tasks of a real daemon, through its end: by SIGTERM, by kill -9, and what the next one finds.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskHandle } from "../src/client/task-handle.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkTaskGrammar } from "../src/schema/task-grammar.ts";
import { type DaemonProcess, linux, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeEach(async () => {
  dataDir = temporaryDir("tasks");
  daemon = await startDaemonProcess(dataDir);
});
afterEach(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const eventsOf = async (task: TaskHandle): Promise<UniversalEvent[]> => {
  const events: UniversalEvent[] = [];
  for await (const event of task.events()) events.push(event);
  return events;
};

async function started(request: { execution_mode: "pipes" | "pty" }): Promise<TaskHandle> {
  const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
  const task = await session.startTask({ command: `echo ready; sh -c 'sleep 4711' ${dataDir} & sleep 4711; true`, ...request });
  for await (const event of task.events()) if (event.type === "task.output" && event.data.chunk.includes("ready")) return task;
  throw new Error("it ended too early");
}

const left = (): number[] => processesRunning("4711", dataDir);

describe.skipIf(!linux)("tasks of a daemon", () => {
  it("[K4] that was killed with -9 are closed at the next start, and their processes gone", async () => {
    const tasks = [await started({ execution_mode: "pipes" }), await started({ execution_mode: "pty" })];
    await daemon.kill("SIGKILL");
    daemon = await startDaemonProcess(dataDir);
    expect(left()).toEqual([]);
    for (const { id } of tasks) {
      const task = daemon.client.task(id);
      const info = await task.get();
      expect(info).toMatchObject({ status: "failed", error: "the daemon was restarted" });
      const events = await eventsOf(task);
      expect(checkTaskGrammar(events)).toEqual([]);
      expect(await task.output()).toMatchObject({ offset: 0, text: expect.stringContaining("ready") });
      await expect(task.write("x")).rejects.toMatchObject({ code: "task_ended" });
      const told = await daemon.client.session(info.origin_session_id ?? "").page({ types: ["task.spawned", "task.status"] });
      expect(told.events.map(({ type }) => type)).toEqual(["task.spawned", "task.status"]);
    }
    // The last screen of a terminal can still be seen.
    expect((await daemon.client.task(tasks[1]?.id ?? "").screen()).serialized).toContain("ready");
    expect((await daemon.client.tasks({ status: "failed" })).tasks).toHaveLength(2);
    expect((await daemon.client.tasks({ status: "running" })).tasks).toEqual([]);
  });

  it("end with it", async () => {
    const task = await started({ execution_mode: "pty" });
    await daemon.kill("SIGTERM");
    expect(left()).toEqual([]);
    daemon = await startDaemonProcess(dataDir);
    expect(await daemon.client.task(task.id).get()).toMatchObject({
      status: "cancelled",
      cancel_reason: "the daemon is stopping",
    });
  });

  it("[K3] tell a flood without a gap, and the whole of it lies in an artifact", async () => {
    const bytes = 20_000_000;
    const task = await daemon.client.startTask({ command: `yes äöü | head -c ${bytes}` });
    const { status, artifacts } = await task.ended();
    expect(status).toBe("exited");
    let told = 0;
    const grammar: string[] = [];
    for (let after = 0; ; ) {
      const page = await task.page({ after, limit: 10_000 });
      for (const event of page.events)
        if (event.type === "task.output") {
          if (event.data.offset !== told) grammar.push(`${event.data.offset} follows ${told}`);
          told += event.data.bytes ?? 0;
        }
      if (!page.has_more) break;
      after = page.next;
    }
    expect(grammar).toEqual([]);
    expect(told).toBeGreaterThanOrEqual(16 * 1024 * 1024);
    expect(artifacts).toHaveLength(1);
    const all = Buffer.from(await (await daemon.client.artifact(artifacts[0]?.artifact_id ?? "")).arrayBuffer());
    expect(all.length).toBe(bytes);
  });
});
