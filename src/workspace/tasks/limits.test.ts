import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskEvent } from "../../schema/task.ts";
import { isAlive, until } from "../../transports/test-processes.ts";
import type { TaskErrorCode } from "./task-error.ts";
import type { TaskSink } from "./task-events.ts";
import { openTasks, type TestTasks } from "./test-tasks.ts";
import { CHUNK_BYTES } from "./utf8-chunks.ts";

let world: TestTasks;
const worlds: TestTasks[] = [];
const use = (options: Parameters<typeof openTasks>[0]): void => {
  world = openTasks(options);
  worlds.push(world);
};
beforeEach(() => use({}));
afterEach(() => Promise.all(worlds.splice(0).map((one) => one.close())));

const refused = (code: TaskErrorCode) => expect.objectContaining({ name: "TaskError", code });

describe("quotas", () => {
  it("more tasks wait, are told as queued, and run in turn", async () => {
    use({ limits: { running: 1 } });
    const first = await world.start({ argv: ["cat"], stdin: true });
    const [second, third] = await Promise.all([world.start({ command: "echo 2" }), world.start({ command: "echo 3" })]);
    expect([second.status, third.status]).toEqual(["queued", "queued"]);
    expect(() => world.tasks.signal(second.task_id, "INT")).toThrow(refused("task_queued"));
    world.tasks.endInput(first.task_id);
    await world.tasks.ended(third.task_id);
    expect(world.story(second.task_id)).toEqual(["spawned", "status queued", "status running", "output", "status exited"]);
    const order = world.sink.events.flatMap((event) =>
      event.type === "task.status" && event.data.status === "running" ? [event.data.task_id] : [],
    );
    expect(order).toEqual([first.task_id, second.task_id, third.task_id]);
  });

  it("a waiting task can be cancelled, and never runs", async () => {
    use({ limits: { running: 1 } });
    const first = await world.start({ argv: ["cat"], stdin: true });
    const second = await world.start({ command: "touch ran" });
    expect(await world.tasks.cancel(second.task_id, "never mind")).toMatchObject({
      status: "cancelled",
      pid: null,
      started_at: null,
    });
    world.tasks.endInput(first.task_id);
    await world.tasks.ended(first.task_id);
    expect(world.story(second.task_id)).toEqual([
      "spawned",
      "status queued",
      "cancel_requested",
      "cancelled",
      "status cancelled",
    ]);
    expect(existsSync(join(world.place.root ?? "", "ran"))).toBe(false);
  });

  it("too many are refused, for all and for one session", async () => {
    use({ limits: { running: 2, queued: 1, per_session: 2 } });
    await world.start({ command: "sleep 600", origin_session_id: "s" });
    await world.start({ command: "sleep 600", origin_session_id: "s" });
    await expect(world.start({ command: "true", origin_session_id: "s" })).rejects.toEqual(refused("quota_reached"));
    await world.start({ command: "true" });
    await expect(world.start({ command: "true" })).rejects.toEqual(refused("quota_reached"));
    expect(world.tasks.list({ origin_session_id: "s" })).toHaveLength(2);
    expect(world.tasks.list()).toHaveLength(3);
  });

  it("the oldest ended tasks are forgotten, with their files", async () => {
    use({ limits: { ended: 2 } });
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push((await world.run({ command: "head -c 20000 /dev/zero" })).task_id);
    await until(() => readdirSync(join(world.base, "output")).length === 2);
    expect(world.tasks.list().map(({ task_id }) => task_id)).toEqual(ids.slice(2));
    await world.tasks.remove(ids[2] ?? "");
    expect(readdirSync(join(world.base, "output"))).toHaveLength(1);
  });
});

describe("a flood", () => {
  it("is held back while the sink is slow, and nothing of it is lost", async () => {
    const waiting: (() => void)[] = [];
    let open = false;
    const told: TaskEvent[] = [];
    const sink: TaskSink = {
      append: (event) => {
        told.push(event);
        return open || event.type !== "task.output" ? undefined : new Promise((resolve) => waiting.push(resolve));
      },
    };
    use({ sink });
    const { task_id } = await world.start({ command: "head -c 20000000 /dev/zero | tr '\\0' x" });
    const bytes = (): number =>
      told.reduce((sum, event) => sum + (event.type === "task.output" ? (event.data.bytes ?? 0) : 0), 0);
    await until(() => bytes() >= 256 * 1024);
    // Whatever can still come has come when it no longer grows.
    let before = -1;
    await until(() => {
      const same = before === bytes();
      before = bytes();
      return same;
    });
    expect(bytes()).toBeLessThan(1024 * 1024);
    open = true;
    for (const resolve of waiting.splice(0)) resolve();
    await world.tasks.ended(task_id);
    expect((await world.tasks.read(task_id, { stream: "stdout", offset: 20_000_000 })).total).toBe(20_000_000);
    // The chunk that passes the limit is the last one reported.
    expect(bytes()).toBeGreaterThanOrEqual(16 * 1024 * 1024);
    expect(bytes()).toBeLessThan(16 * 1024 * 1024 + CHUNK_BYTES);
  });

  it("beyond its limit is no longer told in events, but kept, counted, and handed over as a whole", async () => {
    const stored: { stream: string; path: string; bytes: number }[] = [];
    use({
      limits: { event_bytes: 100_000, file_bytes: 1_000_000, memory_bytes: 10_000 },
      storeOutput: async (output) => {
        stored.push(output);
        return { artifact_id: "art_1", path: "/v1/artifacts/art_1", bytes: output.bytes };
      },
    });
    const { task_id, artifacts, output } = await world.run({ command: "head -c 3000000 /dev/zero | tr '\\0' x; echo end" });
    expect(world.sink.text(task_id, "stdout").length).toBeLessThan(110_000);
    expect(artifacts).toEqual([{ artifact_id: "art_1", path: "/v1/artifacts/art_1", bytes: 1_000_000 }]);
    expect(stored).toMatchObject([{ stream: "stdout", bytes: 1_000_000 }]);
    expect(output[0]).toEqual({
      stream: "stdout",
      total: 3_000_004,
      kept: [
        { from: 0, to: 1_000_000 },
        { from: 2_990_004, to: 3_000_004 },
      ],
    });
    expect((await world.tasks.read(task_id, { stream: "stdout", offset: 3_000_000 })).bytes.toString()).toBe("end\n");
  });
});

describe("a sink that fails", () => {
  it.each([
    ["at the first event", "task.spawned"],
    ["at some output", "task.output"],
  ])("ends the task: %s", async (_, type) => {
    const told: TaskEvent[] = [];
    use({
      sink: {
        append: async (event) => {
          if (event.type === type) throw new Error("disk full");
          told.push(event);
        },
      },
    });
    const { task_id, pid } = await world.start({ command: "echo ready; exec sleep 600" });
    expect(await world.tasks.ended(task_id)).toMatchObject({ status: "failed", error: expect.stringContaining("disk full") });
    expect(pid === null || !isAlive(pid)).toBe(true);
    expect(told.at(-1)).toMatchObject({ type: "task.status", data: { status: "failed" } });
  });
});
