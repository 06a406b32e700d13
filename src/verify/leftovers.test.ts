import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { lingering, processesIn, unexplainedFiles } from "./leftovers.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftovers-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what is left behind", () => {
  it.runIf(process.platform === "linux")("finds a process by its folder and by its environment, until it is gone", async () => {
    const script = "process.stdout.write('up'); process.stdin.resume()";
    const inside = spawn(process.execPath, ["-e", script], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
    const told = spawn(process.execPath, ["-e", script], { env: { HOME: `${folder}/home` }, stdio: ["pipe", "pipe", "ignore"] });
    await Promise.all([once(inside.stdout, "data"), once(told.stdout, "data")]);
    expect(processesIn(folder, "directory").map(({ pid }) => pid)).toEqual([inside.pid]);
    expect(new Set(processesIn(folder, "environment").map(({ pid }) => pid))).toEqual(new Set([inside.pid, told.pid]));
    const exits = [once(inside, "exit"), once(told, "exit")];
    inside.stdin.end();
    told.stdin.end();
    await Promise.all(exits);
    expect(await lingering(folder, "environment", 5_000)).toEqual([]);
  });

  it("names files that the scenario does not mention", () => {
    mkdirSync(join(folder, "deep"));
    writeFileSync(join(folder, "deep", "asked.txt"), "");
    writeFileSync(join(folder, "deep", ".agent-state"), "");
    expect(unexplainedFiles(folder, { prompt: "Write asked.txt, please." })).toEqual(["deep/.agent-state"]);
  });
});
