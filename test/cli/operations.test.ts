// Everything the API can do is reachable from the command line: each operation of /openapi.json has a command here, and the commands do it.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { CLI, cleanEnv, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { runProgram } from "./run-program.ts";

/** Null: made for browsers, and its effect has a command all the same. */
const REACHED: Record<string, string | null> = {
  health: "status",
  ready: "status",
  metrics: "metrics",
  openApi: "openapi",
  whoAmI: "token show",
  mintToken: "token mint",
  revokeToken: "token revoke",
  listTokens: "token ls",
  listAudit: "audit",
  search: "search",
  makeLink: "open",
  tradeToken: null,
  shareSession: null,
  listDirectories: null,
  renewToken: null,
  endToken: null,
  openSocket: null,
  listAgents: "agents",
  getAgent: "agents",
  installAgent: "agents install",
  listTrust: "trust",
  trustDirectory: "trust",
  distrustDirectory: "trust",
  getVerifyReport: "agents report",
  listModels: "models",
  listModes: "modes",
  createSession: "create",
  listSessions: "ls",
  getSession: "show",
  getDirectorySettings: "show",
  updateSession: "set",
  deleteSession: "rm",
  interruptSession: "interrupt",
  resumeSession: "resume",
  terminateSession: "stop",
  forkSession: "fork",
  exportSession: "export",
  importSession: "import",
  pruneSessions: "prune",
  sendMessage: "send",
  sendMessageStream: "run",
  listEvents: "logs",
  streamEvents: "logs",
  streamAllEvents: "events",
  listPending: "pending",
  replyPermission: "allow",
  replyQuestion: "answer",
  rejectQuestion: "answer",
  getCoverage: "coverage",
  readNative: "native",
  listItems: "items",
  getSnapshot: "snapshot",
  listSkills: "skills ls",
  listCheckpoints: "checkpoint ls",
  takeCheckpoint: "checkpoint take",
  diffCheckpoint: "checkpoint diff",
  rewindCheckpoint: "checkpoint rewind",
  listChanges: "changes",
  listQueue: "queue",
  updateQueued: "queue edit",
  removeQueued: "queue rm",
  sendQueued: "queue send",
  readArtifact: "artifact get",
  listArtifacts: "artifact ls",
  listSessionArtifacts: "artifact ls",
  previewArtifact: "artifact show",
  startTask: "task run",
  startSessionTask: "task run",
  listTasks: "task ls",
  listSessionTasks: "task ls",
  getTask: "task show",
  getTaskScreen: "task show",
  deleteTask: "task rm",
  listTaskEvents: "task logs",
  streamTaskEvents: "task logs",
  readTaskOutput: "task logs",
  openTaskSocket: "task attach",
  writeTask: "task attach",
  resizeTask: "task attach",
  signalTask: "task stop",
  cancelTask: "task stop",
  listFiles: "files ls",
  statFile: "files ls",
  readFile: "files cat",
  writeFile: "files write",
  makeDirectory: "files mkdir",
  moveFile: "files mv",
  // For pages that show several daemons.
  listDaemons: null,
  listNodes: "nodes ls",
  watchNodes: "nodes ls",
  getNode: "nodes ls",
  drainNode: "nodes drain",
  fenceNode: "nodes fence",
  moveSession: "move",
  deleteFile: "files rm",
  searchFiles: "files search",
  completePath: null,
  watchFiles: "files watch",
  getGitStatus: "files status",
  getGitDiff: "files diff",
};

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("operations");
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const env = () => ({ ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir });
const run = (...args: string[]) => runProgram(args, env());
const json = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { out, err, code } = await run(...args, "--json");
  if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`);
  return JSON.parse(out.split("\n")[0] ?? "") as Record<string, unknown>;
};

describe("the command line", { timeout: 240_000 }, () => {
  it("has a command for every operation of the API", async () => {
    const { paths } = (await daemon.client.http.json("GET", "/openapi.json")) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const operations = Object.values(paths).flatMap((path) =>
      Object.values(path).flatMap(({ operationId }) => operationId ?? []),
    );
    expect(operations.filter((operation) => !(operation in REACHED))).toEqual([]);
    const names = new Set(commands.map(({ name }) => name));
    expect(Object.values(REACHED).filter((name) => name !== null && !names.has(name))).toEqual([]);
  });

  it("verifies an agent while the daemon runs, and tells of it afterwards", async () => {
    const never = await run("agents", "report", "mock");
    expect([never.code, never.err]).toEqual([1, expect.stringContaining("dragoman verify mock")]);
    expect((await run("verify", "mock", "--scenario", "mock-text")).code).toBe(0);
    const { out, code } = await run("agents", "report", "mock");
    expect(code).toBe(0);
    expect(out).toMatch(/mock-text +passed/);
    expect(out).toContain("1 passed, 0 failed, 0 hung, 0 skipped, 0 unparsed, 0 rules broken");
    expect(await json("agents", "report", "mock")).toMatchObject({ agent: "mock", totals: { passed: 1 } });
  });

  it("creates, changes, renames, forks and looks behind", async () => {
    const { session_id } = await json("create", "mock", "--title", "first", "--env", "A=b");
    const id = String(session_id);
    expect((await run("create", "mock", "--id", id)).code).toBe(1);
    expect(await json("set", id, "--model", "mock-2", "--permission-mode", "plan")).toMatchObject({
      model: "mock-2",
      permission_mode: "plan",
    });
    expect((await run("set", id)).code).toBe(2);
    expect(await json("rename", id, "another", "title")).toMatchObject({ title: "another title" });
    const file = join(dataDir, "note.txt");
    writeFileSync(file, "a note");
    await run("send", id, "shell ls", "--attach", file);
    await run("wait", id);
    expect(await json("fork", id, "--title", "branch")).toMatchObject({ forked_from: id, title: "branch" });
    expect((await json("coverage", id)).totals).toMatchObject({ unparsed: 0 });
    const trace = join(dataDir, "trace.ndjson");
    expect((await run("native", id, "-o", trace)).code).toBe(0);
    expect(readFileSync(trace, "utf8").trim().split("\n").length).toBeGreaterThan(5);
    expect((await run("native", id, "--limit", "2")).out.trim().split("\n")).toHaveLength(2);
    expect((await run("items", id)).out).toContain('"tool_kind":"shell"');
    await run("send", id, "big 2000000");
    await run("wait", id);
    const artifact = (await run("items", id)).out.match(/\/v1\/artifacts\/[\w-]+/g)?.at(-1) ?? "";
    expect((await run("artifact", "get", artifact)).out).toHaveLength(2_000_000);
    expect(await json("artifact", "ls", "--session", id, "--largest", "--limit", "1")).toMatchObject({
      path: artifact,
      bytes: 2_000_000,
      references: [{ stream_kind: "session", id }],
    });
    expect((await run("artifact", "ls", "--kind", "text")).out).toContain("note.txt");
    expect((await run("artifact", "ls", "--kind", "film")).code).toBe(2);
    expect((await run("artifact", "show", artifact)).out).toMatch(/^text, 2000000 bytes\n[\s\S]*bytes left out/);
  });

  it("finds what waits for a person, and allows what is about to be asked", async () => {
    const { session_id } = await json("create", "mock");
    const id = String(session_id);
    await run("send", id, "ask");
    expect(await json("allow", id)).toMatchObject({ session_id: id, reply: "once" });
    await run("wait", id);
    expect((await run("allow", id)).code).toBe(2);
    await run("send", id, "question");
    await run("wait", id);
    expect(await run("pending")).toMatchObject({ code: 5, out: expect.stringMatching(/question .* Which colour\?/) });
    expect(await json("answer", id, "--reject")).toMatchObject({ answers: null });
  });

  it("makes links and tokens with fewer rights", async () => {
    const { token, token_id } = await json("token", "mint", "--role", "observe", "--hours", "1");
    const file = join(dataDir, "observer-token");
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const observer = ["--url", daemon.url, "--token-file", file];
    expect(await json("token", "show", ...observer)).toMatchObject({ token_id, role: "observe", kind: "minted", surface: "cli" });
    expect((await run("token", "ls")).out).toContain(String(token_id));
    expect((await run("create", "mock", ...observer)).err).toContain("[forbidden]");
    await json("token", "revoke", String(token_id));
    expect((await run("ls", ...observer)).err).toContain("[unauthorized]");
    const { link } = await json("open", "--observe");
    const [address, secret = ""] = String(link).split("#link=");
    expect(address).toBe(`${daemon.url}/ui`);
    expect(await daemon.client.signIn(secret)).toMatchObject({ role: "observe" });
    await expect(daemon.client.signIn(secret)).rejects.toMatchObject({ code: "link_invalid" });
    const phone = await run("open", "--qr", "--address", "https://build.example/");
    const [first = "", ...code] = phone.out.trimEnd().split("\n");
    expect(first).toMatch(/^https:\/\/build\.example\/ui#link=[\w-]+$/);
    expect(code.length).toBeGreaterThan(15);
    expect(code.join("")).toMatch(/^[ ▄▀█]+$/);
    expect(await daemon.client.signIn(first.split("#link=")[1] ?? "")).toMatchObject({ role: "approve" });
    expect((await run("open", "--qr")).err).toContain("A phone cannot reach");
    expect((await run("open", "--qr", "--address", "build.example")).err).toContain("http or https URL");
    const records = (await run("audit", "--limit", "8")).out;
    expect(records).toMatch(/tradeToken .* by inspector tok_\w+ \(observe\)/);
    expect(records).toMatch(/makeLink .* by cli tok_\w+ \(admin\)/);
  });

  it("confines tokens to sessions and directories", async () => {
    const { token } = await json("token", "mint", "--role", "operate", "--directory", join(dataDir, "nowhere"), "--label", "ci");
    const confined = { ...env(), DRAGOMAN_TOKEN: String(token) };
    expect((await runProgram(["token", "show"], confined)).out).toContain(`only ${join(dataDir, "nowhere")}`);
    expect((await runProgram(["ls", "--json"], confined)).out).toBe("");
    expect((await runProgram(["create", "mock"], confined)).err).toContain("[forbidden]");
    expect((await runProgram(["metrics"], confined)).err).toContain("[forbidden]");
  });

  it("tells of the daemon, its agents, its measures", async () => {
    expect(await json("status")).toMatchObject({ status: "ready", url: daemon.url });
    expect(await json("models", "mock")).toMatchObject({ id: "mock-1" });
    expect(await json("modes", "mock")).toMatchObject({ id: "build" });
    expect(Object.keys(await json("metrics")).length).toBeGreaterThan(3);
    expect(await json("openapi")).toHaveProperty("paths");
  });

  it("changes the configuration file, and never to what the daemon would refuse", async () => {
    expect((await run("config", "set", "limits.sessions", "7")).code).toBe(0);
    expect((await run("config", "set", "agents.acp.my-agent", '{"command":"my-agent","env":{"KEY":"secret"}}')).code).toBe(0);
    const wrong = await run("config", "set", "limits.sessions", "many");
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("/limits/sessions")]);
    expect((await run("config", "set", "limits.sessions.deep", "1")).code).toBe(2);
    expect((await run("config", "set", "foo.bar", "1")).err).toContain("there is no setting foo.bar;");
    const shown = await json("config", "show");
    expect(shown).toMatchObject({ limits: { sessions: 7 }, agents: { acp: { "my-agent": { env: { KEY: "***" } } } } });
    expect((await run("config", "check")).code).toBe(0);
    expect((await run("config", "unset", "limits.sessions")).code).toBe(0);
    expect(await json("config", "show")).toMatchObject({ limits: { sessions: 200 } });
    const file = (await run("config", "path")).out.trim();
    writeFileSync(file, "{");
    expect((await run("config", "check")).code).toBe(1);
    writeFileSync(file, "{}");
  });

  it("runs commands as tasks, and looks after them", async () => {
    const three = await run("task", "run", "echo out; echo err >&2; exit 3");
    expect(three).toMatchObject({ code: 3, out: "out\n", err: "err\n" });
    const { session_id } = await json("create", "mock");
    const args = ["task", "run", "--detach", "--session", String(session_id), "--title", "mine", "--env", "A=b c"];
    const id = (await run(...args, "--", "sh", "-c", 'echo "$A"; exec sleep 600')).out.trim();
    expect((await run("task", "ls", "--session", String(session_id))).out).toMatch(/running +pipes .* mine/);
    expect((await run("task", "logs", id)).out).toBe("b c\n");
    expect((await run("task", "logs", id, "--offset", "2")).out).toBe("c\n");
    expect((await run("task", "show", id)).out).toContain("origin_session_id");
    expect((await run("task", "show", id, "--screen")).err).toContain("[not_a_terminal]");
    expect((await run("task", "stop", id, "--signal", "nonsense")).err).toContain("[unknown_signal]");
    expect(await json("task", "stop", id)).toMatchObject({ status: "cancelled" });
    expect(await json("task", "rm", id)).toEqual({ removed: id });
    expect((await run("task", "show", id)).err).toContain("[task_not_found]");
    expect((await run("task", "run", "--", "no-such-program", "x")).err).toContain("[program_not_found]");
    expect((await run("task", "run")).code).toBe(2);
    const typed = String((await json("task", "run", "--detach", "--pty", "read x; echo got $x")).task_id);
    const attached = await runProgram(["task", "attach", typed], env(), { input: "words\n" });
    expect(attached.out).toContain("got words");
  });

  it("looks at the files of a session, and changes them", async () => {
    const directory = join(dataDir, "files");
    const { session_id } = await json("create", "mock", "--directory", dataDir);
    const id = String(session_id);
    expect(
      (await runProgram(["files", "write", id, "files/a.txt", "--from", "-", "--parents"], env(), { input: "word one" })).code,
    ).toBe(0);
    expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("word one");
    expect((await run("files", "cat", id, "files/a.txt")).out).toBe("word one");
    expect((await run("files", "mkdir", id, "files/d/e")).code).toBe(0);
    expect((await run("files", "mv", id, "files/a.txt", "files/d/b.txt")).code).toBe(0);
    expect((await run("files", "ls", id, "files/d")).out).toMatch(/file +8 .* b\.txt/);
    expect((await run("files", "search", id, "word", "--glob", "*.txt")).out).toContain("files/d/b.txt:1: word one");
    expect((await run("files", "rm", id, "files", "-r")).code).toBe(0);
    expect((await run("files", "cat", id, "../x")).err).toContain("[path_outside]");
    expect((await run("files", "status", id)).err).toContain("[not_a_repository]");
    expect((await run("files", "diff", id)).err).toContain("[not_a_repository]");
  });

  it("is not held by a stdin that was left open, and takes what is piped in after the words", async () => {
    const child = spawn(process.execPath, [CLI, "run", "mock", "say without stdin"], { env: env(), cwd: dataDir });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    await new Promise((resolve) => child.once("close", resolve));
    expect(out).toBe("without stdin\n");
    const piped = await runProgram(["run", "mock", "say", "first"], env(), { input: "say second" });
    expect(piped.out).toBe("first\nsecond\n");
  });

  it("says faults as JSON with --json, and which second words there are", async () => {
    const { err } = await run("show", "nobody", "--json");
    expect(JSON.parse(err)).toMatchObject({ error: { code: "session_not_found" } });
    expect((await run("config")).err).toContain("config needs a further word: show, path, check, set, unset");
    expect((await run("__complete", "service")).out).toBe("install\nstatus\nuninstall\n");
  });
});
