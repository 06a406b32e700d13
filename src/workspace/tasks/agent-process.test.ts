import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskEvent } from "../../schema/task.ts";
import { eventFault } from "../../schema/validate.ts";
import type { AgentCommand } from "./agent-process.ts";
import { openTasks, type TestTasks } from "./test-tasks.ts";

let world: TestTasks;
beforeEach(() => {
  world = openTasks();
});
afterEach(() => world.close());

const command = (more: Partial<AgentCommand> = {}): AgentCommand => ({
  session_id: "ses_1",
  tool_name: "Bash",
  command: "npm run dev",
  cwd: world.base,
  title: null,
  stop: null,
  ...more,
});

const only = (): string => {
  const [view] = world.tasks.list();
  if (!view) throw new Error("no task");
  return view.task_id;
};

const ended = (event: TaskEvent): boolean =>
  event.type === "task.status" && event.data.status !== "running" && event.data.status !== "queued";

describe("a command of the agent", () => {
  it("is a task: marked, its output in order, also what came before it was stored, and its end last", async () => {
    const running = world.tasks.adopt(command());
    running.output("stdout", "early ");
    running.output("stdout", "and ");
    const id = only();
    await world.wrote(id, /and $/);
    running.output("stdout", "late\n");
    running.exited({ code: 3, signal: null });
    await world.tasks.ended(id);
    expect(world.story(id)).toEqual(["spawned", "status running", "output", "status exited"]);
    expect(world.sink.text(id, "stdout")).toBe("early and late\n");
    expect(world.tasks.get(id)).toMatchObject({
      owner: "agent",
      controls: [],
      status: "exited",
      exit_code: 3,
      origin_session_id: "ses_1",
      args: { command: "npm run dev" },
    });
    for (const [i, event] of world.sink.of(id).entries()) expect(eventFault(envelope(event, i + 1))).toBeNull();
  });

  it("takes no input, no signal and no size, and is not cancelled where the agent cannot stop it", async () => {
    world.tasks.adopt(command());
    const id = only();
    await world.sink.next((event) => event.type === "task.status");
    expect(() => world.tasks.write(id, Buffer.from("x"))).toThrow(expect.objectContaining({ code: "no_stdin" }));
    expect(() => world.tasks.endInput(id)).toThrow(expect.objectContaining({ code: "no_stdin" }));
    expect(() => world.tasks.signal(id, "INT")).toThrow(expect.objectContaining({ code: "task_of_agent" }));
    await expect(world.tasks.resize(id, { rows: 2, cols: 2 })).rejects.toMatchObject({ code: "not_a_terminal" });
    await expect(world.tasks.cancel(id, "enough")).rejects.toMatchObject({ code: "task_of_agent" });
    expect(world.tasks.get(id).status).toBe("running");
  });

  it("is stopped by its agent; one that refuses leaves it running, and can be asked again", async () => {
    let willing = false;
    const running = world.tasks.adopt(
      command({
        stop: async () => {
          if (!willing) throw new Error("not now");
          running.exited({ code: null, signal: null });
        },
      }),
    );
    const id = only();
    await world.sink.next((event) => event.type === "task.status");
    expect(world.tasks.get(id).controls).toEqual(["cancel"]);
    await expect(world.tasks.cancel(id, "enough")).rejects.toThrow("not now");
    expect(world.tasks.get(id).status).toBe("running");
    willing = true;
    expect(await world.tasks.cancel(id, "enough")).toMatchObject({ status: "cancelled", cancel_reason: "enough" });
    expect(world.story(id)).toEqual(["spawned", "status running", "cancel_requested", "cancelled", "status cancelled"]);
  });

  it("that was stopped in the agent is cancelled, and says so", async () => {
    const running = world.tasks.adopt(command());
    running.exited({ code: null, signal: null, stopped: "stopped in the agent" });
    expect(await world.tasks.ended(only())).toMatchObject({ status: "cancelled", cancel_reason: "stopped in the agent" });
  });

  it("that is lost with its agent has failed, once", async () => {
    const running = world.tasks.adopt(command());
    running.lost("its agent has ended");
    running.exited({ code: 0, signal: null });
    expect(await world.tasks.ended(only())).toMatchObject({ status: "failed", error: "its agent has ended" });
    expect(world.sink.of(only()).filter(ended)).toHaveLength(1);
  });

  it("needs no place among the tasks that run, and is over when the daemon stops", async () => {
    await world.close();
    world = openTasks({ limits: { running: 1, per_session: 1 } });
    world.tasks.adopt(command());
    world.tasks.adopt(command());
    expect(await world.run({ command: "echo free", origin_session_id: "ses_2" })).toMatchObject({ status: "exited" });
    await world.tasks.close();
    expect(world.tasks.list({ origin_session_id: "ses_1" }).map(({ status, error }) => [status, error])).toEqual([
      ["failed", "the daemon is stopping"],
      ["failed", "the daemon is stopping"],
    ]);
  });
});

const envelope = (event: TaskEvent, sequence: number): Record<string, unknown> => ({
  event_id: `evt_${sequence}`,
  sequence,
  time: new Date().toISOString(),
  session_id: event.data.task_id,
  native_session_id: null,
  synthetic: true,
  source: "daemon",
  ...event,
  raw: null,
});
