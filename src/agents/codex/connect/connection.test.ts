// The connection against a program that speaks the protocol: real processes, real sessions, the real log.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Core, openCore } from "../../../daemon/core.ts";
import { checkGrammar } from "../../../schema/grammar.ts";
import type { Session } from "../../../session/session.ts";
import { eventsOf, play as playTurn, textsOf, turnEnd, until } from "../../../session/test-session.ts";
import { codexAgent } from "../agent.ts";
import { allows } from "./exec-rules.ts";

const FAKE = fileURLToPath(new URL("./fake-app-server.mjs", import.meta.url));

let dir: string;
let core: Core;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "dragoman-codex-"));
  core = await openCore({
    dataDir: join(dir, "data"),
    config: { checkpoints: { enabled: false }, agents: { codex: { command: process.execPath, args: [FAKE], home: dir } } },
    agents: [codexAgent],
    // No skills of the person who runs the tests.
    env: { ...process.env, HOME: dir },
    defaultDirectory: dir,
    log: () => {},
  });
});

afterEach(async () => {
  await core.close();
  rmSync(dir, { recursive: true, force: true });
});

const start = async (more: object = {}): Promise<Session> =>
  await core.manager.get((await core.manager.create({ agent: "codex", directory: dir, ...more })).session_id);

const lastText = async (session: Session): Promise<string> => (await textsOf(session, "assistant")).at(-1) ?? "";

const play = async (session: Session, text: string): Promise<string> => {
  await playTurn(session, text);
  return lastText(session);
};

const pids = (): number[] =>
  readdirSync(join(dir, "data", "processes"))
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(dir, "data", "processes", name), "utf8")).pid);

const permission = async (session: Session): Promise<string> => {
  const event = await until(session, ({ type }) => type === "permission.requested");
  return event.type === "permission.requested" ? event.data.permission_id : "";
};

describe("one app-server for all sessions of a configuration", () => {
  it("two sessions share it, and it ends with the last of them", async () => {
    const [a, b] = [await start(), await start()];
    const [first, second] = [await play(a, "hello"), await play(b, "hello")];
    expect(first.split("pid ")[1]).toBe(second.split("pid ")[1]);
    expect(pids()).toHaveLength(1);
    await a.terminate();
    expect(pids()).toHaveLength(1);
    await b.terminate();
    expect(pids()).toHaveLength(0);
    for (const session of [a, b]) expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("another environment gets another one", async () => {
    const [a, b] = [await start(), await start({ env: { COLOUR: "blue" } })];
    await play(a, "hello");
    await play(b, "hello");
    expect(pids()).toHaveLength(2);
  });

  it("is given the skills that Codex does not find by itself; sessions with others have another one", async () => {
    const place = (name: string, skills: Record<string, string>): string => {
      const directory = realpathSync(mkdirSync(join(dir, name), { recursive: true }) ?? dir);
      for (const [path, text] of Object.entries(skills)) {
        mkdirSync(join(directory, path), { recursive: true });
        writeFileSync(
          join(directory, path, "SKILL.md"),
          `---\nname: ${text}\ndescription: About a ${text}.\n---\nAs a ${text} does.\n`,
        );
      }
      core.trust.add(directory);
      return directory;
    };
    const one = place("one", { ".dragoman/skills/heron": "heron", ".agents/skills/own": "own" });
    const other = place("other", { ".dragoman/skills/stork": "stork" });
    const [a, again, b, none] = [
      await start({ directory: one }),
      await start({ directory: one }),
      await start({ directory: other }),
      await start(),
    ];
    const [root = ""]: string[] = JSON.parse(await play(a, "roots"));
    expect(readdirSync(root)).toEqual(["heron"]);
    expect(readFileSync(join(root, "heron", "SKILL.md"), "utf8")).toContain("As a heron does.");
    expect(JSON.parse(await play(again, "roots"))).toEqual([root]);
    const [stork = ""]: string[] = JSON.parse(await play(b, "roots"));
    expect(readdirSync(stork)).toEqual(["stork"]);
    expect(await play(none, "roots")).toBe("[]");
    expect(pids()).toHaveLength(3);
    for (const session of [a, b]) expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("permissions open in both sessions are answered each for itself", async () => {
    const [a, b] = [await start(), await start()];
    const turns = [await a.send("ask", [], "queue"), await b.send("ask", [], "queue")];
    const [forA, forB] = [await permission(a), await permission(b)];
    await b.replyPermission(forB, { reply: "reject" });
    await a.replyPermission(forA, { reply: "once" });
    await Promise.all([turnEnd(a, turns[0]?.turn_id ?? ""), turnEnd(b, turns[1]?.turn_id ?? "")]);
    expect([await lastText(a), await lastText(b)]).toEqual(['decision "accept"', 'decision "decline"']);
  });

  it("a kill -9 in mid-turn ends no session: both go on with their history", async () => {
    const [a, b] = [await start(), await start()];
    await play(a, "hello");
    const asking = await b.send("ask", [], "queue");
    await permission(b);
    const slow = await a.send("slow", [], "queue");
    await until(
      a,
      ({ type, data }) => type === "item.completed" && data.item.role === "user" && data.item.turn_id === slow.turn_id,
    );
    for (const pid of pids()) process.kill(pid, "SIGKILL");
    await Promise.all([turnEnd(a, slow.turn_id), turnEnd(b, asking.turn_id)]);
    expect(await play(a, "hello")).toMatch(/^turn 3 /);
    expect(await play(b, "hello")).toMatch(/^turn 2 /);
    for (const session of [a, b]) {
      const all = await eventsOf(session);
      expect(checkGrammar(all)).toEqual([]);
      expect(all.filter(({ type }) => type === "error")).toHaveLength(1);
      expect(all.some(({ type }) => type === "session.ended")).toBe(false);
    }
  });
});

describe("requests of the server", () => {
  it("one nobody knows is answered with method not found, and is visible", async () => {
    const session = await start();
    expect(await play(session, "odd")).toBe("error -32601");
    expect((await eventsOf(session)).filter(({ type }) => type === "agent.unparsed")).toHaveLength(1);
  });

  it("the time is told without asking anybody", async () => {
    expect(await play(await start(), "time")).toBe("time number");
  });
});

describe("commands", () => {
  it("a message is put into the running turn", async () => {
    const session = await start();
    const { turn_id } = await session.send("slow", [], "queue");
    await until(session, (event) => event.type === "item.completed" && event.data.item.role === "user");
    await session.send("a hint", [], "steer");
    await turnEnd(session, turn_id);
    expect(await lastText(session)).toBe("steered by a hint");
  });

  it("a turn is interrupted", async () => {
    const session = await start();
    const { turn_id } = await session.send("slow", [], "queue");
    await until(session, (event) => event.type === "item.completed" && event.data.item.role === "user");
    await session.interrupt();
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "interrupted" } });
  });

  it("an interrupt of a turn that comes to its end at this moment is no error", async () => {
    const session = await start();
    const { turn_id } = await session.send("nearly", [], "queue");
    await until(session, (event) => event.type === "item.completed" && event.data.item.role === "user");
    await session.interrupt();
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "end_turn" } });
  });

  it("a message that should steer a turn which ends at this moment is the next one", async () => {
    const session = await start();
    const { turn_id } = await session.send("slow", [], "queue");
    await until(session, (event) => event.type === "item.completed" && event.data.item.role === "user");
    const late = await session.send("late", [], "steer");
    await turnEnd(session, turn_id);
    await turnEnd(session, late.turn_id);
    expect(late.turn_id).not.toBe(turn_id);
    expect(await lastText(session)).toMatch(/^turn 2 /);
  });

  it("the turn after a review is interrupted by its own name", async () => {
    const session = await start();
    const review = await session.send("/review", [], "queue", undefined, { command: true });
    await turnEnd(session, review.turn_id);
    const seen = session.stream.last;
    const { turn_id } = await session.send("slow", [], "queue");
    await until(session, (event) => event.type === "item.completed" && event.data.item.role === "user", seen);
    await session.interrupt();
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "interrupted" } });
  });

  it("a refused turn is told with the reason, and the session goes on", async () => {
    const session = await start();
    const { turn_id } = await session.send("refuse", [], "queue");
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "error" } });
    expect((await eventsOf(session)).find(({ type }) => type === "error")).toMatchObject({
      data: { message: "not in the mood" },
    });
    expect(await play(session, "hello")).toMatch(/^turn 1 /);
  });

  it("a line that is no JSON is unparsed and stops nothing", async () => {
    const session = await start();
    expect(await play(session, "garbage")).toBe("after garbage");
    expect((await eventsOf(session)).filter(({ type }) => type === "agent.unparsed")).toHaveLength(1);
  });

  it("the permission mode changes live, and holds in the next turn", async () => {
    const session = await start();
    expect(await play(session, "hello")).toContain("policy untrusted");
    await session.configure({ permission_mode: "bypass" });
    expect(await play(session, "hello")).toContain("policy never");
  });

  it("[M3] a refused change is not taken: the next turn has the policy it had", async () => {
    const session = await start();
    await play(session, "hello");
    const change = session.configure({ permission_mode: "bypass", agent_mode: "nonsense" });
    await expect(change).rejects.toMatchObject({ code: "agent_refused" });
    expect(session.view()).toMatchObject({ permission_mode: "default", agent_mode: null });
    expect(await play(session, "hello")).toContain("policy untrusted");
    await session.configure({ agent_mode: "default" });
    expect(await play(session, "hello")).toContain("policy untrusted");
  });

  it("[M3] a mode is not changed in a running turn, which would keep its policy", async () => {
    const session = await start({ permission_mode: "bypass" });
    const { turn_id } = await session.send("slow", [], "queue");
    await until(session, (event) => event.type === "item.completed" && event.data.item.role === "user");
    await expect(session.configure({ permission_mode: "plan" })).rejects.toMatchObject({ code: "session_busy" });
    expect(session.view().permission_mode).toBe("bypass");
    await session.interrupt();
    await turnEnd(session, turn_id);
  });

  it("[M1] accept_edits accepts edits inside the directory, of sub-agents too, and asks for others and for commands", async () => {
    const session = await start({ permission_mode: "accept_edits" });
    expect(await play(session, `edit ${join(dir, "new", "file.txt")}`)).toBe('decision "accept"');
    const resolved = (await eventsOf(session)).find(({ type }) => type === "permission.resolved");
    expect(resolved).toMatchObject({ data: { metadata: { resolved_by: "policy" } } });
    expect(await play(session, `kid ${join(dir, "file.txt")}`)).toBe('decision "accept"');
    for (const text of ["edit /etc/passwd", "kid /etc/passwd", "ask"]) {
      const seen = session.stream.last;
      const { turn_id } = await session.send(text, [], "queue");
      const asked = await until(session, ({ type }) => type === "permission.requested", seen);
      if (asked.type !== "permission.requested") throw new Error("no permission");
      await session.replyPermission(asked.data.permission_id, { reply: "reject" });
      await turnEnd(session, turn_id);
      expect(await lastText(session)).toBe('decision "decline"');
    }
    expect(session.view().permission_mode).toBe("accept_edits");
  });

  it("[M7] /compact is text unless it was chosen", async () => {
    const session = await start();
    expect(await play(session, "/compact")).toContain("turn 1");
  });

  it("[M5] a mode that a rule of Codex would break is refused: the person's in plan, a repository's in all but bypass", async () => {
    mkdirSync(join(dir, "rules"));
    writeFileSync(join(dir, "rules", "default.rules"), 'prefix_rule(pattern = ["touch"], decision = "allow")\n');
    await expect(start({ permission_mode: "plan" })).rejects.toMatchObject({ code: "unsupported" });
    const session = await start();
    await expect(session.configure({ permission_mode: "plan" })).rejects.toMatchObject({ code: "unsupported" });
    mkdirSync(join(dir, ".codex", "rules"), { recursive: true });
    writeFileSync(join(dir, ".codex", "rules", "x.rules"), 'prefix_rule(pattern = ["touch"])\n');
    await expect(start({ trust: "trusted" })).rejects.toMatchObject({ message: expect.stringContaining("x.rules") });
    await expect(start({ trust: "trusted", permission_mode: "bypass" })).resolves.toBeDefined();
    // Codex does not read the rules of a directory that is not trusted.
    await expect(start({ trust: "restricted" })).resolves.toBeDefined();
  });

  it("a rule that asks or forbids widens nothing", () => {
    expect(
      allows('prefix_rule(pattern = ["rm"], decision = "forbidden")\nprefix_rule(\n  pattern = ["git"],\n  decision = "prompt")'),
    ).toBe(false);
    expect(allows('# prefix_rule(pattern = ["rm"])')).toBe(false);
    expect(allows('prefix_rule(pattern = ["rm"], decision = "forbidden")\nprefix_rule(pattern = ["ls"])')).toBe(true);
  });

  it("a session put to rest is resumed by the next message", async () => {
    const session = await start();
    await play(session, "hello");
    await session.rest();
    expect(pids()).toHaveLength(0);
    expect(await play(session, "hello")).toMatch(/^turn 2 /);
  });

  it("a thread that is not there is an error, not a new conversation", async () => {
    const session = await start({ resume_native: "never-was" });
    const { turn_id } = await session.send("hello", [], "queue");
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "error" } });
    expect((await eventsOf(session)).find(({ type }) => type === "error")).toMatchObject({
      data: { message: expect.stringContaining("Create a new session") },
    });
  });

  it("a fork goes on from the history in a thread of its own", async () => {
    const session = await start();
    await play(session, "hello");
    const view = await core.manager.fork(session.session_id, {});
    const fork = await core.manager.get(view.session_id);
    expect(await play(fork, "hello")).toMatch(/^turn 2 /);
    expect(fork.nativeSessionId).not.toBe(session.nativeSessionId);
  });

  it("models come with their efforts, from all pages", async () => {
    const hosted = core.agents.get("codex");
    if (!hosted) throw new Error("no codex");
    expect(await hosted.agent.models?.(hosted.host, { directory: dir, trusted: false })).toMatchObject([
      { id: "fake-1", variants: ["high"], is_default: true },
      { id: "fake-2" },
    ]);
    expect(pids()).toHaveLength(0);
  });

  it("asking for models writes nothing into sessions", async () => {
    const session = await start();
    await play(session, "hello");
    const hosted = core.agents.get("codex");
    await core.log.documents.committed();
    const before = [session.stream.last, session.stream.lastNative];
    await hosted?.agent.models?.(hosted.host, { directory: dir, trusted: false });
    await core.log.documents.committed();
    expect([session.stream.last, session.stream.lastNative]).toEqual(before);
  });
});
