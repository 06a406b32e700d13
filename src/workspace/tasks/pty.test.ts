import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAlive } from "../../transports/test-processes.ts";
import { ptyModule } from "./pty-module.ts";
import { screenModule } from "./screen-module.ts";
import { openTasks, type TestTasks } from "./test-tasks.ts";

let world: TestTasks;
beforeEach(() => {
  world = openTasks();
});
afterEach(() => world.close());

/** Few unless asked for. The whole proof: DRAGOMAN_PTY_ROUNDS=200 on a machine with more busy processes than cores. */
const ROUNDS = Number(process.env.DRAGOMAN_PTY_ROUNDS ?? 12);

const openDescriptors = (): number => readdirSync("/proc/self/fd").length;

describe("a task in a terminal", () => {
  it("tells its story in order", async () => {
    const { task_id, rows, cols } = await world.run({
      command: "tty; stty size; echo err >&2",
      execution_mode: "pty",
      rows: 30,
      cols: 100,
    });
    expect(world.story(task_id)).toEqual(["spawned", "resized", "status running", "output", "status exited"]);
    expect(world.sink.text(task_id, "pty")).toMatch(/^\/dev\/pts\/\d+\r\n30 100\r\nerr\r\n$/);
    expect([rows, cols]).toEqual([30, 100]);
  });

  it("has a controlling terminal, its own session, and none of the daemon's descriptors", async () => {
    const list =
      "readlink /proc/self/fd/* | sort | uniq -c; ps -o pid=,sid=,tpgid= -p $$; echo pid=$$; : </dev/tty && echo has tty";
    const other = await world.start({ command: "sleep 600", execution_mode: "pty" });
    const { task_id } = await world.run({ command: list, execution_mode: "pty" });
    const text = world.sink.text(task_id, "pty");
    const pid = /pid=(\d+)/.exec(text)?.[1];
    expect(text).toMatch(new RegExp(`^ *${pid} +${pid} +${pid}\\r$`, "m"));
    expect(text).toMatch(/has tty/);
    expect(text).not.toMatch(/ptmx/);
    await world.tasks.cancel(other.task_id, "done");
  });

  it("echoes what is typed, and ends at Ctrl-D", async () => {
    const { task_id } = await world.start({ argv: ["cat"], execution_mode: "pty" });
    world.tasks.write(task_id, Buffer.from("hé\n"));
    await world.wrote(task_id, /hé\r\nhé\r\n/);
    world.tasks.endInput(task_id);
    expect(await world.tasks.ended(task_id)).toMatchObject({ status: "exited", exit_code: 0 });
    const typed = world.sink.of(task_id).flatMap((event) => (event.type === "task.stdin" ? [event.data.chunk_b64] : []));
    expect(typed).toEqual([Buffer.from("hé\n").toString("base64")]);
  });

  it("a secret is typed and not written down", async () => {
    const { task_id } = await world.start({
      command: 'stty -echo; echo ready; read x; printf %s "$x" | wc -c',
      execution_mode: "pty",
    });
    await world.wrote(task_id, /ready/);
    world.tasks.write(task_id, Buffer.from("hunter2\n"), { secret: true });
    await world.tasks.ended(task_id);
    expect(world.sink.text(task_id, "pty")).toBe("ready\r\n7\r\n");
    expect(world.sink.of(task_id)).toContainEqual({ type: "task.stdin", data: { task_id, chunk_b64: "" } });
    expect(JSON.stringify(world.sink.events)).not.toContain(Buffer.from("hunter2").toString("base64").slice(0, 8));
  });

  it("is resized, and the program is told", async () => {
    const { task_id } = await world.start({
      command: 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done',
      execution_mode: "pty",
    });
    await world.wrote(task_id, /ready/);
    await world.tasks.resize(task_id, { rows: 50, cols: 132 });
    await world.wrote(task_id, /50 132/);
    expect(world.tasks.get(task_id)).toMatchObject({ rows: 50, cols: 132 });
    await expect(world.tasks.resize(task_id, { rows: 0, cols: 10 })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(world.tasks.resize(task_id, { rows: 1.5, cols: 10 })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("SIGINT reaches the foreground job through the line, and the shell lives on", async () => {
    const { task_id } = await world.start({ argv: ["bash", "--norc", "-i"], execution_mode: "pty", env: { PS1: "$ " } });
    // Only a job that says that it runs is in front: between fork and exec Ctrl-C goes to the shell, in every terminal.
    world.tasks.write(task_id, Buffer.from("sh -c 'echo up=$$=; sleep 600'; echo code=$?\n"));
    await world.wrote(task_id, /up=\d+=/);
    const shell = world.tasks.get(task_id).pid ?? 0;
    // While dash begins its next command it takes no notice of Ctrl-C, in every terminal: people press it again.
    const pressed = (): string => {
      world.tasks.signal(task_id, "INT");
      return world.sink.text(task_id, "pty");
    };
    await expect.poll(pressed).toMatch(/\^C[\s\S]*\$ /);
    // A line that comes before the shell has dealt with the last Ctrl-C goes with it: people type it again.
    const typed = (): string => {
      world.tasks.write(task_id, Buffer.from("echo still $((40+2))\n"));
      return world.sink.text(task_id, "pty");
    };
    await expect.poll(typed, { interval: 200 }).toMatch(/still 42/);
    expect(isAlive(shell)).toBe(true);
  });

  it("cancel ends an interactive shell, its jobs, and those in a session of their own", async () => {
    const { task_id, pid } = await world.start({ argv: ["bash", "--norc", "-i"], execution_mode: "pty" });
    world.tasks.write(task_id, Buffer.from("sleep 600 & echo a=$!= ; setsid sleep 600 & echo b=$!=\n"));
    await world.wrote(task_id, /a=\d+=[\s\S]*b=\d+=/);
    const pids = [...world.sink.text(task_id, "pty").matchAll(/[ab]=(\d+)=/g)].map((match) => Number(match[1]));
    await world.tasks.cancel(task_id, "closed");
    expect([pid ?? 0, ...pids].map(isAlive)).toEqual([false, false, false]);
    expect(world.story(task_id).slice(-2)).toEqual(["cancelled", "status cancelled"]);
  });

  it("a program that does not read its input does not stop the daemon", async () => {
    const { task_id } = await world.start({ command: "stty raw -echo; echo ready; sleep 600", execution_mode: "pty" });
    await world.wrote(task_id, /ready/);
    for (let i = 0; i < 10; i++) world.tasks.write(task_id, Buffer.alloc(64 * 1024, "x"));
    expect(() => {
      for (let i = 0; i < 100; i++) world.tasks.write(task_id, Buffer.alloc(64 * 1024, "x"));
    }).toThrow(expect.objectContaining({ code: "stdin_full" }));
    await world.tasks.cancel(task_id, "done");
  });

  it("much input arrives whole and in order at a program that reads slowly", async () => {
    const reader = "stty raw -echo; echo ready; head -c 500000 | md5sum";
    const { task_id } = await world.start({ command: reader, execution_mode: "pty" });
    await world.wrote(task_id, /ready/);
    const input = Buffer.from(Array.from({ length: 500_000 }, (_, i) => 97 + ((i * 7 + (i >> 9)) % 26)));
    for (let at = 0; at < input.length; at += 50_000) world.tasks.write(task_id, input.subarray(at, at + 50_000));
    await world.tasks.ended(task_id);
    const { createHash } = await import("node:crypto");
    expect(world.sink.text(task_id, "pty")).toContain(createHash("md5").update(input).digest("hex"));
  });

  it("ends although its output is stopped with Ctrl-S", async () => {
    const { task_id } = await world.start({ command: "echo ready; read x; exit 5", execution_mode: "pty" });
    await world.wrote(task_id, /ready/);
    world.tasks.write(task_id, Buffer.from("\u0013"));
    world.tasks.signal(task_id, "TERM");
    expect(await world.tasks.ended(task_id)).toMatchObject({ status: "exited", signal: "SIGTERM" });
  });

  it("a program that hangs its terminal up still ends", async () => {
    const { task_id } = await world.start({ command: "echo ready; exec sleep 600", execution_mode: "pty" });
    await world.wrote(task_id, /ready/);
    world.tasks.signal(task_id, "HUP");
    expect(await world.tasks.ended(task_id)).toMatchObject({ status: "exited", signal: "SIGHUP" });
  });
});

describe("nothing of a terminal's output is lost", () => {
  it(`200,000 bytes and exit, ${ROUNDS} times`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { task_id, exit_code, output } = await world.run({
        command: "head -c 200000 /dev/zero | tr '\\0' x",
        execution_mode: "pty",
      });
      expect([round, exit_code, output[0]?.total]).toEqual([round, 0, 200_000]);
      expect(world.sink.text(task_id, "pty")).toBe("x".repeat(200_000));
      await world.tasks.remove(task_id);
      world.sink.events.length = 0;
    }
  });

  it("100 terminals at once: each has its own, whole output, and no descriptor is left open", async () => {
    const before = openDescriptors();
    const started = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        world.start({ command: `read go; head -c 20000 /dev/zero | tr '\\0' x; echo "end ${i}"`, execution_mode: "pty" }),
      ),
    );
    expect(new Set(started.map(({ pid }) => pid)).size).toBe(100);
    expect(world.tasks.list().every(({ status }) => status === "running")).toBe(true);
    for (const { task_id } of started) world.tasks.write(task_id, Buffer.from("go\n"));
    const ended = await Promise.all(started.map(({ task_id }) => world.tasks.ended(task_id)));
    for (const [i, { task_id, exit_code }] of ended.entries()) {
      expect(exit_code).toBe(0);
      expect(world.sink.text(task_id, "pty")).toBe(`go\r\n${"x".repeat(20_000)}end ${i}\r\n`);
    }
    await Promise.all(ended.map(({ task_id }) => world.tasks.remove(task_id)));
    expect(openDescriptors()).toBeLessThanOrEqual(before + 2);
  });
});

describe("without the optional packages", () => {
  const missing = (): never => {
    throw Object.assign(new Error("Cannot find module 'x'\nRequire stack: …"), { code: "MODULE_NOT_FOUND" });
  };
  it("the error says what is missing and what to do", () => {
    expect(() => ptyModule(missing)).toThrow(
      expect.objectContaining({
        code: "pty_unavailable",
        message: expect.stringMatching(/npm install @lydell\/node-pty.*pipes/),
      }),
    );
    expect(() => screenModule(missing)).toThrow(
      expect.objectContaining({ code: "screen_unavailable", message: expect.stringMatching(/npm install @xterm\/headless/) }),
    );
  });
  it("a package of another shape is not used", () => {
    for (const shape of [{}, { requireBinary: 1 }, { requireBinary: () => ({ open: () => {} }) }])
      expect(() => ptyModule(() => shape)).toThrow(expect.objectContaining({ code: "pty_unavailable" }));
    expect(() => screenModule(() => ({ Terminal: 1 }))).toThrow(expect.objectContaining({ code: "screen_unavailable" }));
  });
});
