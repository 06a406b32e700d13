// examples/ci-bot.ts, compiled and run as in CI, against a real daemon.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let dir: string;
let daemon: DaemonProcess;

function start(program: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, program, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir, ...env } });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, out })));
}

beforeAll(async () => {
  dir = temporaryDir("ci-bot");
  for (const name of ["node_modules", "data"]) mkdirSync(join(dir, name));
  symlinkSync(root, join(dir, "node_modules", "dragoman"));
  symlinkSync(join(root, "node_modules", "@types"), join(dir, "node_modules", "@types"));
  symlinkSync(join(root, "examples", "ci-bot.ts"), join(dir, "ci-bot.ts"));
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  const options = {
    strict: true,
    target: "es2023",
    module: "nodenext",
    types: ["node"],
    skipLibCheck: true,
    preserveSymlinks: true,
  };
  writeFileSync(
    join(dir, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, outDir: "out" }, files: ["ci-bot.ts"] }),
  );
  const compiled = await start([join(root, "node_modules/typescript/bin/tsc"), "-p", dir]);
  expect(compiled).toEqual({ code: 0, out: "" });
  daemon = await startDaemonProcess(join(dir, "data"));
});
afterAll(async () => {
  await daemon?.kill("SIGTERM");
  removeDir(dir);
});

const bot = (words: string[], env: NodeJS.ProcessEnv = {}) =>
  start([join(dir, "out", "ci-bot.js"), ...words], { DRAGOMAN_URL: daemon.url, DRAGOMAN_TOKEN: daemon.token, ...env });

describe("examples/ci-bot.ts", () => {
  it("prints the answer and a summary", async () => {
    const { code, out } = await bot(["mock", dir, "say", "All is well."]);
    expect(out).toContain("All is well.");
    expect(out).toContain("mock: end_turn, 0 tool calls");
    expect(code).toBe(0);
  });

  it("denies what does not read, and says so", async () => {
    const { code, out } = await bot(["mock", dir, "ask rm x"]);
    expect(out).toContain("You said no: Only reading is allowed here.");
    expect(out).toContain("denied: Run: rm x");
    expect(code).toBe(3);
  });

  it("allows the kinds it is told to", async () => {
    const { code, out } = await bot(["mock", dir, "ask ls"], { ALLOW: "read,shell" });
    expect(out).toContain("I ran it (once)");
    expect(code).toBe(0);
  });

  it("fails with the turn, and on a wrong call", async () => {
    expect((await bot(["mock", dir, "error rate_limit"])).code).toBe(1);
    expect((await bot(["mock"])).code).toBe(2);
  });
});
