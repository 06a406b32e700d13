// SKILL.md says what really works: its commands are run in the order they stand there.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tools } from "../../src/mcp/tools.ts";
import { CLI, cleanEnv, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const SKILL = readFileSync(fileURLToPath(new URL("../../SKILL.md", import.meta.url)), "utf8");
let dataDir: string;
let daemon: DaemonProcess;

beforeAll(async () => {
  dataDir = temporaryDir("skill");
  daemon = await startDaemonProcess(dataDir);
});

afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

it("has the frontmatter of a skill", () => {
  const [, head = ""] = /^---\n([\s\S]*?)\n---\n/.exec(SKILL) ?? [];
  expect(head).toMatch(/^name: dragoman$/m);
  expect(/^description: (.+)$/m.exec(head)?.[1]?.length).toBeLessThan(1024);
});

it("runs every command it teaches", async () => {
  const bin = join(dataDir, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "dragoman"), `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(CLI)} "$@"\n`);
  chmodSync(join(bin, "dragoman"), 0o755);
  const script = Array.from(SKILL.matchAll(/```sh\n([\s\S]*?)```/g), ([, block]) => block).join("\n");
  const env = { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const child = spawn("sh", ["-eux", "-c", script], { env, cwd: dataDir });
  let out = "";
  let errors = "";
  child.stdout.on("data", (text: Buffer) => {
    out += text.toString();
  });
  child.stderr.on("data", (text: Buffer) => {
    errors += text.toString();
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code, errors).toBe(0);
  expect(out).toContain("hello");
  expect(out).toContain("It worked.");
  expect(out).toContain("it needs somebody");
  const { sessions } = await daemon.client.sessions();
  expect(sessions.map(({ title }) => title)).not.toContain("my task");
});

it("names every tool of the MCP server, and no other", () => {
  const table = SKILL.slice(SKILL.indexOf("## The same with MCP tools"));
  for (const { name } of tools) expect(table).toContain(`\`${name}\``);
});
