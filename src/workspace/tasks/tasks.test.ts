import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventFault } from "../../schema/validate.ts";
import { isAlive, until } from "../../transports/test-processes.ts";
import type { StartTask } from "./start-request.ts";
import type { TaskErrorCode } from "./task-error.ts";
import type { TaskEvent, TaskSink } from "./task-events.ts";
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

describe("a task on pipes", () => {
  it("tells its story in order, and every event fits the schema", async () => {
    const { task_id } = await world.run({ command: "echo out; echo err >&2; exit 3", title: "both" });
    expect(world.story(task_id)).toEqual(["spawned", "status running", "output", "status exited"]);
    expect(world.sink.text(task_id, "stdout")).toBe("out\n");
    expect(world.sink.text(task_id, "stderr")).toBe("err\n");
    expect(world.tasks.get(task_id)).toMatchObject({
      status: "exited",
      exit_code: 3,
      signal: null,
      title: "both",
      cancel_reason: null,
    });
    for (const [i, event] of world.sink.of(task_id).entries()) expect(eventFault(envelope(event, i + 1))).toBeNull();
  });

  it("with argv nothing is read by a shell", async () => {
    const { task_id } = await world.run({ argv: ["printf", "%s|", "$HOME", "`id`", "a b"] });
    expect(world.sink.text(task_id, "stdout")).toBe("$HOME|`id`|a b|");
  });

  it("gets the environment it asks for, and never one of the daemon's own", async () => {
    const env = { A: "b", DRAGOMAN_SESSION_ID: "stolen" };
    const { task_id } = await world.run({ command: 'echo "$A [$DRAGOMAN_SESSION_ID]"', env });
    expect(world.sink.text(task_id, "stdout")).toBe("b []\n");
    expect(JSON.stringify(world.sink.events)).not.toContain("stolen");
  });

  it("reads what is written to it, to the end", async () => {
    const { task_id } = await world.start({ argv: ["cat"], stdin: true });
    world.tasks.write(task_id, Buffer.from("one\n"));
    await world.wrote(task_id, /one\n/);
    world.tasks.write(task_id, Buffer.from("two"));
    world.tasks.endInput(task_id);
    expect(await world.tasks.ended(task_id)).toMatchObject({ status: "exited", exit_code: 0 });
    expect(world.sink.text(task_id, "stdout")).toBe("one\ntwo");
    expect(world.story(task_id)).not.toContain("stdin");
  });

  it("has no input unless it asked for one", async () => {
    const { task_id } = await world.run({ argv: ["cat"] });
    expect(world.tasks.get(task_id)).toMatchObject({ status: "exited", exit_code: 0 });
  });

  it("says its exit after the last byte, also of a long output", async () => {
    const { task_id } = await world.run({
      command: "head -c 3000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero | tr '\\0' y >&2",
    });
    expect(world.sink.text(task_id, "stdout")).toBe("x".repeat(3_000_000));
    expect(world.sink.text(task_id, "stderr")).toBe("y".repeat(1_000_000));
    expect(world.sink.of(task_id).at(-1)).toMatchObject({ type: "task.status", data: { status: "exited" } });
  });

  it("chunks never split a character, and their places count every byte", async () => {
    const script = `const b = Buffer.concat([Buffer.from("é€😀".repeat(5000)), Buffer.from([0xff, 0xfe]), Buffer.from("end")]);
      let at = 0; (function next() { if (at < b.length) process.stdout.write(b.subarray(at, at += 1021), next) })()`;
    const { task_id } = await world.run({ argv: [process.execPath, "-e", script] });
    const chunks = world.sink.of(task_id).flatMap((event) => (event.type === "task.output" ? [event.data] : []));
    expect(chunks.map(({ chunk }) => chunk).join("")).toBe(`${"é€😀".repeat(5_000)}\ufffd\ufffdend`);
    let at = 0;
    for (const { chunk, offset, bytes } of chunks) {
      expect(offset).toBe(at);
      expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(8_192);
      at += bytes ?? 0;
    }
    expect(at).toBe(9 * 5_000 + 2 + 3);
    expect((await world.tasks.read(task_id, { stream: "stdout", offset: 45_000 })).bytes).toEqual(
      Buffer.from([0xff, 0xfe, 0x65, 0x6e, 0x64]),
    );
  });

  it("returns at once when it leaves a process behind that holds its output, which is ended", async () => {
    const { task_id } = await world.run({ command: "sleep 600 & echo pid=$!" });
    const pid = Number(/pid=(\d+)/.exec(world.sink.text(task_id, "stdout"))?.[1]);
    expect(isAlive(pid)).toBe(false);
  });

  it("gets signals by name, with or without SIG", async () => {
    const { task_id } = await world.start({
      command: 'trap "echo usr1" USR1; trap "exit 7" INT; echo ready; while :; do sleep 0.05; done',
    });
    await world.wrote(task_id, /ready/);
    world.tasks.signal(task_id, "usr1");
    await world.wrote(task_id, /usr1/);
    world.tasks.signal(task_id, "SIGINT");
    expect(await world.tasks.ended(task_id)).toMatchObject({ status: "exited", exit_code: 7 });
    expect(world.sink.of(task_id).flatMap((event) => (event.type === "task.signalled" ? [event.data.signal] : []))).toEqual([
      "SIGUSR1",
      "SIGINT",
    ]);
  });

  it("a signal that ends it is told", async () => {
    const { task_id } = await world.start({ command: "echo ready; exec sleep 600" });
    await world.wrote(task_id, /ready/);
    world.tasks.signal(task_id, "KILL");
    expect(await world.tasks.ended(task_id)).toMatchObject({ status: "exited", exit_code: null, signal: "SIGKILL" });
  });
});

describe("cancel", () => {
  it("ends the task and tells why", async () => {
    const { task_id, pid } = await world.start({ command: "echo ready; exec sleep 600" });
    await world.wrote(task_id, /ready/);
    expect(await world.tasks.cancel(task_id, "no longer needed")).toMatchObject({
      status: "cancelled",
      signal: "SIGTERM",
      cancel_reason: "no longer needed",
    });
    expect(world.story(task_id)).toEqual([
      "spawned",
      "status running",
      "output",
      "cancel_requested",
      "cancelled",
      "status cancelled",
    ]);
    expect(isAlive(pid ?? 0)).toBe(false);
  });

  it("leaves nothing behind: not a child that ignores SIGTERM, not one in a session of its own", async () => {
    use({ limits: { cancel_grace_ms: 100 } });
    const deaf = `trap "" TERM; sleep 600 & echo "pid=$! end"; setsid sh -c 'trap "" TERM; echo "pid=$$ end"; sleep 600' & wait; sleep 600`;
    const { task_id } = await world.start({ command: deaf });
    await world.wrote(task_id, /pid=\d+ end[\s\S]*pid=\d+ end/);
    const pids = [...world.sink.text(task_id, "stdout").matchAll(/pid=(\d+) end/g)].map((match) => Number(match[1]));
    expect(pids.map(isAlive)).toEqual([true, true]);
    expect(await world.tasks.cancel(task_id, "stop")).toMatchObject({ status: "cancelled", signal: "SIGKILL" });
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it("what it says while it ends is still told", async () => {
    const { task_id } = await world.start({ command: 'trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done' });
    await world.wrote(task_id, /ready/);
    expect(await world.tasks.cancel(task_id, "stop")).toMatchObject({ status: "cancelled", exit_code: 0 });
    expect(world.sink.text(task_id, "stdout")).toBe("ready\nbye\n");
  });

  it("asked twice, or after the end, changes nothing", async () => {
    const { task_id } = await world.start({ command: "echo ready; exec sleep 600" });
    const both = await Promise.all([world.tasks.cancel(task_id, "first"), world.tasks.cancel(task_id, "second")]);
    expect(both.map(({ cancel_reason }) => cancel_reason)).toEqual(["first", "first"]);
    const before = world.sink.events.length;
    await world.tasks.cancel(task_id, "third");
    expect(world.sink.events.length).toBe(before);
  });

  it("happens by itself when the time is over", async () => {
    const { task_id } = await world.run({ command: "sleep 600", timeout_ms: 50 });
    expect(world.tasks.get(task_id)).toMatchObject({ status: "cancelled", cancel_reason: "timeout" });
  });

  it("close cancels all of them, and nothing starts after it", async () => {
    const started = await Promise.all([1, 2, 3].map(() => world.start({ command: "sleep 600" })));
    await world.tasks.close();
    for (const { task_id, pid } of started) {
      expect(world.tasks.get(task_id).status).toBe("cancelled");
      expect(isAlive(pid ?? 0)).toBe(false);
    }
    await expect(world.start({ command: "true" })).rejects.toEqual(refused("closing"));
  });
});

describe("bad input", () => {
  const bad: [string, StartTask, TaskErrorCode][] = [
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
    expect(bytes()).toBe(16 * 1024 * 1024);
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

const envelope = (event: TaskEvent, sequence: number): object => ({
  event_id: `evt_${sequence}`,
  sequence,
  time: "2030-01-01T00:00:00.000Z",
  session_id: event.data.task_id,
  native_session_id: null,
  synthetic: true,
  source: "daemon",
  ...event,
  raw: null,
});
