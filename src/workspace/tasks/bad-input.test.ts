import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskRequest } from "../../schema/task.ts";
import type { TaskErrorCode } from "./task-error.ts";
import { openTasks, type TestTasks } from "./test-tasks.ts";

let world: TestTasks;
const worlds: TestTasks[] = [];
const use = (options: Parameters<typeof openTasks>[0]): void => {
  world = openTasks(options);
  worlds.push(world);
};
beforeEach(() => use({}));
afterEach(() => Promise.all(worlds.splice(0).map((one) => one.close())));

const refused = (code: TaskErrorCode) => expect.objectContaining({ name: "TaskError", code });

describe("bad input", () => {
  const bad: [string, TaskRequest, TaskErrorCode][] = [
    ["neither command nor argv", {}, "invalid_request"],
    ["both", { command: "true", argv: ["true"] }, "invalid_request"],
    ["an empty argv", { argv: [] }, "invalid_request"],
    ["an empty program", { argv: [""] }, "invalid_request"],
    ["a NUL byte", { argv: ["echo", "a\0b"] }, "invalid_request"],
    ["a variable with =", { command: "true", env: { "A=B": "c" } }, "invalid_request"],
    ["rows for pipes", { command: "true", rows: 10 }, "invalid_request"],
    ["no rows at all", { command: "true", execution_mode: "pty", rows: 0 }, "invalid_request"],
    ["a thousand rows", { command: "true", execution_mode: "pty", rows: 1_000 }, "invalid_request"],
    ["a directory that does not exist", { command: "true", cwd: "none" }, "cwd_not_found"],
    ["a directory outside", { command: "true", cwd: ".." }, "cwd_outside"],
    ["a directory outside, absolute", { command: "true", cwd: "/" }, "cwd_outside"],
    ["a program that does not exist", { argv: ["no-such-program"] }, "program_not_found"],
    ["a program that does not exist, for a terminal", { argv: ["./none"], execution_mode: "pty" }, "program_not_found"],
  ];
  it.each(bad)("is refused and leaves no trace: %s", async (_, request, code) => {
    await expect(world.start(request)).rejects.toEqual(refused(code));
    expect(world.sink.events).toEqual([]);
    expect(world.tasks.list()).toEqual([]);
  });

  it("is refused: a link that leads outside, a file as directory, a file that cannot be run", async () => {
    const root = world.place.root ?? "";
    symlinkSync("/", join(root, "out"));
    writeFileSync(join(root, "file"), "text");
    await expect(world.start({ command: "true", cwd: "out" })).rejects.toEqual(refused("cwd_outside"));
    await expect(world.start({ command: "true", cwd: "file" })).rejects.toEqual(refused("cwd_not_found"));
    await expect(world.start({ argv: ["./file"] })).rejects.toEqual(refused("program_not_found"));
  });

  it("a name does not start what lies in the working directory", async () => {
    writeFileSync(join(world.place.root ?? "", "tool"), "#!/bin/sh\n", { mode: 0o755 });
    for (const PATH of ["", ":/usr/bin", undefined]) {
      const start = world.tasks.start({ argv: ["tool"] }, { ...world.place, environment: { PATH } });
      await expect(start).rejects.toEqual(refused("program_not_found"));
    }
    expect((await world.tasks.start({ argv: ["true"] }, { ...world.place, environment: {} })).pid).not.toBeNull();
  });

  it("a directory below is fine, and programs are found from there", async () => {
    mkdirSync(join(world.place.root ?? "", "below"));
    writeFileSync(join(world.place.root ?? "", "below", "tool"), "#!/bin/sh\npwd\n", { mode: 0o755 });
    const { task_id, cwd } = await world.run({ argv: ["./tool"], cwd: "below" });
    expect(world.sink.text(task_id, "stdout")).toBe(`${cwd}\n`);
  });

  it("a file that is no program fails as a task, not as an exception", async () => {
    writeFileSync(join(world.place.root ?? "", "odd"), "#!/no/such/interpreter\n", { mode: 0o755 });
    const { task_id } = await world.run({ argv: ["./odd"] });
    expect(world.tasks.get(task_id)).toMatchObject({ status: "failed", error: expect.stringMatching(/interpreter/), pid: null });
    expect(world.story(task_id)).toEqual(["spawned", "status failed"]);
  });

  it("an unknown task is told as such, whatever is asked", async () => {
    const { tasks } = world;
    expect(() => tasks.get("task_x")).toThrow(refused("task_not_found"));
    expect(() => tasks.write("task_x", Buffer.from("a"))).toThrow(refused("task_not_found"));
    expect(() => tasks.signal("task_x", "INT")).toThrow(refused("task_not_found"));
    await expect(tasks.resize("task_x", { rows: 1, cols: 1 })).rejects.toEqual(refused("task_not_found"));
    await expect(tasks.cancel("task_x", "")).rejects.toEqual(refused("task_not_found"));
    await expect(tasks.read("task_x", { stream: "pty", offset: 0 })).rejects.toEqual(refused("task_not_found"));
    await expect(tasks.screen("task_x")).rejects.toEqual(refused("task_not_found"));
    await expect(tasks.ended("constructor")).rejects.toEqual(refused("task_not_found"));
  });

  it("a task on pipes has no size, no screen, no pty stream, and no input unless asked for", async () => {
    const { task_id } = await world.start({ command: "sleep 600" });
    await expect(world.tasks.resize(task_id, { rows: 10, cols: 10 })).rejects.toEqual(refused("not_a_terminal"));
    await expect(world.tasks.screen(task_id)).rejects.toEqual(refused("not_a_terminal"));
    await expect(world.tasks.read(task_id, { stream: "pty", offset: 0 })).rejects.toEqual(refused("invalid_request"));
    expect(() => world.tasks.write(task_id, Buffer.from("a"))).toThrow(refused("no_stdin"));
    expect(() => world.tasks.endInput(task_id)).toThrow(refused("no_stdin"));
  });

  it.each(["", "SIG", "SIGFOO", "9", "SIGINT ", "__proto__", "toString"])("an unknown signal: %j", async (name) => {
    const { task_id } = await world.start({ command: "sleep 600" });
    expect(() => world.tasks.signal(task_id, name)).toThrow(refused("unknown_signal"));
    expect(world.story(task_id)).not.toContain("signalled");
  });

  it("nothing can be sent to an ended task", async () => {
    const { task_id } = await world.run({ argv: ["true"], stdin: true });
    expect(() => world.tasks.write(task_id, Buffer.from("a"))).toThrow(refused("task_ended"));
    expect(() => world.tasks.signal(task_id, "INT")).toThrow(refused("task_ended"));
    await expect(world.tasks.read(task_id, { stream: "stdout", offset: 0 })).resolves.toMatchObject({ total: 0 });
  });

  it("input that nobody reads is refused before it fills the memory", async () => {
    use({ limits: { input_bytes: 300_000 } });
    const { task_id } = await world.start({ command: "sleep 600", stdin: true });
    const fill = (): void => {
      for (let i = 0; i < 100; i++) world.tasks.write(task_id, Buffer.alloc(64 * 1024));
    };
    expect(fill).toThrow(refused("stdin_full"));
  });
});
