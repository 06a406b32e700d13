/**
 * The contract of an agent as tests: what holds for every one of them, with a real daemon core and a program that plays the agent's part. An agent in a
 * package of its own passes it too: give it the agent, and a peer whose prompts do what `AgentPeer.prompts` says.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Core, openCore } from "../daemon/core.ts";
import type { PermissionMode } from "../schema/event-data.ts";
import { checkGrammar } from "../schema/grammar.ts";
import type { Session } from "../session/session.ts";
import { eventsOf, play, turnEnd, until } from "../session/test-session.ts";
import type { Agent } from "./contract.ts";

export type AgentPeer = {
  agent: Agent;
  /** `agents.<id>` of the configuration, for a program that plays the agent; files it needs are written into the directory. */
  settings(directory: string): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Ends what `settings` started. */
  close?(): Promise<void>;
  /** Where the agent keeps its sessions and settings. */
  env?(directory: string): Record<string, string>;
  permissionMode?: PermissionMode;
  /** `one_turn`: it leaves by itself when a turn is over. `none`: the agent runs in the daemon. */
  process?: "one_turn" | "none";
  /** What to say so that the program does it. */
  prompts: {
    /** Answers and ends the turn. */
    answer: string;
    /** Works until it is interrupted. */
    hang: string;
    /** Writes something that is no message, then answers. Null: its transport has no lines. */
    garbage: string | null;
    /** Answers with so many deltas. Null: it has none. */
    flood: ((count: number) => string) | null;
    /** Asks for a permission. Null: it cannot. */
    ask: string | null;
  };
};

const DELTAS = 5_000;
const INTERRUPT_MS = 300;
const TIMEOUT_MS = 240_000;

export function agentContract(name: string, peer: AgentPeer): void {
  const { agent, prompts } = peer;

  describe(`the contract of an agent: ${name}`, { timeout: TIMEOUT_MS }, () => {
    let directory: string;
    let cores: Core[];

    const open = async (data: string): Promise<Core> => {
      const core = await openCore({
        dataDir: join(directory, data),
        config: { agents: { [agent.id]: await peer.settings(directory) }, times: { interrupt_ms: INTERRUPT_MS } },
        agents: [agent],
        env: { PATH: process.env.PATH, HOME: directory, ...peer.env?.(directory) },
        defaultDirectory: join(directory, "work"),
        log: () => {},
      });
      cores.push(core);
      return core;
    };

    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), "dragoman-agent-"));
      mkdirSync(join(directory, "work"));
      cores = [];
    });

    afterEach(async () => {
      await Promise.all(cores.map((core) => core.close()));
      await expect.poll(() => pids("data").filter(lives)).toEqual([]);
      await peer.close?.();
      rmSync(directory, { recursive: true, force: true });
    });

    const start = async (core: Core): Promise<Session> => {
      const mode = peer.permissionMode ? { permission_mode: peer.permissionMode } : {};
      return core.manager.get((await core.manager.create({ agent: agent.id, ...mode })).session_id);
    };

    /** The processes the daemon has recorded for this data directory. */
    const pids = (data: string): number[] =>
      readdirSync(join(directory, data, "processes"))
        .filter((file) => file.endsWith(".json"))
        .map((file): number => JSON.parse(readFileSync(join(directory, data, "processes", file), "utf8")).pid);

    const clean = async (session: Session): Promise<void> => expect(checkGrammar(await eventsOf(session))).toEqual([]);
    const stopReason = (event: Awaited<ReturnType<typeof play>>): string =>
      event.type === "turn.ended" ? event.data.stop_reason : event.type;
    const worksAt = (session: Session) => until(session, ({ type }) => type === "turn.started");

    it("goes on with the same native session in a new process", async () => {
      const session = await start(await open("data"));
      expect(stopReason(await play(session, prompts.answer))).toBe("end_turn");
      const before = session.view().native_session_id;
      await session.rest();
      expect(stopReason(await play(session, prompts.answer))).toBe("end_turn");
      expect(before).not.toBeNull();
      expect(session.view().native_session_id).toBe(before);
      await clean(session);
    });

    it("leaves nothing when it is closed in the middle of a turn", async () => {
      const core = await open("data");
      const session = await start(core);
      await session.send(prompts.hang, [], "queue");
      await worksAt(session);
      // A turn begins when its message is sent; the process that works at it may come a moment later.
      if (peer.process !== "none") await expect.poll(() => pids("data").filter(lives)).not.toEqual([]);
      const running = pids("data");
      await session.terminate();
      await clean(session);
      await core.close();
      await expect.poll(() => running.filter(lives)).toEqual([]);
    });

    it("leaves nothing when it is closed as soon as a turn begins", async () => {
      const core = await open("data");
      const session = await start(core);
      await session.send(prompts.hang, [], "queue");
      await worksAt(session);
      await session.terminate();
      await clean(session);
      await core.close();
      await expect.poll(() => pids("data").filter(lives)).toEqual([]);
    });

    it.runIf(prompts.ask !== null)("takes a reply that comes after its end, and goes on with the next message", async () => {
      const session = await start(await open("data"));
      const { turn_id } = await session.send(prompts.ask ?? "", [], "queue");
      const asked = await until(session, ({ type }) => type === "permission.requested");
      const id = asked.type === "permission.requested" ? asked.data.permission_id : "";
      for (const pid of pids("data")) process.kill(pid, "SIGKILL");
      if (peer.process === "none") await session.rest();
      await turnEnd(session, turn_id);
      await expect(session.replyPermission(id, { reply: "once" })).rejects.toMatchObject({ code: expect.any(String) });
      expect(stopReason(await play(session, prompts.answer))).toBe("end_turn");
      await clean(session);
    });

    it.runIf(prompts.garbage !== null)("tells what is no message, and goes on", async () => {
      const session = await start(await open("data"));
      expect(stopReason(await play(session, prompts.garbage ?? ""))).toBe("end_turn");
      const told = (await eventsOf(session)).filter(({ type }) => type === "agent.unparsed" || type === "agent.notice");
      expect(told).not.toEqual([]);
      await clean(session);
    });

    it.runIf(prompts.flood !== null)("loses nothing of a flood, paused and resumed in the middle of it", async () => {
      const session = await start(await open("data"));
      const { turn_id } = await session.send(prompts.flood?.(DELTAS) ?? "", [], "queue");
      await until(session, ({ type }) => type === "item.delta");
      session.setPaused(true);
      setImmediate(() => session.setPaused(false));
      expect(stopReason(await turnEnd(session, turn_id))).toBe("end_turn");
      const events = await eventsOf(session);
      const deltas = events.filter((event) => event.type === "item.delta" && event.source === "agent");
      expect(deltas.length).toBeGreaterThanOrEqual(DELTAS);
      await clean(session);
    });

    it("is interrupted also when it never confirms it", async () => {
      const session = await start(await open("data"));
      const { turn_id } = await session.send(prompts.hang, [], "queue");
      await worksAt(session);
      // From now on it neither reads nor writes, and takes no signal but the last one.
      for (const pid of pids("data")) process.kill(pid, "SIGSTOP");
      void session.interrupt().catch(() => {});
      expect(stopReason(await turnEnd(session, turn_id))).toBe("interrupted");
      await clean(session);
    });

    it("is another instance in another daemon of the same process", async () => {
      const [first, second] = [await open("data"), await open("other")];
      const [one, two] = [await start(first), await start(second)];
      await Promise.all([play(one, prompts.answer), play(two, prompts.answer)]);
      await clean(one);
      const others = pids("other");
      await first.close();
      if (peer.process !== "one_turn") expect(others.filter(lives)).toEqual(others);
      expect(stopReason(await play(two, prompts.answer))).toBe("end_turn");
      await clean(two);
    });
  });
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
