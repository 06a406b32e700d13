/** Whose the commands of our own agent are: they are recognised and ended also when they have dropped everything the daemon gave them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { RunningTask } from "../../../runtime/ports.ts";
import { findOwner, instanceId } from "../../../transports/index.ts";
import type { AgentHost } from "../../contract.ts";
import { CommandProcesses } from "./command-processes.ts";

const linux = process.platform === "linux";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function commandsOf(session: string) {
  const processDir = mkdtempSync(join(tmpdir(), "dragoman-commands-"));
  cleanups.push(() => rmSync(processDir, { recursive: true, force: true }));
  const own = { DRAGOMAN_AGENT: "responses", DRAGOMAN_SESSION_ID: session };
  const host = { processDir, environment: (extra: object) => ({ PATH: process.env.PATH ?? "", ...extra, ...own }) };
  const processes = new CommandProcesses(host as unknown as AgentHost, {});
  cleanups.push(() => processes.end());
  let ids = 0;
  const watch = { started() {}, output() {}, ended() {} };
  const tasks = processes.tasks(async (argv) => argv, { next: () => `task_${++ids}` }, watch);
  return { processes, tasks, instance: instanceId(processDir) };
}

/** The pid that the command printed. */
async function printed(task: RunningTask): Promise<number> {
  await expect.poll(() => task.output().text).toMatch(/^\d+\n/);
  return Number(task.output().text.split("\n")[0]);
}

const isThere = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

describe.runIf(linux)("a command that dropped its environment", () => {
  /** No mark, and in a group of its own below a shell that has none either. */
  const command = "exec env -i PATH=$PATH bash -c 'setsid sh -c \"echo \\$\\$; exec sleep 300\" & wait'";

  it("[A2] is still the agent's, be it the first or a later one", async () => {
    const { tasks, instance } = commandsOf("ses_1");
    for (const _ of ["first", "second"]) {
      const pid = await printed(await tasks.start({ command, cwd: "/", title: "hides" }));
      expect(findOwner(pid, instance)).toEqual({ agent: "responses", session_id: "ses_1", known_by: "descent" });
    }
    expect(findOwner(process.pid, instance)).toBeNull();
    await tasks.close();
  });

  it("[S6] is ended with its session, be it the first or a later one", async () => {
    const { tasks, processes } = commandsOf("ses_2");
    const pids = [];
    for (const _ of ["first", "second"]) pids.push(await printed(await tasks.start({ command, cwd: "/", title: "hides" })));
    expect(pids.map(isThere)).toEqual([true, true]);
    await processes.end();
    expect(pids.map(isThere)).toEqual([false, false]);
    await tasks.close();
  });
});
