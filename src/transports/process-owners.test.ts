import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatMark, instanceId, readMark } from "./process-mark.ts";
import { AGENT_VARIABLE, findOwner, ownerOfMark, SESSION_VARIABLE } from "./process-owners.ts";
import { ProcessRegistry } from "./reaper.ts";
import { endStrays, noteStrays, startNode } from "./test-processes.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "process-owners-"));
});
afterEach(() => {
  endStrays();
  rmSync(dir, { recursive: true, force: true });
});

const env = { PATH: process.env.PATH, [AGENT_VARIABLE]: "claude", [SESSION_VARIABLE]: "sess_1" };

/** Starts an agent that runs the shell command, which prints the pid it is about. */
async function started(command: string) {
  const script = `
    const { execFileSync } = require("node:child_process");
    console.log("pid " + execFileSync("sh", ["-c", ${JSON.stringify(command)}]).toString().trim());
    process.stdin.resume();`;
  const { child, said } = startNode(script, { recorder: new ProcessRegistry(dir), env });
  const pid = Number((await said(/pid (\d+)/))[1]);
  noteStrays(pid);
  return { child, pid };
}

describe("for whom a process runs", () => {
  it("is known of the process itself, and of nobody else's", async () => {
    const { child } = await started("echo 1");
    const owner = { agent: "claude", session_id: "sess_1", known_by: "descent" };
    expect(findOwner(child.pid ?? 0, instanceId(dir))).toEqual(owner);
    expect(findOwner(child.pid ?? 0, "0".repeat(32))).toBeNull();
    expect(findOwner(process.pid, instanceId(dir))).toBeNull();
    expect(findOwner(1, instanceId(dir))).toBeNull();
    await child.stop(1_000);
  });

  it("is known by descent when the environment was cleared, and also later, if it was seen then", async () => {
    const recorder = new ProcessRegistry(dir);
    const seen = new Promise<void>((resolve) => {
      const note = recorder.noteMembers.bind(recorder);
      recorder.noteMembers = (pid, members) => {
        note(pid, members);
        if (members.length > 1) resolve();
      };
    });
    const script = `
      const { spawn } = require("node:child_process");
      const shell = spawn("/bin/sh", ["-c", "sleep 300 >/dev/null 2>&1 & echo $!; read line"], { env: {}, detached: true });
      shell.stdout.on("data", (text) => console.log("pid " + text));
      shell.on("exit", () => console.log("left"));
      process.stdin.on("data", () => shell.stdin.end("go\\n"));`;
    const { child, said } = startNode(script, { recorder, env });
    const pid = Number((await said(/pid (\d+)/))[1]);
    noteStrays(pid);
    expect(findOwner(pid, instanceId(dir))).toMatchObject({ session_id: "sess_1", known_by: "descent" });
    await seen;
    child.write("leave\n");
    await said(/left/);
    expect(findOwner(pid, instanceId(dir))).toMatchObject({ session_id: "sess_1", known_by: "descent" });
    await child.stop(1_000);
  });

  it("is known by its mark when it has no parent any more", async () => {
    const { child, pid } = await started("setsid sh -c 'sleep 300 >/dev/null 2>&1 & echo $!'");
    expect(findOwner(pid, instanceId(dir))).toMatchObject({ agent: "claude", session_id: "sess_1" });
    const mark = readMark(pid);
    expect(mark && ownerOfMark(formatMark(mark), instanceId(dir))).toMatchObject({ session_id: "sess_1", known_by: "mark" });
    expect(ownerOfMark("nonsense", instanceId(dir))).toBeNull();
    await child.stop(1_000);
  });
});
