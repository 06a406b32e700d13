import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExitInfo } from "./agent-process.ts";
import { newMark } from "./process-mark.ts";
import { readStartTime } from "./process-table.ts";
import { endStrays, isAlive, noteStrays, PIDS, start, startNode, until, withGrandchild } from "./test-processes.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "transports-"));
});
afterEach(() => {
  endStrays();
  rmSync(dir, { recursive: true, force: true });
});

describe("a child's end", () => {
  it("tells code and stderr once, after all of stdout", async () => {
    const script = `process.stderr.write("why\\n"); process.stdout.write("x".repeat(3_000_000), () => process.exit(3))`;
    const { exited, exits, stdout, child } = startNode(script);
    const exit = await exited;
    expect(exit).toEqual({ code: 3, signal: null, stderr: { head: "why", tail: null, truncated: false, total_lines: 1 } });
    expect(stdout().length).toBe(3_000_000);
    expect(await child.stop(1)).toEqual(exit);
    expect(exits).toHaveLength(1);
  });

  it("tells the signal", async () => {
    const { exited, child, said } = startNode(`console.log("up"); setInterval(() => {}, 1000)`);
    await said(/up/);
    expect(child.kill("SIGINT")).toBe(true);
    expect(await exited).toMatchObject({ code: null, signal: "SIGINT" });
    expect(child.kill("SIGKILL")).toBe(false);
  });

  it("drains a stderr flood that nobody looks at", async () => {
    const { exited } = startNode(`for (let i = 1; i <= 100_000; i++) process.stderr.write("noise " + i + "\\n")`);
    const { stderr } = await exited;
    expect(stderr).toMatchObject({ truncated: true, total_lines: 100_000 });
    expect(stderr.tail?.endsWith("noise 100000")).toBe(true);
  });

  it("passes stderr on line by line", async () => {
    const lines: string[] = [];
    const { exited } = startNode(`process.stderr.write("a\\nb")`, { onStderrLine: (line) => lines.push(line) });
    await exited;
    expect(lines).toEqual(["a", "b"]);
  });
});

describe("the process group", () => {
  it("is its own, with a start time", async () => {
    const { child, exited } = startNode("process.stdin.resume()");
    expect(child.pid).toBeGreaterThan(1);
    expect(child.startTime).not.toBeNull();
    expect(child.startTime).toBe(readStartTime(child.pid ?? 0));
    child.endStdin();
    expect((await exited).code).toBe(0);
  });

  it("is all gone after stop, when grandchildren ignore SIGTERM", async () => {
    const { child, said } = startNode(withGrandchild("setInterval(() => {}, 1000)"));
    const [, leader, inner] = await said(PIDS);
    expect(await child.stop(5_000)).toMatchObject({ signal: "SIGTERM" });
    expect(isAlive(Number(leader))).toBe(false);
    await until(() => !isAlive(Number(inner)));
  });

  it("takes descendants with it that left the group", async () => {
    const { child, said } = startNode(withGrandchild("setInterval(() => {}, 1000)", '{ stdio: "inherit", detached: true }'));
    const [, , inner] = await said(PIDS);
    expect(await child.stop(5_000)).toMatchObject({ signal: "SIGTERM" });
    await until(() => !isAlive(Number(inner)));
  });

  it("is killed when it does not stop within the grace", async () => {
    const { child, said } = startNode(`process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)`);
    await said(/up/);
    expect(await child.stop(30)).toMatchObject({ signal: "SIGKILL" });
  });

  it("is all gone after the leader exits by itself, and its open pipe holds nothing up", async () => {
    const leader = `process.stdin.once("data", () => process.exit(7))`;
    const { child, exited, said, stdout } = startNode(withGrandchild(leader, '{ stdio: ["ignore", "inherit", "inherit"] }'));
    const [, , inner] = await said(PIDS);
    child.write("go");
    expect(await exited).toMatchObject({ code: 7 });
    await until(() => !isAlive(Number(inner)));
    expect(stdout()).toContain("up");
  });

  it("does not wait for ever for a pipe held by a process that nobody can find", async () => {
    // Its parent is dead before anybody looked, and without a recorder it carries no mark.
    const { exited, said } = startNode(
      withGrandchild("process.kill(process.pid, 'SIGKILL')", '{ stdio: "inherit", detached: true }'),
    );
    // It holds the pipe from its first moment; on a busy machine its "up" comes after nobody reads the pipe any more.
    const [, , inner] = await said(/pids (\d+) (\d+)\n/);
    noteStrays(Number(inner));
    expect(await exited).toMatchObject({ signal: "SIGKILL" });
  });
});

describe("stdin", () => {
  it("does not deadlock with a child that floods stdout before it reads", async () => {
    const script = `
      process.stdout.write("o".repeat(20_000_000), () => {
        let read = 0;
        process.stdin.on("data", (chunk) => { read += chunk.length }).on("end", () => console.log("read " + read));
      });`;
    const { child, exited, stdout } = startNode(script);
    const piece = Buffer.alloc(100_000, "i");
    let refusals = 0;
    for (let i = 0; i < 50; i++) {
      if (!child.write(piece)) {
        refusals += 1;
        await child.drained();
      }
    }
    child.endStdin();
    expect((await exited).code).toBe(0);
    expect(refusals).toBeGreaterThan(0);
    expect(stdout().endsWith("read 5000000\n")).toBe(true);
    expect(stdout().length).toBe(20_000_000 + "read 5000000\n".length);
  });

  it("says how much is waiting, and lets writers go when the child dies", async () => {
    const { child, said, exited } = startNode(`console.log("up"); setInterval(() => {}, 1000)`);
    await said(/up/);
    expect(child.write(Buffer.alloc(5_000_000))).toBe(false);
    expect(child.stdinBacklog).toBeGreaterThan(4_000_000);
    const drained = child.drained();
    child.kill("SIGKILL");
    await drained;
    await exited;
    expect(child.write("more")).toBe(false);
    await child.drained();
  });

  it("reports a closed stdin instead of throwing, and the child lives on", async () => {
    let onError: (error: Error) => void = () => {};
    const failed = new Promise<Error>((resolve) => {
      onError = resolve;
    });
    const script = `require("node:fs").closeSync(0); console.log("up"); setInterval(() => {}, 1000)`;
    const { child, said, exits } = startNode(script, { onStdinError: (error) => onError(error) });
    await said(/up/);
    child.write("into the void");
    expect(await failed).toMatchObject({ code: "EPIPE" });
    expect(child.write("again")).toBe(false);
    expect(exits).toEqual([]);
    await child.stop(1_000);
  });
});

describe("back-pressure on stdout", () => {
  it("stops the child when paused, loses nothing, and ends at exit", async () => {
    const script = `
      let done = 0;
      const piece = "p".repeat(65_536);
      const next = () => { done += 1; if (done <= 100) process.stdout.write(piece, next) };
      next();`;
    let bytes = 0;
    let pauses = 0;
    const { child, exited } = startNode(script, {
      onStdout: (chunk) => {
        bytes += chunk.length;
        pauses += 1;
        child.pauseStdout();
        setImmediate(() => child.resumeStdout());
      },
    });
    await exited;
    expect(bytes).toBe(100 * 65_536);
    expect(pauses).toBeGreaterThan(10);
  });

  it("delivers the rest after a child that was paused for good has exited", async () => {
    let text = "";
    let onExit: (exit: ExitInfo) => void = () => {};
    const ended = new Promise<ExitInfo>((resolve) => {
      onExit = resolve;
    });
    const { child } = startNode(`process.stdout.write("kept in the pipe")`, {
      onStdout: (chunk) => {
        text += chunk;
      },
      onExit: (exit) => onExit(exit),
    });
    child.pauseStdout();
    await ended;
    expect(text).toBe("kept in the pipe");
  });
});

describe("a child that cannot start", () => {
  it("was not found", async () => {
    const { failed, child, exits } = start({ command: "no-such-agent-anywhere" });
    expect(child.pid).toBeNull();
    expect(child.write("x")).toBe(false);
    expect(child.kill("SIGTERM")).toBe(false);
    expect(await failed).toMatchObject({ code: "agent_not_found", message: expect.stringContaining("install it") });
    expect(await child.stop(10)).toMatchObject({ code: null, signal: null });
    expect(exits).toEqual([]);
  });

  it("may not be executed", async () => {
    const path = join(dir, "agent");
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, 0o644);
    expect(await start({ command: path }).failed).toMatchObject({ code: "agent_not_executable" });
  });

  it("has no interpreter", async () => {
    const path = join(dir, "agent");
    writeFileSync(path, "#!/no/such/interpreter\n");
    chmodSync(path, 0o755);
    const error = await start({ command: path }).failed;
    expect(error).toMatchObject({ code: "agent_not_executable", message: expect.stringContaining("interpreter") });
  });

  it("has no working directory", async () => {
    const error = await startNode("", { cwd: join(dir, "gone") }).failed;
    expect(error).toMatchObject({ code: "spawn_failed", message: expect.stringContaining("working directory") });
  });

  it("was given arguments that no system takes", async () => {
    expect(await start({ command: process.execPath, args: ["a\0b"] }).failed).toMatchObject({ code: "spawn_failed" });
  });

  it("is killed when it cannot be recorded", async () => {
    const recorder = {
      newMark: () => newMark("0".repeat(32)),
      register: () => {
        throw new Error("disk full");
      },
      noteMembers: () => {},
      release: () => {},
    };
    const { child, failed } = startNode("setInterval(() => {}, 1000)", { recorder });
    expect(await failed).toMatchObject({ code: "spawn_failed", message: expect.stringContaining("disk full") });
    await until(() => !isAlive(child.pid ?? 0));
  });
});
