// start(): a daemon of one's own, from its first answer to its end.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { connect, start } from "../../src/client/index.ts";
import { cleanEnv, removeDir, temporaryDir } from "../daemon-process.ts";

const CLIENT = fileURLToPath(new URL("../../dist/client/index.js", import.meta.url));
const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it("runs a daemon in a directory of its own, and leaves nothing behind", async () => {
  const home = temporaryDir("start");
  const { daemon, pid, dataDir, stop } = await start({ env: cleanEnv(home), directory: home });
  const session = await daemon.createSession({ agent: "mock" });
  expect((await session.prompt("say hello")).text).toBe("hello");
  expect((await session.get()).directory).toBe(home);
  await Promise.all([stop(), stop()]);
  expect([alive(pid), existsSync(dataDir)]).toEqual([false, false]);
  removeDir(home);
});

it("keeps a directory it was given, lets connect() find the daemon, and stops with a signal", async () => {
  const dataDir = temporaryDir("kept");
  const control = new AbortController();
  const { pid, url } = await start({ dataDir, env: cleanEnv(dataDir), signal: control.signal });
  const found = await connect({ dataDir });
  expect(found.url).toBe(url);
  expect((await found.whoAmI()).role).toBe("admin");
  control.abort();
  await vi.waitFor(() => expect(alive(pid)).toBe(false), { timeout: 120_000 });
  expect(existsSync(dataDir)).toBe(true);
  await expect(connect({ dataDir })).rejects.toMatchObject({ code: "no_daemon" });
  removeDir(dataDir);
});

it("tells why a daemon could not start", async () => {
  const dataDir = temporaryDir("broken");
  await expect(start({ dataDir, env: cleanEnv(dataDir), config: dataDir })).rejects.toMatchObject({ code: "no_daemon" });
  await expect(start({ dataDir, command: ["/nowhere/node"] })).rejects.toMatchObject({ code: "no_daemon" });
  removeDir(dataDir);
});

it("ends the daemon even when the program that started it is killed", async () => {
  const dataDir = temporaryDir("orphan");
  const program = `import { start } from ${JSON.stringify(CLIENT)};
    const { pid } = await start({ dataDir: process.argv[1] });
    console.log(pid);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, dataDir], { env: cleanEnv(dataDir) });
  const pid = await new Promise<number>((resolve, reject) => {
    child.stdout.once("data", (line: Buffer) => resolve(Number(line)));
    child.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
  expect(alive(pid)).toBe(true);
  child.kill("SIGKILL");
  await vi.waitFor(() => expect(alive(pid)).toBe(false), { timeout: 120_000 });
  removeDir(dataDir);
});
