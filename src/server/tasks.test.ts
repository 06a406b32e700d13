/** Tasks over HTTP, SSE and WebSocket, with the SDK on a real server: what runs, what is sent to it, and what is refused. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { Dragoman } from "../client/dragoman.ts";
import type { TaskHandle } from "../client/task-handle.ts";
import { frameTypes } from "../dialects/frames/frame.ts";
import { framesDialect } from "../dialects/frames/index.ts";
import { contractErrors } from "../dialects/frames/test-contract.ts";
import { uuidOf } from "../dialects/frames/uuid.ts";
import type { Role } from "../schema/actor.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import type { StartTask, TaskSocketMessage } from "../schema/task.ts";
import { checkTaskGrammar } from "../schema/task-grammar.ts";
import { startTestServer, type TestServer } from "./test-server.ts";
import type { Scope } from "./token.ts";

const KEY = `sk-ant-api03-${"aB3".repeat(14)}`;

let server: TestServer;
let client: Dragoman;
let inside: string;
let outside: string;
beforeAll(async () => {
  server = await startTestServer({ dialects: new Map([["frames", framesDialect]]) });
  client = new Dragoman({ url: server.url, token: server.token });
  inside = join(server.dataDir, "inside");
  outside = join(server.dataDir, "outside");
  for (const directory of [inside, outside]) mkdirSync(directory);
  symlinkSync(outside, join(inside, "way-out"));
});
afterAll(() => server.close());

const mint = (role: Role, scope: Scope | null = null): Dragoman => {
  const admin = server.tokens.find(server.token);
  if (!admin) throw new Error("the root token must be known");
  return client.with({ token: server.tokens.mint(admin, { role, scope, lifetimeMs: 600_000 }).secret });
};
const session = async (): Promise<string> => (await server.createSession({ directory: inside })).session_id;

async function eventsOf(task: TaskHandle, by: Dragoman = client): Promise<UniversalEvent[]> {
  const events: UniversalEvent[] = [];
  for await (const event of by.task(task.id).events()) events.push(event);
  return events;
}

const outputOf = (events: readonly UniversalEvent[], stream: string): string =>
  events.flatMap((event) => (event.type === "task.output" && event.data.stream === stream ? [event.data.chunk] : [])).join("");

/** Resolves when the output so far matches. */
async function wrote(task: TaskHandle, pattern: RegExp): Promise<void> {
  let text = "";
  for await (const event of task.events()) {
    if (event.type === "task.output") text += event.data.chunk;
    if (pattern.test(text)) return;
  }
  throw new Error(`it ended with ${JSON.stringify(text)}`);
}

describe("a task", () => {
  it("[K1] tells its story in a stream of its own, and its session tells of it", async () => {
    const id = await session();
    const handle = client.session(id);
    const task = await handle.startTask({ command: "echo out; echo err >&2; pwd; exit 3", title: "three" });
    const events = await eventsOf(task);
    expect(checkTaskGrammar(events)).toEqual([]);
    expect(outputOf(events, "stdout")).toBe(`out\n${inside}\n`);
    expect(outputOf(events, "stderr")).toBe("err\n");
    expect(events.at(-1)).toMatchObject({ type: "task.status", data: { status: "exited", exit_code: 3 } });
    expect(events[0]).toMatchObject({
      type: "task.spawned",
      session_id: task.id,
      data: { actor: { surface: "sdk", role: "admin" } },
    });
    expect(await task.get()).toMatchObject({
      status: "exited",
      exit_code: 3,
      title: "three",
      origin_session_id: id,
      last_sequence: events.length,
    });
    expect((await handle.tasks()).tasks.map(({ task_id }) => task_id)).toEqual([task.id]);
    const told: UniversalEvent[] = [];
    for await (const event of handle.events()) {
      told.push(event);
      if (event.type === "task.status") break;
    }
    expect(told.filter(({ type }) => type.startsWith("task.")).map(({ type }) => type)).toEqual(["task.spawned", "task.status"]);
    expect(checkGrammar(told)).toEqual([]);
    const frames = await server.json<{ events: Record<string, unknown>[] }>("GET", `/v1/tasks/${task.id}/events?dialect=frames`);
    expect(frames.events[0]).toMatchObject({ type: "tool_task_spawned", stream_kind: "task", stream_id: task.id, seq: 0 });
    expect(frames.events[0]).not.toHaveProperty("actor");
  });

  it("has frames that fit the contract field by field, in both versions, however it ended", async () => {
    const id = await session();
    const handle = client.session(id);
    const framesOf = async (task: TaskHandle, version: 1 | 2) =>
      (
        await server.json<{ events: Record<string, unknown>[] }>(
          "GET",
          `/v1/tasks/${task.id}/events?dialect=frames&version=${version}`,
        )
      ).events;
    const typed = await handle.startTask({ command: "read line; kill -9 $$", execution_mode: "pty", rows: 24, cols: 80 });
    await typed.resize({ rows: 30, cols: 90 });
    await typed.write("go\n");
    await typed.ended();
    const cancelled = await client.startTask({ command: "echo up; echo down >&2; exec sleep 600", cwd: inside });
    await wrote(cancelled, /up/);
    await cancelled.signal("SIGCONT");
    await cancelled.cancel("enough");
    const types = new Set<unknown>();
    for (const task of [typed, cancelled])
      for (const version of [1, 2] as const) {
        const frames = await framesOf(task, version);
        expect(contractErrors(frames, version)).toEqual([]);
        for (const { type } of frames) types.add(type);
      }
    expect([...types].sort()).toEqual(frameTypes.filter((type) => type.startsWith("tool_task_")).sort());
    const last = (await framesOf(typed, 1)).at(-1);
    expect(last).toMatchObject({ type: "tool_task_status", error: "It was ended by SIGKILL.", task_id: uuidOf(typed.id) });
    expect(last).not.toHaveProperty("exit_code");
    const [first] = await framesOf(typed, 1);
    expect(first).toMatchObject({ session_id: uuidOf(typed.id), task_id: uuidOf(typed.id), origin_session_id: uuidOf(id) });
    expect(`task_${uuidOf(typed.id)}`).toBe(typed.id);
  });

  it("reads its standard input, and ends when that is closed", async () => {
    const task = await client.startTask({ argv: ["cat"], stdin: true, cwd: inside });
    await task.write("one ");
    await task.write({ base64: Buffer.from("two").toString("base64"), end: true });
    await task.ended();
    expect(await task.output({ offset: 2, limit: 5 })).toMatchObject({
      stream: "stdout",
      offset: 2,
      bytes: 5,
      total: 7,
      text: "e two",
    });
  });

  it("never gives half a character in a range", async () => {
    const task = await client.startTask({ command: "printf 'aäö€x'", cwd: inside });
    await task.ended();
    expect(await task.output({ offset: 2, limit: 4 })).toMatchObject({ offset: 3, bytes: 2, text: "ö" });
  });

  it("[K2] is cancelled with everything it started, and says so in order", async () => {
    const task = await client.startTask({ command: "sleep 600 & trap '' TERM; echo up; while :; do sleep 1; done", cwd: inside });
    await wrote(task, /up/);
    expect(await task.cancel("enough")).toMatchObject({ status: "cancelled", cancel_reason: "enough" });
    const events = await eventsOf(task);
    expect(checkTaskGrammar(events)).toEqual([]);
    expect(events.slice(-3).map(({ type }) => type)).toEqual(["task.cancel_requested", "task.cancelled", "task.status"]);
    // Again, and after the end, it changes nothing.
    expect(await task.cancel()).toMatchObject({ status: "cancelled", cancel_reason: "enough" });
    await task.remove();
    await expect(task.get()).rejects.toMatchObject({ code: "task_not_found" });
  });

  it("goes with its session", async () => {
    const id = await session();
    const handle = client.session(id);
    const task = await handle.startTask({
      command: `echo up; trap 'touch ${join(inside, "ended")}; exit' TERM; while :; do sleep 0.1; done`,
    });
    await wrote(task, /up/);
    await handle.remove();
    await expect(task.get()).rejects.toMatchObject({ code: "task_not_found" });
    expect(existsSync(join(inside, "ended"))).toBe(true);
  });
});

class Watcher {
  readonly messages: TaskSocketMessage[] = [];
  readonly over: Promise<void>;
  #looks = new Set<() => void>();

  constructor(messages: AsyncIterable<TaskSocketMessage>) {
    this.over = (async () => {
      for await (const message of messages) {
        this.messages.push(message);
        for (const look of this.#looks) look();
      }
    })();
  }

  get text(): string {
    return this.messages
      .map((each) => (each.type === "output" ? each.text : each.type === "screen" ? each.serialized : ""))
      .join("");
  }

  until(fits: (watcher: Watcher) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!fits(this)) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }
}

const watch = async (task: TaskHandle, by: Dragoman = client) => {
  const socket = await by.task(task.id).socket({ WebSocket });
  return { socket, watcher: new Watcher(socket.messages()) };
};

describe("a terminal", () => {
  it("is typed into, resized and signalled over one WebSocket; who joins late gets its screen", async () => {
    const task = await client
      .session(await session())
      .startTask({ command: "exec sh -i", env: { PS1: "ready> " }, execution_mode: "pty", rows: 10, cols: 40 });
    const { socket, watcher } = await watch(task);
    await watcher.until(({ text }) => text.includes("ready>"));
    socket.write("echo first-$((20+3))\n");
    await watcher.until(({ text }) => text.includes("first-23"));
    socket.resize({ rows: 7, cols: 33 });
    await watcher.until(({ messages }) => messages.some((each) => each.type === "size" && each.rows === 7 && each.cols === 33));
    socket.write("stty size\n");
    await watcher.until(({ text }) => text.includes("7 33"));
    const late = await watch(task);
    await late.watcher.until(({ messages }) => messages.some(({ type }) => type === "screen"));
    expect(late.watcher.messages.find(({ type }) => type === "screen")).toMatchObject({ rows: 7, cols: 33, exact: true });
    expect(late.watcher.text).toContain("first-23");
    late.socket.close();
    // What the command itself prints, not what the terminal repeats: only then does the signal meet it.
    socket.write("sh -c 'echo asleep-$((20+4)); exec sleep 600'\n");
    await watcher.until(({ text }) => text.includes("asleep-24"));
    socket.signal("INT");
    socket.write("exit 4\n");
    await watcher.over;
    expect(watcher.messages.at(-1)).toMatchObject({ type: "ended", task: { status: "exited", exit_code: 4 } });
    const events = await eventsOf(task);
    expect(checkTaskGrammar(events)).toEqual([]);
    expect((await task.screen()).serialized).toContain("first-23");
    expect(events.filter(({ type }) => type === "task.stdin").length).toBeGreaterThan(2);
  });

  it("does not tell what is typed as a secret", async () => {
    const task = await client.startTask({
      command: "stty -echo; echo ready; read word; echo got",
      execution_mode: "pty",
      cwd: inside,
    });
    await wrote(task, /ready/);
    await task.write({ text: "hunter2\n", secret: true });
    const events = await eventsOf(task);
    expect(outputOf(events, "pty")).toContain("got");
    expect(JSON.stringify(events)).not.toContain(Buffer.from("hunter2\n").toString("base64"));
    expect(JSON.stringify(events)).not.toContain("hunter2");
  });

  it("is shown to one who falls far behind as a screen, not byte by byte", async () => {
    const task = await client.startTask({
      command: "yes 0123456789012345678901234567890123456789 | head -c 3000000; echo; echo the-end; sleep 600",
      execution_mode: "pty",
      cwd: inside,
    });
    let total = 0;
    for await (const event of task.events()) {
      if (event.type === "task.output") total += event.data.bytes ?? 0;
      if (event.type === "task.output" && event.data.chunk.includes("the-end")) break;
    }
    const { socket, watcher } = await watch(task);
    await watcher.until(({ text }) => text.includes("the-end"));
    expect(watcher.text.length).toBeLessThan(total / 4);
    socket.cancel();
    await watcher.over;
  });
});

describe("who may", () => {
  it("start and steer: role operate, and a scope that reaches it; others do not see it", async () => {
    const id = await session();
    const [observer, approver] = [mint("observe"), mint("approve")];
    const scoped = mint("operate", { directories: [inside] });
    const elsewhere = mint("operate", { directories: [outside] });
    const request: StartTask = { argv: ["cat"], stdin: true };
    for (const weak of [observer, approver]) {
      await expect(weak.session(id).startTask(request)).rejects.toMatchObject({ code: "forbidden" });
      await expect(weak.startTask(request)).rejects.toMatchObject({ code: "forbidden" });
    }
    await expect(elsewhere.session(id).startTask(request)).rejects.toMatchObject({ code: "session_not_found" });
    await expect(elsewhere.startTask({ ...request, cwd: inside })).rejects.toMatchObject({ code: "forbidden" });
    await expect(scoped.startTask({ ...request, cwd: join(inside, "way-out") })).rejects.toMatchObject({ code: "forbidden" });
    await expect(scoped.startTask(request)).rejects.toMatchObject({ code: "forbidden" });
    const task = await scoped.session(id).startTask(request);
    const own = await scoped.startTask({ ...request, cwd: inside });
    for (const { id: one } of [task, own]) {
      for (const weak of [observer, approver]) {
        await expect(weak.task(one).write("x")).rejects.toMatchObject({ code: "forbidden" });
        await expect(weak.task(one).cancel()).rejects.toMatchObject({ code: "forbidden" });
        await expect(weak.task(one).output()).rejects.toMatchObject({ code: "forbidden" });
      }
      await expect(elsewhere.task(one).get()).rejects.toMatchObject({ code: "task_not_found" });
      await expect(elsewhere.task(one).cancel()).rejects.toMatchObject({ code: "task_not_found" });
      await expect(elsewhere.task(one).socket({ WebSocket })).rejects.toMatchObject({ code: "unreachable" });
      expect((await elsewhere.tasks()).tasks.map(({ task_id }) => task_id)).not.toContain(one);
      expect((await scoped.tasks()).tasks.map(({ task_id }) => task_id)).toContain(one);
      expect(await observer.task(one).get()).toMatchObject({ status: "running" });
    }
    const { socket } = await watch(task, observer);
    const refused = new Promise((resolve) => {
      socket.onRefused = resolve;
    });
    socket.write("x");
    expect(await refused).toMatchObject({ code: "forbidden" });
    socket.close();
    await scoped.task(task.id).cancel();
    await scoped.task(own.id).cancel();
  });

  it("[K5] not an agent: a command would get past the permissions of its session", async () => {
    const id = await session();
    const { secret } = server.tokens.issueForAgent(id, { role: "operate", scope: { sessions: [id], directories: [inside] } });
    const agent = client.with({ token: secret });
    await expect(agent.session(id).startTask({ command: "true" })).rejects.toMatchObject({ code: "agent_forbidden" });
    await expect(agent.startTask({ command: "true", cwd: inside })).rejects.toMatchObject({ code: "agent_forbidden" });
    const task = await client.session(id).startTask({ argv: ["cat"], stdin: true });
    await expect(agent.task(task.id).write("x")).rejects.toMatchObject({ code: "agent_forbidden" });
    await expect(agent.task(task.id).cancel()).rejects.toMatchObject({ code: "agent_forbidden" });
    const { socket } = await watch(task, agent);
    const refused = new Promise((resolve) => {
      socket.onRefused = resolve;
    });
    socket.write("x");
    expect(await refused).toMatchObject({ code: "agent_forbidden" });
    socket.close();
    await task.cancel();
  });

  it("[R1] read without secrets: events, screen and WebSocket, also of a secret that came in pieces", async () => {
    const observer = mint("observe");
    const half = KEY.length / 2;
    const [one, two] = [KEY.slice(0, half), KEY.slice(half)];
    const task = await client.startTask({
      command: `stty -echo; printf "key $ONE"; read x; printf "$TWO done\\n"; read x`,
      env: { ONE: one, TWO: two },
      execution_mode: "pty",
      cols: 200,
      cwd: inside,
    });
    const { socket, watcher } = await watch(task, observer);
    await wrote(task, /key sk-/);
    await task.write("\n");
    await wrote(task, /done/);
    await watcher.until(({ text }) => text.includes("done"));
    await task.write("typed\n");
    await watcher.over;
    expect(watcher.text).toContain("[redacted:");
    const events = await eventsOf(task, observer);
    const later: UniversalEvent[] = [];
    const first = events.find(({ type }) => type === "task.output")?.sequence ?? 0;
    for await (const event of observer.task(task.id).events({ after: first })) later.push(event);
    const seen = [
      watcher.text,
      outputOf(events, "pty"),
      (await observer.task(task.id).screen()).serialized,
      JSON.stringify(watcher.messages[0]),
    ];
    for (const text of [...seen, outputOf(later, "pty")]) {
      expect(text).not.toContain(one);
      expect(text).not.toContain(two);
    }
    expect(JSON.stringify(events)).not.toContain(Buffer.from("typed\n").toString("base64"));
    expect(outputOf(await eventsOf(task), "pty")).toContain(KEY);
    socket.close();
  });
});

describe("what cannot be", () => {
  it("is refused with a code that says why", async () => {
    const id = await session();
    const handle = client.session(id);
    const start = (request: StartTask) => handle.startTask(request);
    const code = (code: string) => ({ code });
    await expect(start({ command: "true", cwd: outside })).rejects.toMatchObject(code("cwd_outside"));
    await expect(start({ command: "true", cwd: "way-out" })).rejects.toMatchObject(code("cwd_outside"));
    await expect(start({ command: "true", cwd: "../outside" })).rejects.toMatchObject(code("cwd_outside"));
    await expect(start({ command: "true", cwd: "nowhere" })).rejects.toMatchObject(code("directory_not_found"));
    await expect(start({ argv: ["no-such-program"] })).rejects.toMatchObject(code("program_not_found"));
    await expect(start({})).rejects.toMatchObject(code("invalid_request"));
    await expect(start({ command: "true", argv: ["true"] })).rejects.toMatchObject(code("invalid_request"));
    await expect(start({ command: "true", rows: 5 })).rejects.toMatchObject(code("invalid_request"));
    await expect(start({ command: "true", execution_mode: "pty", rows: 0 })).rejects.toMatchObject(code("invalid_request"));
    await expect(client.startTask({ command: "true", cwd: "relative" })).rejects.toMatchObject(code("invalid_request"));
    await expect(client.session("nobody").startTask({ command: "true" })).rejects.toMatchObject(code("session_not_found"));
    expect((await handle.tasks()).tasks).toEqual([]);
  });

  it("is refused for a task that has none of it", async () => {
    const unknown = client.task("task_unknown");
    const calls = [
      () => unknown.get(),
      () => unknown.write("x"),
      () => unknown.resize({ rows: 1, cols: 1 }),
      () => unknown.signal("TERM"),
      () => unknown.cancel(),
      () => unknown.screen(),
      () => unknown.output(),
      () => unknown.page(),
      () => unknown.remove(),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "task_not_found" });
    await expect(unknown.socket({ WebSocket })).rejects.toMatchObject({ code: "unreachable" });
    const task = await client.startTask({ command: "echo up; sleep 600", cwd: inside });
    await expect(task.write("x")).rejects.toMatchObject({ code: "no_stdin" });
    await expect(task.resize({ rows: 5, cols: 5 })).rejects.toMatchObject({ code: "not_a_terminal" });
    await expect(task.screen()).rejects.toMatchObject({ code: "not_a_terminal" });
    await expect(task.signal("SIGNONSENSE")).rejects.toMatchObject({ code: "unknown_signal" });
    await expect(task.signal("9")).rejects.toMatchObject({ code: "unknown_signal" });
    await expect(task.output({ stream: "pty" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(task.remove()).rejects.toMatchObject({ code: "task_running" });
    await expect(task.page({ after: 10_000 })).rejects.toMatchObject({ code: "cursor_too_large" });
    await task.signal("TERM");
    expect(await task.ended()).toMatchObject({ status: "exited", signal: "SIGTERM" });
    await expect(task.write("x")).rejects.toMatchObject({ code: "task_ended" });
    await expect(task.signal("TERM")).rejects.toMatchObject({ code: "task_ended" });
    const ended = await server.createSession({ directory: inside });
    await client.session(ended.session_id).terminate();
    await expect(client.session(ended.session_id).startTask({ command: "true" })).rejects.toMatchObject({
      code: "session_ended",
    });
  });
});
