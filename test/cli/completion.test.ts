// The completion script of bash, as bash runs it: commands, second words, options, and what the daemon knows.
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLI, cleanEnv, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

let dir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dir = temporaryDir("completion");
  for (const name of ["bin", "data", "empty"]) mkdirSync(join(dir, name));
  writeFileSync(join(dir, "bin", "dragoman"), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
  chmodSync(join(dir, "bin", "dragoman"), 0o755);
  daemon = await startDaemonProcess(join(dir, "data"));
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dir);
});

async function completes(...words: string[]): Promise<string[]> {
  const script = `source <(dragoman completion bash)
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _dragoman; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], {
    cwd: join(dir, "empty"),
    env: { ...cleanEnv(dir), PATH: `${join(dir, "bin")}:${process.env.PATH}`, DRAGOMAN_DATA_DIR: join(dir, "data") },
  });
  return stdout.trim().split("\n");
}

describe("completion", () => {
  it("knows commands, second words and options", async () => {
    expect(await completes("dragoman", "att")).toEqual(["attach"]);
    expect(await completes("dragoman", "service", "")).toEqual(["install", "status", "uninstall"]);
    expect(await completes("dragoman", "service", "install", "--dry")).toEqual(["--dry-run"]);
  });

  it("asks the daemon for agents and sessions", async () => {
    const { id } = await daemon.client.createSession({ agent: "mock" });
    expect(await completes("dragoman", "run", "moc")).toEqual(["mock"]);
    expect(await completes("dragoman", "logs", id.slice(0, 4))).toContain(id);
  });
});
