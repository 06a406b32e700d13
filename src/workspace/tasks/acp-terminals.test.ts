/** `terminal/*` of the Agent Client Protocol on tasks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CommandExit } from "../../agents/contract.ts";
import { ProcessRegistry } from "../../transports/index.ts";
import { isAlive } from "../../transports/test-processes.ts";
import { AcpTerminals } from "./acp-terminals.ts";
import { MemoryTaskSink } from "./task-events.ts";
import { Tasks } from "./tasks.ts";

let base: string;
let told: Map<string, string>;
let exits: Map<string, CommandExit>;
let waits: { id: string; text: string; resolve(): void }[];
let sink: MemoryTaskSink;
let tasks: Tasks;

const written = (id: string, text: string): Promise<void> =>
  new Promise((resolve) => {
    if (told.get(id)?.includes(text)) resolve();
    else waits.push({ id, text, resolve });
  });

const host = () => ({
  directory: async (asked: string | undefined) => {
    if (asked !== undefined) throw new Error(`${asked} is outside`);
    return base;
  },
  environment: { PATH: process.env.PATH ?? "" },
  recorder: new ProcessRegistry(join(base, "processes")),
  onOutput: (id: string, data: string) => {
    told.set(id, (told.get(id) ?? "") + data);
    for (const wait of waits) if (wait.id === id && told.get(id)?.includes(wait.text)) wait.resolve();
  },
  onExit: (id: string, exit: CommandExit) => void exits.set(id, exit),
});

const onTasks = (limits = {}): AcpTerminals => {
  const { recorder, ...rest } = host();
  tasks = new Tasks({ sink, recorder, limits });
  return new AcpTerminals({ ...rest, tasks, session_id: "s1" });
};

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "acp-tasks-"));
  told = new Map();
  exits = new Map();
  waits = [];
  sink = new MemoryTaskSink();
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("terminals", () => {
  let terminals: AcpTerminals;
  beforeEach(() => {
    terminals = onTasks();
  });
  afterEach(() => terminals.closeAll());

  it("run a whole shell command when there are no arguments, both streams in order", async () => {
    const { terminalId } = await terminals.create({ command: "echo out && echo err 1>&2; exit 3" });
    expect(terminalId).toBe("term_1");
    expect(await terminals.waitForExit({ terminalId })).toEqual({ exitCode: 3, signal: null });
    const exitStatus = { exitCode: 3, signal: null };
    expect(terminals.output({ terminalId })).toEqual({ output: "out\nerr\n", truncated: false, exitStatus });
    expect([told.get(terminalId), exits.get(terminalId)]).toEqual(["out\nerr\n", exitStatus]);
  });

  it("with arguments nothing is read by a shell", async () => {
    const { terminalId } = await terminals.create({ command: "printf", args: ["%s", "$HOME; `id`"] });
    await terminals.waitForExit({ terminalId });
    expect(terminals.output({ terminalId })).toMatchObject({ output: "$HOME; `id`" });
  });

  it("a program that does not exist is told by the shell", async () => {
    const { terminalId } = await terminals.create({ command: "no-such-program", args: ["x"] });
    expect(await terminals.waitForExit({ terminalId })).toEqual({ exitCode: 127, signal: null });
    expect(terminals.output({ terminalId }).output).toMatch(/no-such-program/);
  });

  it("keep the end of the output, and never more than they can afford", async () => {
    const command = "head -c 20000000 /dev/zero | tr '\\0' x; printf end";
    const { terminalId } = await terminals.create({ command, outputByteLimit: 1e15 });
    await terminals.waitForExit({ terminalId });
    const { output, truncated } = terminals.output({ terminalId });
    expect(truncated).toBe(true);
    expect(String(output).length).toBe(4 * 1024 * 1024);
    expect(String(output).endsWith("xend")).toBe(true);
    expect(told.get(terminalId)?.length).toBe(20_000_003);
  });

  it("cut a long output at a character", async () => {
    const { terminalId } = await terminals.create({ command: "printf 'aaaaéé'", outputByteLimit: 3 });
    await terminals.waitForExit({ terminalId });
    expect(terminals.output({ terminalId })).toMatchObject({ output: "é", truncated: true });
  });

  it("a limit of nothing keeps nothing", async () => {
    const { terminalId } = await terminals.create({ command: "echo x", outputByteLimit: 0 });
    await terminals.waitForExit({ terminalId });
    expect(terminals.output({ terminalId })).toMatchObject({ output: "", truncated: true });
  });

  it("pass the environment they are given, and none of the daemon's own", async () => {
    const env = [
      { name: "A", value: "b" },
      { name: "DRAGOMAN_SESSION_ID", value: "stolen" },
    ];
    const { terminalId } = await terminals.create({ command: 'echo "$A [$DRAGOMAN_SESSION_ID]"', env });
    await terminals.waitForExit({ terminalId });
    expect(terminals.output({ terminalId })).toMatchObject({ output: "b []\n" });
  });

  it("have no input", async () => {
    const { terminalId } = await terminals.create({ command: "cat; echo end" });
    expect(await terminals.waitForExit({ terminalId })).toEqual({ exitCode: 0, signal: null });
  });

  it("kill ends the command and keeps its output", async () => {
    const { terminalId } = await terminals.create({ command: "echo started; sleep 600" });
    await written(terminalId, "started");
    expect(terminals.output({ terminalId })).toEqual({ output: "started\n", truncated: false });
    expect(await terminals.kill({ terminalId })).toEqual({});
    const exitStatus = { exitCode: null, signal: "SIGTERM" };
    expect(terminals.output({ terminalId })).toMatchObject({ output: "started\n", exitStatus });
    expect(await terminals.kill({ terminalId })).toEqual({});
  });

  it("release leaves no process behind, grandchildren neither, and forgets the terminal", async () => {
    const { terminalId } = await terminals.create({ command: "sleep 600 & echo pid=$!; wait" });
    await written(terminalId, "\n");
    const pid = Number(/pid=(\d+)/.exec(told.get(terminalId) ?? "")?.[1]);
    expect(isAlive(pid)).toBe(true);
    await terminals.release({ terminalId });
    expect(isAlive(pid)).toBe(false);
    expect(() => terminals.output({ terminalId })).toThrow(/no terminal/);
  });

  it("a waiting request is answered when the terminal is released", async () => {
    const { terminalId } = await terminals.create({ command: "sleep 600" });
    const exit = terminals.waitForExit({ terminalId });
    await terminals.release({ terminalId });
    expect(await exit).toMatchObject({ signal: "SIGTERM" });
  });

  it("refuse what they cannot do, in the protocol's words", async () => {
    await expect(terminals.create({})).rejects.toMatchObject({ code: -32602 });
    await expect(terminals.create({ command: "true", cwd: "/" })).rejects.toThrow(/outside/);
    expect(() => terminals.output({ terminalId: "term_9" })).toThrow(expect.objectContaining({ code: -32002 }));
    expect(() => terminals.waitForExit({})).toThrow(expect.objectContaining({ code: -32002 }));
    await expect(terminals.release({ terminalId: "constructor" })).rejects.toMatchObject({ code: -32002 });
    await expect(terminals.create({ command: "a\0b" })).rejects.toMatchObject({ code: -32602 });
  });

  it("64 are open at most", async () => {
    for (let i = 0; i < 64; i++) await terminals.create({ command: "true" });
    await expect(terminals.create({ command: "true" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/release/),
    });
    await terminals.release({ terminalId: "term_1" });
    expect(await terminals.create({ command: "true" })).toEqual({ terminalId: "term_65" });
  });
});

describe("terminals on tasks", () => {
  it("are tasks of their session, with a story", async () => {
    const terminals = onTasks();
    const { terminalId } = await terminals.create({ command: "echo hi" });
    await terminals.waitForExit({ terminalId });
    const [view] = tasks.list({ origin_session_id: "s1" });
    expect(view).toMatchObject({ tool_name: "terminal", title: "echo hi", status: "exited", execution_mode: "pipes" });
    expect(sink.text(view?.task_id ?? "", "stdout")).toBe("hi\n");
    await terminals.closeAll();
  });

  it("what is being created when all are closed does not stay", async () => {
    const terminals = onTasks();
    const created = terminals.create({ command: "sleep 600" });
    await terminals.closeAll();
    await expect(created).rejects.toThrow(/closed meanwhile/);
    expect(tasks.list().map(({ status }) => status)).toEqual(["cancelled"]);
  });

  it("a quota of the daemon is a refused request", async () => {
    const terminals = onTasks({ per_session: 1 });
    await terminals.create({ command: "sleep 600" });
    await expect(terminals.create({ command: "true" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/cancel/),
    });
    await terminals.closeAll();
  });
});
