import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { formatMark, PROCESS_MARK_VARIABLE } from "./process-mark.ts";
import { readStartTime } from "./process-table.ts";
import { ProcessRegistry, reapOrphans } from "./reaper.ts";
import { endStrays, isAlive, noteStrays, PIDS, startNode, until, withGrandchild } from "./test-processes.ts";

let root: string;
let room: string;
let dir: string;

/** A helper daemon is a process of its own, so it needs this room as plain JavaScript. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "reaper-"));
  await build({
    configFile: false,
    logLevel: "silent",
    build: { ssr: join(import.meta.dirname, "index.ts"), outDir: join(root, "room"), emptyOutDir: true },
    ssr: { noExternal: true },
  });
  const file = readdirSync(join(root, "room")).find((name) => /\.m?js$/.test(name)) ?? "index.js";
  writeFileSync(join(root, "room", "package.json"), '{"type":"module"}');
  room = pathToFileURL(join(root, "room", file)).href;
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

beforeEach(() => {
  vi.stubEnv("DRAGOMAN_NO_CGROUP", "1");
  dir = mkdtempSync(join(root, "records-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  endStrays();
});

/** The files in the records' folder, without the instance's id. */
const records = (): string[] => readdirSync(dir).filter((name) => name !== "instance");

/** Starts a daemon that owns one agent, and reports the pids of agent and grandchild. */
async function startDaemon(agentScript: string): Promise<{ daemon: ChildProcess; agent: number; inner: number }> {
  const program = `
    import { ProcessRegistry, spawnAgent } from ${JSON.stringify(room)};
    spawnAgent({
      command: process.execPath, args: ["-e", ${JSON.stringify(agentScript)}],
      recorder: new ProcessRegistry(${JSON.stringify(dir)}),
      onStdout: (chunk) => process.stdout.write(chunk), onExit: () => {}, onSpawnError: (error) => { throw error },
    });
    setInterval(() => {}, 1000);`;
  const daemon = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  const [agent, inner] = await new Promise<[number, number]>((resolve) => {
    daemon.stdout.on("data", (chunk) => {
      text += chunk;
      const match = PIDS.exec(text);
      if (match !== null) resolve([Number(match[1]), Number(match[2])]);
    });
  });
  noteStrays(agent, inner);
  return { daemon, agent, inner };
}

async function killNow(daemon: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => daemon.once("exit", resolve));
  daemon.kill("SIGKILL");
  await gone;
}

const STUBBORN = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`;

describe("after kill -9 of the daemon", () => {
  it("the next one reaps agent and grandchild", async () => {
    const { daemon, agent, inner } = await startDaemon(withGrandchild(STUBBORN));
    await killNow(daemon);
    expect([isAlive(agent), isAlive(inner)]).toEqual([true, true]);
    expect(await reapOrphans(dir, { graceMs: 50 })).toEqual([{ pid: agent, command: process.execPath, outcome: "killed" }]);
    expect([isAlive(agent), isAlive(inner)]).toEqual([false, false]);
    expect(records()).toEqual([]);
  });

  it("the next one reaps a descendant that left the group", async () => {
    const { daemon, agent, inner } = await startDaemon(withGrandchild(STUBBORN, '{ stdio: "inherit", detached: true }'));
    await killNow(daemon);
    expect(await reapOrphans(dir, { graceMs: 50 })).toMatchObject([{ pid: agent, outcome: "killed" }]);
    expect([isAlive(agent), isAlive(inner)]).toEqual([false, false]);
  });

  it("the next one reaps a grandchild whose leader is dead", async () => {
    const { daemon, agent, inner } = await startDaemon(withGrandchild(STUBBORN));
    await killNow(daemon);
    process.kill(agent, "SIGKILL");
    await until(() => !isAlive(agent));
    expect(isAlive(inner)).toBe(true);
    expect(await reapOrphans(dir, { graceMs: 50 })).toMatchObject([{ pid: agent, outcome: "killed" }]);
    expect(isAlive(inner)).toBe(false);
  });

  it("a record whose rename was cut off counts", async () => {
    const { daemon, agent, inner } = await startDaemon(withGrandchild(STUBBORN));
    await killNow(daemon);
    const record = readFileSync(join(dir, `${agent}.json`));
    rmSync(join(dir, `${agent}.json`));
    writeFileSync(join(dir, `${agent}.json.tmp`), record);
    expect(await reapOrphans(dir, { graceMs: 50 })).toMatchObject([{ pid: agent, outcome: "killed" }]);
    expect([isAlive(agent), isAlive(inner)]).toEqual([false, false]);
    expect(records()).toEqual([]);
  });
});

describe("reapOrphans", () => {
  const record = (pid: number, fields: Record<string, unknown>) =>
    writeFileSync(
      join(dir, `${pid}.json`),
      JSON.stringify({ pid, start_time: "x", command: "agent", owner_pid: 999_999_999, owner_start_time: "x", ...fields }),
    );

  it("does not touch a recycled pid", async () => {
    const { child, said } = startNode(withGrandchild("setInterval(() => {}, 1000)"));
    const [, leader, inner] = await said(PIDS);
    const [bootId, ticks] = (child.startTime ?? "").split("/");
    record(Number(leader), { start_time: `${bootId}/${Number(ticks) - 1}` });
    expect(await reapOrphans(dir, { graceMs: 50 })).toMatchObject([{ pid: Number(leader), outcome: "recycled" }]);
    expect([isAlive(Number(leader)), isAlive(Number(inner))]).toEqual([true, true]);
    expect(records()).toEqual([]);
    await child.stop(0);
  });

  it("ends what only its mark names: its daemon was killed before it could be recorded", async () => {
    const env = { ...process.env, [PROCESS_MARK_VARIABLE]: formatMark(new ProcessRegistry(dir).newMark()) };
    const elsewhere = { instance: "0".repeat(32), record: "1".repeat(32) };
    const [ours, stranger] = [
      startNode(withGrandchild("setInterval(() => {}, 1000)"), { env }),
      startNode(`console.log("up"); setInterval(() => {}, 1000)`, {
        env: { ...process.env, [PROCESS_MARK_VARIABLE]: formatMark(elsewhere) },
      }),
    ];
    const [, leader, inner] = await ours.said(PIDS);
    await stranger.said(/up/);
    expect(await reapOrphans(dir, { graceMs: 50 })).toEqual([{ pid: Number(leader), command: null, outcome: "killed" }]);
    expect([isAlive(Number(leader)), isAlive(Number(inner)), isAlive(stranger.child.pid ?? 0)]).toEqual([false, false, true]);
    await stranger.child.stop(0);
  });

  it("leaves what has no record yet to a daemon that lives", async () => {
    const registry = new ProcessRegistry(dir);
    const { child, said } = startNode(`console.log("up"); setInterval(() => {}, 1000)`, { recorder: registry });
    const fresh = startNode(`console.log("up"); setInterval(() => {}, 1000)`, {
      env: { ...process.env, [PROCESS_MARK_VARIABLE]: formatMark(registry.newMark()) },
    });
    await Promise.all([said(/up/), fresh.said(/up/)]);
    expect(await reapOrphans(dir)).toMatchObject([{ pid: child.pid, outcome: "owner_alive" }]);
    expect(isAlive(fresh.child.pid ?? 0)).toBe(true);
    await Promise.all([child.stop(1_000), fresh.child.stop(1_000)]);
  });

  it("does not touch what a living daemon owns", async () => {
    const registry = new ProcessRegistry(dir);
    const { child, said } = startNode(`console.log("up"); setInterval(() => {}, 1000)`, { recorder: registry });
    await said(/up/);
    expect(await reapOrphans(dir)).toMatchObject([{ pid: child.pid, outcome: "owner_alive" }]);
    expect(isAlive(child.pid ?? 0)).toBe(true);
    expect(existsSync(join(dir, `${child.pid}.json`))).toBe(true);
    await child.stop(1_000);
  });

  it("removes records of what is gone and files that are none, and leaves strangers' files", async () => {
    record(999_999_998, {});
    writeFileSync(join(dir, "123.json"), "{ not json");
    writeFileSync(
      join(dir, "124.json"),
      JSON.stringify({ pid: 1, start_time: "x", command: "init", owner_pid: 2, owner_start_time: null }),
    );
    writeFileSync(
      join(dir, "125.json"),
      JSON.stringify({ pid: process.pid, start_time: readStartTime(process.pid), command: "me" }),
    );
    writeFileSync(join(dir, "package.json"), "{}");
    const outcomes = (await reapOrphans(dir)).map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual(["already_gone", "corrupt", "corrupt", "corrupt"]);
    expect(records()).toEqual(["package.json"]);
  });

  it("is content with a directory that does not exist", async () => {
    expect(await reapOrphans(join(dir, "none"))).toEqual([]);
  });
});

describe("ProcessRegistry", () => {
  it("keeps a private record while the process lives, without its arguments", async () => {
    const registry = new ProcessRegistry(join(dir, "made"));
    const { child, said } = startNode(`console.log("up"); setInterval(() => {}, 1000)`, { recorder: registry });
    const path = join(dir, "made", `${child.pid}.json`);
    await said(/up/);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      pid: child.pid,
      start_time: child.startTime,
      command: process.execPath,
      mark: expect.stringMatching(/^[0-9a-f]{32}$/),
      cgroup: null,
      members: [],
      owner_pid: process.pid,
      owner_start_time: readStartTime(process.pid),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await child.stop(1_000);
    expect(existsSync(path)).toBe(false);
  });
});
