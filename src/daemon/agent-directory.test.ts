// What a question about models costs: how many programs it starts, where, and with what. A program of ours stands in for Claude Code and writes its starts down.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Dragoman } from "../client/dragoman.ts";
import { type Daemon, startDaemon } from "./daemon.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-probe-")));
const starts = join(base, "starts.ndjson");
const repo = join(base, "repo");
let daemon: Daemon;
let operate: Dragoman;
let observe: Dragoman;

const PROGRAM = `#!${process.execPath}
const { appendFileSync } = require("node:fs");
appendFileSync(${JSON.stringify(starts)}, JSON.stringify({ cwd: process.cwd(), args: process.argv.slice(2) }) + "\\n");
if (process.argv.includes("--version")) { console.log("2.1.325 (Claude Code)"); process.exit(0); }
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { request_id } = JSON.parse(line);
  const response = { models: [{ value: "one" }], agents: [{ name: "build" }] };
  console.log(JSON.stringify({ type: "control_response", response: { subtype: "success", request_id, response } }));
});
`;

beforeAll(async () => {
  for (const folder of ["home", "repo/.claude"]) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(repo, ".claude/settings.json"), "{}");
  const command = join(base, "claude.cjs");
  writeFileSync(command, PROGRAM);
  chmodSync(command, 0o755);
  writeFileSync(starts, "");
  daemon = await startDaemon({
    port: 0,
    dataDir: join(base, "data"),
    directory: repo,
    env: { PATH: process.env.PATH, HOME: join(base, "home") },
    config: { agents: { claude: { command } } },
  });
  operate = new Dragoman({ url: daemon.url, token: daemon.token });
  observe = new Dragoman({ url: daemon.url, token: daemon.observeToken ?? "" });
});
afterAll(async () => {
  await daemon.close();
  rmSync(base, { recursive: true, force: true });
});

const started = (): { cwd: string; args: string[] }[] =>
  readFileSync(starts, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { cwd: string; args: string[] });

it("[T5] an observe token starts no program: not for models and modes, not for versions", async () => {
  await expect(observe.models("claude", { directory: repo })).rejects.toMatchObject({ code: "forbidden" });
  await expect(observe.modes("claude", { directory: repo })).rejects.toMatchObject({ code: "forbidden" });
  expect(await observe.agent("claude")).toMatchObject({ installed: true, version: null });
  expect(await observe.agent("mock")).toMatchObject({ installed: true });
  await observe.agents();
  expect(started()).toEqual([]);
});

it("[T5] versions are asked in a directory of the daemon's, and an observe token is then told them", async () => {
  expect(await operate.agent("claude")).toMatchObject({ version: "2.1.325" });
  expect(started()).toEqual([{ cwd: join(base, "data/agents/claude"), args: ["--version"] }]);
  expect(await observe.agent("claude")).toMatchObject({ version: "2.1.325" });
  expect(started()).toHaveLength(1);
});

it("[T5] twelve questions at once start one program, outside of the directory and without its settings", async () => {
  const before = started().length;
  const answers = await Promise.all(Array.from({ length: 12 }, () => operate.models("claude", { directory: repo })));
  expect(answers).toEqual(Array.from({ length: 12 }, () => [{ id: "one" }]));
  await operate.models("claude");
  const [only, ...more] = started().slice(before);
  expect(more).toEqual([]);
  expect(only?.cwd).toBe(join(base, "data/neutral"));
  expect(only?.args).toEqual(expect.arrayContaining(["--setting-sources=user", "--strict-mcp-config"]));
});

it("[T5] a trusted directory is asked with its settings", async () => {
  await operate.trustDirectory(repo);
  const before = started().length;
  expect(await operate.modes("claude", { directory: repo })).toEqual([{ id: "build" }]);
  expect(started().slice(before)).toEqual([{ cwd: repo, args: expect.not.arrayContaining(["--setting-sources=user"]) }]);
  await operate.distrustDirectory(repo);
});

it("[T5] a directory that does not exist is named", async () => {
  await expect(operate.models("claude", { directory: join(base, "none") })).rejects.toMatchObject({
    code: "directory_not_found",
  });
});

it("[T1] directories are trusted, listed and distrusted by operate tokens alone", async () => {
  await expect(observe.trustDirectory(repo)).rejects.toMatchObject({ code: "forbidden" });
  await expect(observe.distrustDirectory(repo)).rejects.toMatchObject({ code: "forbidden" });
  await expect(operate.trustDirectory(join(base, "none"))).rejects.toMatchObject({ code: "directory_not_found" });
  await expect(operate.trustDirectory("repo")).rejects.toMatchObject({ code: "directory_not_found" });
  expect(await operate.trustDirectory(repo)).toMatchObject({ directory: repo, scope: "tree", source: "person" });
  expect(await observe.trustedDirectories()).toMatchObject([{ directory: repo }]);
  await operate.distrustDirectory(repo);
  expect(await operate.trustedDirectories()).toEqual([]);
});
