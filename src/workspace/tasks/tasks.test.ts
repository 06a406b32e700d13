import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskEvent } from "../../schema/task.ts";
import { eventFault } from "../../schema/validate.ts";
import { isAlive } from "../../transports/test-processes.ts";
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
