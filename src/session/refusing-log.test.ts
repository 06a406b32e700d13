// A log that cannot write, seen from a session: commands are refused and have no effect, agents are paused, and no entry from the agent's side throws.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentError } from "../agents/contract.ts";
import { createAgentHost } from "../daemon/agent-host.ts";
import type { Log, StreamWriter } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import { openSqliteLog } from "../log/sqlite/log.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { isoClock, timeOrderedIds } from "./ids.ts";
import type { Session } from "./session.ts";
import { SessionManager } from "./session-manager.ts";
import { TestAgent } from "./test-agent.ts";
import { eventsOf, play, turnEnd, until } from "./test-session.ts";

const fullDisk = () => new LogError("disk_full", "The disk is full.");

/** A real log, and switches for what a full disk does to its callers. */
class FlakyLog {
  /** Commits fail: what is appended waits. */
  failing = false;
  /** So much waits that nothing more is taken. */
  refusing = false;
  /** Called before a writer is taken. */
  onTake: () => Promise<void> = async () => {};
  /** Called when a writer was taken; it is handed out after that. */
  onTaken: () => Promise<void> = async () => {};
  /** Called before a stream is deleted. */
  onDelete: () => Promise<void> = async () => {};
  readonly log: Log;
  #healed: (() => void)[] = [];
  readonly #pressure = new Set<(paused: boolean) => void>();

  constructor(real: Log) {
    const over: Partial<Log> = {
      assertWritable: () => {
        if (this.failing) throw fullDisk();
      },
      onPressure: (listener) => {
        this.#pressure.add(listener);
        return () => void this.#pressure.delete(listener);
      },
      create: async (...args) => this.#writer(await real.create(...args)),
      writer: async (...args) => {
        await this.onTake();
        const writer = await real.writer(...args);
        await this.onTaken();
        return writer && this.#writer(writer);
      },
      delete: async (...args) => {
        await this.onDelete();
        return real.delete(...args);
      },
    };
    this.log = overlay(real, over);
  }

  press(paused: boolean): void {
    this.failing = paused;
    for (const listener of this.#pressure) listener(paused);
    if (!paused) for (const healed of this.#healed.splice(0)) healed();
  }

  #writer(real: StreamWriter): StreamWriter {
    const refuse = (): void => {
      if (this.refusing) throw fullDisk();
    };
    return overlay(real, {
      committed: async (options) => {
        await Promise.resolve();
        if (this.failing && options?.bounded !== false) throw fullDisk();
        if (this.failing) await new Promise<void>((resolve) => this.#healed.push(resolve));
        return real.committed();
      },
      append: (entry) => {
        refuse();
        real.append(entry);
      },
      appendNative: (entry) => {
        refuse();
        return real.appendNative(entry);
      },
      setState: (json, options) => {
        refuse();
        real.setState(json, options);
      },
    });
  }
}

function overlay<T extends object>(real: T, over: Partial<T>): T {
  return new Proxy(real, {
    get: (target, name) => {
      const own: unknown = Reflect.get(over, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

let dataDir: string;
let real: Log;
let flaky: FlakyLog;
let manager: SessionManager;
let test: TestAgent;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-refusing-"));
  real = await openSqliteLog({ dataDir });
  flaky = new FlakyLog(real);
  test = new TestAgent();
  const host = createAgentHost({
    agent: test.agent,
    settings: {},
    dataDir,
    env: process.env,
    openChannel: (translator) => manager.openChannel(translator),
    log: () => {},
  });
  manager = new SessionManager({
    log: flaky.log,
    ids: timeOrderedIds(),
    clock: isoClock(),
    now: Date.now,
    agent: () => ({ agent: test.agent, host }),
    directories: { isTrusted: () => false, rootOf: (directory) => directory, add: () => {} },
    inspect: async () => ({ installed: true, path: null, version: null, signed_in: null, advice: null }),
    times: { idle_ms: 0, stall_ms: 0, interrupt_ms: 10 },
    limits: { sessions: 10, queued: 10 },
    defaultDirectory: dataDir,
    agentEnvironment: () => ({}),
    warn: () => {},
    searchReady: () => false,
  });
});

afterEach(async () => {
  flaky.refusing = false;
  flaky.press(false);
  await manager.shutdown();
  await real.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** So many turns of the event loop. */
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};
const full = { code: "disk_full" };
const start = async (): Promise<Session> =>
  await manager.get((await manager.create({ agent: "test", session_id: "s", directory: dataDir })).session_id);
const running = async (): Promise<Session> => {
  const session = await start();
  // The start of a turn is reported before its agent has the message: wait for both.
  const prompted = new Promise<void>((resolve) => {
    test.onPrompt = resolve;
  });
  await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "turn.started");
  await prompted;
  return session;
};

describe("while another node owns it", () => {
  it("[O8] a session that was lost while it was being read is not kept: the next time it is read anew", async () => {
    const session = await start();
    await session.suspend();
    manager.abandon("s");
    flaky.onTaken = async () => manager.abandon("s");
    await expect(manager.takeUp("s", null)).rejects.toMatchObject({ code: "fenced" });
    flaky.onTaken = async () => {};
    // Another node had it in between.
    const other = await real.writer("session", "s");
    await other?.committed();
    expect(await manager.takeUp("s", null)).toBe(true);
    await play(await manager.get("s"), "hello");
    expect(test.prompts).toEqual(["hello"]);
  });
});

describe("when it is taken up again", () => {
  const moved = { from: "a", to: "b", epoch: 3, reason: "takeover" as const };
  const rested = async (): Promise<void> => {
    await (await start()).suspend();
    manager.abandon("s");
  };
  const moves = async (): Promise<number> =>
    (await eventsOf(await manager.get("s"))).filter(({ type }) => type === "session.moved").length;

  it("[O6] while a reading that was abandoned is about to take the writer: it does not take it from the new one", async () => {
    await rested();
    let release = (): void => undefined;
    const taking = new Promise<void>((resolve) => {
      flaky.onTake = () => {
        resolve();
        flaky.onTake = async () => {};
        return new Promise((go) => {
          release = go;
        });
      };
    });
    const first = manager.takeUp("s", null);
    await taking;
    manager.abandon("s");
    const second = manager.takeUp("s", moved);
    // Whoever does not wait for the first has taken the writer by now.
    await Promise.race([second, turns(100)]);
    release();
    await expect(first).rejects.toMatchObject({ code: "fenced" });
    expect(await second).toBe(true);
    await play(await manager.get("s"), "hello");
    expect([test.prompts, await moves()]).toEqual([["hello"], 1]);
  });

  it("[S3] with a turn that its agent could continue and a message behind it: the message is delivered, whatever becomes of the turn", async () => {
    const session = await running();
    const { turn_id } = await session.send("next", [], "queue");
    await session.suspend();
    manager.abandon("s");
    test.agent.unfinished = async () => true;
    const connect = test.agent.connect;
    test.agent.connect = async (launch) => {
      test.agent.connect = connect;
      expect(launch.resume).not.toBeNull();
      throw new AgentError("agent_gone", "It does not start.");
    };
    await manager.takeUp("s", moved).catch(() => undefined);
    expect(await turnEnd(await manager.get("s"), turn_id)).toMatchObject({ data: { stop_reason: "error" } });
  });

  it("[O6] by an object that has lost its writer: the next try reads it anew", async () => {
    await start();
    await (await real.writer("session", "s"))?.committed();
    await expect(manager.takeUp("s", moved)).rejects.toMatchObject({ code: "fenced" });
    expect(await manager.takeUp("s", moved)).toBe(true);
    expect(await moves()).toBe(1);
  });
});

describe("while the log cannot write", () => {
  it("[D9] commands are refused and have no effect, not even later", async () => {
    const session = await running();
    flaky.press(true);
    await expect(session.send("later", [], "queue")).rejects.toMatchObject(full);
    await expect(session.configure({ title: "later" })).rejects.toMatchObject(full);
    await expect(manager.create({ agent: "test", session_id: "other", directory: dataDir })).rejects.toMatchObject(full);
    // The log fails after the command was taken: the same.
    flaky.failing = false;
    const sent = session.send("later", [], "queue");
    flaky.failing = true;
    await expect(sent).rejects.toMatchObject(full);
    flaky.press(false);
    await real.documents.committed();
    expect([session.queued, session.view().title]).toEqual([0, "hang"]);
    await expect(manager.get("other")).rejects.toThrow(/no session/);
    await session.interrupt();
    await play(session, "hello");
    expect(test.prompts).toEqual(["hang", "hello"]);
  });

  it("[D9] agents are paused, also those that start then, and resumed when it can", async () => {
    const session = await running();
    flaky.press(true);
    expect(test.paused).toEqual([true]);
    flaky.press(false);
    expect(test.paused).toEqual([true, false]);
    await session.terminate();
  });

  it("[D9] an answer is refused, and reaches the agent when it is on disk", async () => {
    const session = await running();
    const asked = until(session, (event) => event.type === "permission.requested");
    test.emit({ type: "call", c: "c1", name: "shell", kind: "shell", title: "ls", input: {} });
    test.emit({ type: "ask", id: "a1", c: "c1", action: "Run: ls", name: "shell", input: {}, options: [] });
    await asked;
    const id = session.pending().permissions[0]?.permission_id ?? "";
    const reply = session.replyPermission(id, { reply: "once" });
    flaky.press(true);
    await expect(reply).rejects.toMatchObject(full);
    expect(test.prompts).not.toContain("answered");
    flaky.press(false);
    await session.replyPermission(id, { reply: "once" });
    await until(session, (event) => event.type === "permission.resolved");
    await new Promise(setImmediate);
    expect(test.prompts.filter((text) => text === "answered")).toHaveLength(1);
  });

  it("[D9] terminate ends the agent, and says that the end is not written", async () => {
    const session = await running();
    flaky.press(true);
    await expect(session.terminate()).rejects.toMatchObject(full);
    expect([test.alive, session.alive]).toEqual([0, false]);
    flaky.press(false);
    await session.terminate();
    expect(session.view().status).toBe("ended");
  });
});

describe("when an entry is refused and the log is well", () => {
  it("[S3] messages that wait are delivered by the object that is read next, and nobody has to ask for it", async () => {
    const session = await running();
    await session.send("next", [], "queue");
    const prompted = new Promise<void>((resolve) => {
      test.onPrompt = resolve;
    });
    flaky.refusing = true;
    test.emit({ type: "text", m: "m", d: "hello" });
    flaky.refusing = false;
    await prompted;
    const again = await manager.get("s");
    await until(again, (event) => event.type === "turn.started" && event.data.initiator === "client" && event.sequence > 5);
    expect(again).not.toBe(session);
    expect([test.prompts, test.most]).toEqual([["hang", "next"], 1]);
  });

  it("[S3] also when it cannot be read at once", async () => {
    const session = await running();
    await session.send("next", [], "queue");
    const prompted = new Promise<void>((resolve) => {
      test.onPrompt = resolve;
    });
    flaky.onTake = async () => {
      flaky.onTake = async () => {};
      throw new LogError("write_failed", "The database did not answer.");
    };
    flaky.refusing = true;
    test.emit({ type: "text", m: "m", d: "hello" });
    flaky.refusing = false;
    await prompted;
    expect(test.prompts).toEqual(["hang", "next"]);
  });
});

describe("when the log takes nothing at all", () => {
  const entries: Record<string, (session: Session) => void | Promise<void>> = {
    "a native message": () => test.emit({ type: "text", m: "m", d: "hello" }),
    "what the connection says": () => test.launch?.port.say([{ do: "status", status: { status: "retrying", attempt: 1 } }]),
    "the agent's exit": () => test.launch?.port.closed({ exit: null }),
    "a tick": (session) => session.tick(Date.now() + 1_000_000),
    "an interrupt by force": (session) => {
      test.interrupts = "ignored";
      return session.interrupt();
    },
    "a rest": (session) => session.rest(),
  };

  it.each(Object.keys(entries))("%s throws nowhere; the session is read again when there is space", async (name) => {
    const session = await running();
    flaky.refusing = true;
    // A paused session is not looked at for silence.
    if (name !== "a tick") flaky.press(true);
    await entries[name]?.(session);
    // What it believed is given up, and its process with it.
    while (test.alive > 0 && !name.startsWith("the agent's exit")) await new Promise(setImmediate);
    await expect(session.send("x", [], "queue")).rejects.toMatchObject(full);
    flaky.refusing = false;
    flaky.press(false);
    const again = await manager.get("s");
    expect(again).not.toBe(session);
    const { turn_id } = await again.send("hello", [], "queue");
    await turnEnd(again, turn_id);
    expect(checkGrammar(await eventsOf(again))).toEqual([]);
  });
});

describe("a log that takes its time to remove a session", () => {
  const removals: [string, (id: string) => Promise<unknown>][] = [
    ["removed", (id) => manager.remove(id)],
    ["removed because nobody uses it", (id) => manager.removeUnused(id)],
  ];
  it.each(removals)("leaves no object of one that somebody asks for while it is %s", async (_, remove) => {
    const { session_id: id } = await manager.create({ agent: "test", directory: dataDir });
    let asked: Promise<unknown> = Promise.resolve();
    flaky.onDelete = async () => {
      asked = manager.get(id).catch((error: unknown) => error);
      // This log reads a session in less.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    };
    await remove(id);
    expect(await asked).toMatchObject({ code: "session_not_found" });
    expect(manager.held(id)).toBeUndefined();
    await expect(manager.view(id)).rejects.toMatchObject({ code: "session_not_found" });
    expect(await manager.list({ limit: 10 })).toMatchObject({ sessions: [], unreadable: [] });
  });

  it("gives it to those who waited when it was not removed", async () => {
    const { session_id: id } = await manager.create({ agent: "test", directory: dataDir });
    let asked: Promise<unknown> = Promise.resolve();
    flaky.onDelete = async () => {
      asked = manager.get(id);
      throw fullDisk();
    };
    await expect(manager.remove(id)).rejects.toMatchObject({ code: "disk_full" });
    expect(await asked).toBe(manager.held(id));
  });
});
