import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { enterCgroup, removeCgroup } from "./cgroup.ts";
import { PROCESS_MARK_VARIABLE } from "./process-mark.ts";
import { ProcessRegistry, reapOrphans } from "./reaper.ts";
import { endStrays, isAlive, noteStrays, type Started, start, until } from "./test-processes.ts";

let root: string;
let room: string;
let dir: string;

/** A daemon that is killed is a process of its own, so it needs this room as plain JavaScript. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "family-"));
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
  dir = mkdtempSync(join(root, "records-"));
  vi.stubEnv("DRAGOMAN_NO_CGROUP", "1");
});
afterEach(() => {
  vi.unstubAllEnvs();
  endStrays();
});

/** An agent in a shell: does what it is asked to do on stdin and ends with it. */
const AGENT = 'while read -r line; do eval "$line"; done';
/** Commands of a model that leave the group, each writing its pid. */
const ESCAPES = {
  setsid: 'setsid sh -c "echo escaped \\$\\$; exec sleep 300 >/dev/null 2>&1 </dev/null" &',
  "setsid with a second fork":
    "setsid sh -c \"(echo escaped \\$(exec sh -c 'echo \\$PPID'); exec sleep 300 >/dev/null 2>&1 </dev/null) &\"",
  "nohup in a session of its own":
    'nohup setsid sh -c "echo escaped \\$\\$; exec sleep 300 >/dev/null 2>&1 </dev/null" 2>/dev/null &',
  "deaf to SIGTERM": `setsid sh -c 'trap "" TERM; echo escaped $$; exec sleep 300 >/dev/null 2>&1 </dev/null' &`,
};
const UNMARKED = `env -u ${PROCESS_MARK_VARIABLE} setsid sh -c "echo escaped \\$\\$; exec sleep 300 >/dev/null 2>&1 </dev/null" &`;

async function runEscape(agent: Started, command: string): Promise<number> {
  agent.child.write(`${command}\n`);
  const pid = Number((await agent.said(/escaped (\d+)\n/))[1]);
  noteStrays(pid);
  return pid;
}

const startAgent = (): Started => start({ command: "sh", args: ["-c", AGENT], recorder: new ProcessRegistry(dir) });
const records = (): string[] => readdirSync(dir).filter((name) => name !== "instance");

describe.each(Object.entries(ESCAPES))("a command that left its agent's group (%s)", (_, command) => {
  it("[S6] is gone when stop resolves", async () => {
    const agent = startAgent();
    const pid = await runEscape(agent, command);
    await agent.child.stop(2_000);
    expect(isAlive(pid)).toBe(false);
    expect(records()).toEqual([]);
  });

  it("[S6] is gone when the agent was killed with -9", async () => {
    const agent = startAgent();
    const pid = await runEscape(agent, command);
    process.kill(agent.child.pid ?? 0, "SIGKILL");
    expect(await agent.exited).toMatchObject({ signal: "SIGKILL" });
    expect(isAlive(pid)).toBe(false);
  });

  it("is gone when the agent ended by itself at the end of its input", async () => {
    const agent = startAgent();
    const pid = await runEscape(agent, command);
    agent.child.endStdin();
    expect(await agent.exited).toMatchObject({ code: 0 });
    expect(isAlive(pid)).toBe(false);
  });

  it("can be ended before the agent is, which lives on", async () => {
    const agent = startAgent();
    const pid = await runEscape(agent, command);
    await agent.child.endDescendants();
    expect(isAlive(pid)).toBe(false);
    expect(isAlive(agent.child.pid ?? 0)).toBe(true);
    await agent.child.stop(2_000);
  });

  it("[S6] is ended by the next start when daemon and agent were killed with -9", async () => {
    const { daemon, agent, escaped } = await startDaemon(command);
    await killNow(daemon);
    process.kill(agent, "SIGKILL");
    await until(() => !isAlive(agent));
    expect(isAlive(escaped)).toBe(true);
    expect(await reapOrphans(dir, { graceMs: 50 })).toMatchObject([{ pid: agent, outcome: "killed" }]);
    expect(isAlive(escaped)).toBe(false);
    expect(records()).toEqual([]);
  });
});

describe("commands of an agent that serves several directories", () => {
  it("are ended by where they work, and those of the others live on", async () => {
    const agent = startAgent();
    const [one, other] = [mkdtempSync(join(root, "one-")), mkdtempSync(join(root, "one-"))];
    const inside = await runEscape(agent, `mkdir -p ${one}/below; cd ${one}/below; ${ESCAPES.setsid}`);
    agent.child.write(`cd ${other}; ${ESCAPES.setsid.replace("escaped", "beside")}\n`);
    const beside = Number((await agent.said(/beside (\d+)\n/))[1]);
    noteStrays(beside);
    await agent.child.endDescendants({ directory: one });
    expect([isAlive(inside), isAlive(beside), isAlive(agent.child.pid ?? 0)]).toEqual([false, true, true]);
    await agent.child.stop(2_000);
    expect(isAlive(beside)).toBe(false);
  });
});

describe("a command that left the group and dropped its mark", () => {
  it("is gone after a kill -9 of its agent, once it was seen", async () => {
    const agent = startAgent();
    const pid = await runEscape(agent, UNMARKED);
    await until(() => readFileSync(join(dir, `${agent.child.pid}.json`), "utf8").includes(`"pid":${pid},`));
    process.kill(agent.child.pid ?? 0, "SIGKILL");
    await agent.exited;
    expect(isAlive(pid)).toBe(false);
  });

  it("is ended by the next start, once it was seen", async () => {
    const { daemon, agent, escaped } = await startDaemon(UNMARKED);
    await until(() => readFileSync(join(dir, `${agent}.json`), "utf8").includes(`"pid":${escaped},`));
    await killNow(daemon);
    process.kill(agent, "SIGKILL");
    await until(() => !isAlive(agent));
    await reapOrphans(dir, { graceMs: 50 });
    expect(isAlive(escaped)).toBe(false);
  });

  it.runIf(cgroupsWork())("is gone whether it was seen or not, where control groups can be made", async () => {
    vi.unstubAllEnvs();
    const agent = startAgent();
    const twice = `env -u ${PROCESS_MARK_VARIABLE} setsid -f sh -c "echo escaped \\$\\$; exec sleep 300 >/dev/null 2>&1 </dev/null"`;
    const pid = await runEscape(agent, twice);
    const { cgroup } = JSON.parse(readFileSync(join(dir, `${agent.child.pid}.json`), "utf8"));
    process.kill(agent.child.pid ?? 0, "SIGKILL");
    await agent.exited;
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(cgroup)).toBe(false);
  });
});

/** A registry that comes too late: the process has long run when it is put into its group. */
class LateRegistry extends ProcessRegistry {
  readonly #escaped: string;
  constructor(escaped: string) {
    super(dir);
    this.#escaped = escaped;
  }
  override register(...child: Parameters<ProcessRegistry["register"]>): ReturnType<ProcessRegistry["register"]> {
    while (!existsSync(this.#escaped) || readFileSync(this.#escaped, "utf8") === "");
    return super.register(...child);
  }
}

describe.runIf(cgroupsWork())("what leaves at once, without its mark and its parent", () => {
  it("[S6] is gone when stop resolves, because it was born in the control group", async () => {
    vi.unstubAllEnvs();
    const file = join(dir, "escaped.pid");
    const leave = `env -i setsid -f sh -c 'echo $$ > ${file}; exec sleep 300 >/dev/null 2>&1 </dev/null'`;
    const agent = start({
      command: "/bin/sh",
      args: ["-c", `${leave}; sleep 300`],
      recorder: new LateRegistry(file),
      entersGroup: true,
    });
    const pid = Number(readFileSync(file, "utf8"));
    noteStrays(pid);
    expect(isAlive(pid)).toBe(true);
    await agent.child.stop(2_000);
    expect(isAlive(pid)).toBe(false);
  });
});

describe("what is not of the family", () => {
  it("lives on: strangers, other agents, and what they started", async () => {
    const [one, other] = [startAgent(), startAgent()];
    const stranger = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
    noteStrays(stranger.pid ?? 0);
    const [mine, theirs] = await Promise.all([runEscape(one, ESCAPES.setsid), runEscape(other, ESCAPES.setsid)]);
    await one.child.stop(2_000);
    expect([mine, theirs, other.child.pid ?? 0, stranger.pid ?? 0].map(isAlive)).toEqual([false, true, true, true]);
    await other.child.stop(2_000);
    expect([theirs, stranger.pid ?? 0].map(isAlive)).toEqual([false, true]);
  });
});

describe("a daemon that exits without a word", () => {
  it("takes its agents and their commands with it", async () => {
    const { daemon, agent, escaped } = await startDaemon(ESCAPES.setsid);
    const gone = new Promise((resolve) => daemon.once("exit", resolve));
    daemon.stdin?.end();
    await gone;
    await until(() => !isAlive(agent) && !isAlive(escaped));
  });
});

/** A daemon with one agent that has run the command. It exits at the end of its input. */
async function startDaemon(command: string): Promise<{ daemon: ChildProcess; agent: number; escaped: number }> {
  const program = `
    import { ProcessRegistry, spawnAgent } from ${JSON.stringify(room)};
    const agent = spawnAgent({
      command: "sh", args: ["-c", ${JSON.stringify(AGENT)}], recorder: new ProcessRegistry(${JSON.stringify(dir)}),
      onStdout: (chunk) => process.stdout.write(chunk), onExit: () => {}, onSpawnError: (error) => { throw error },
    });
    agent.write(${JSON.stringify(`echo agent $$\n${command}\n`)});
    process.stdin.resume().on("end", () => process.exit(3));`;
  const daemon = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  const [agent, escaped] = await new Promise<[number, number]>((resolve) => {
    daemon.stdout.on("data", (chunk) => {
      text += chunk;
      const pids = [/agent (\d+)\n/, /escaped (\d+)\n/].map((pattern) => Number(pattern.exec(text)?.[1] ?? 0));
      if (pids[0] && pids[1]) resolve([pids[0], pids[1]]);
    });
  });
  noteStrays(agent, escaped);
  return { daemon, agent, escaped };
}

async function killNow(daemon: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => daemon.once("exit", resolve));
  daemon.kill("SIGKILL");
  await gone;
}

function cgroupsWork(): boolean {
  const probe = spawn("sleep", ["1"], { stdio: "ignore" });
  const path = enterCgroup("f".repeat(32), probe.pid ?? 0);
  if (path !== null) probe.once("exit", () => removeCgroup(path));
  probe.kill("SIGKILL");
  return path !== null;
}
