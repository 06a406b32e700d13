// `dragoman mcp` as an agent uses it: the SDK's own client, over stdio and HTTP, against a real daemon.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CLI, cleanEnv, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

type Result = { isError?: boolean; structuredContent?: Record<string, unknown>; content: { text: string }[] };

let dataDir: string;
let daemon: DaemonProcess;
let client: Client;

const environment = (extra: Record<string, string> = {}) =>
  ({ ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir, ...extra }) as Record<string, string>;

async function overStdio(extra: Record<string, string> = {}, options: string[] = []): Promise<Client> {
  const made = new Client({ name: "test", version: "1" });
  await made.connect(
    new StdioClientTransport({ command: process.execPath, args: [CLI, "mcp", ...options], env: environment(extra) }),
  );
  return made;
}

const call = async (name: string, args: Record<string, unknown> = {}, by = client): Promise<Record<string, unknown>> => {
  const result = (await by.callTool({ name, arguments: args })) as Result;
  if (result.isError) throw new Error(result.content[0]?.text);
  return result.structuredContent ?? {};
};

beforeAll(async () => {
  dataDir = temporaryDir("mcp");
  daemon = await startDaemonProcess(dataDir);
  client = await overStdio();
});

afterAll(async () => {
  await client.close();
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

it("offers the tools, each with a schema", async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "list_agents",
    "list_sessions",
    "search_sessions",
    "create_session",
    "send_message",
    "wait_for_session",
    "read_session",
    "list_pending",
    "answer_permission",
    "answer_question",
    "interrupt",
    "terminate",
    "list_tasks",
    "start_task",
    "read_task",
    "stop_task",
    "list_changes",
    "list_checkpoints",
    "rewind",
    "list_artifacts",
    "preview_artifact",
  ]);
  for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
});

it("shows what a session changed, and takes it back", async () => {
  const directory = temporaryDir("mcp-work");
  try {
    writeFileSync(join(directory, "a.txt"), "one\n");
    const { session_id } = await call("create_session", { agent: "mock", directory, message: "say hello" });
    await call("wait_for_session", { session_id });
    writeFileSync(join(directory, "a.txt"), "two\n");
    await call("send_message", { session_id, message: "say more" });
    await call("wait_for_session", { session_id });
    const { checkpoints } = await call("list_checkpoints", { session_id });
    const [first] = checkpoints as { checkpoint_id: string; kind: string }[];
    expect(first?.kind).toBe("turn_start");
    const { changes } = await call("list_changes", { session_id });
    expect(changes).toEqual([expect.objectContaining({ path: "a.txt", patch: expect.stringContaining("+two") })]);
    const checkpoint_id = first?.checkpoint_id;
    // A person changed it between turns, so it stays.
    expect(await call("rewind", { session_id, checkpoint_id })).toMatchObject({ files: [], kept: [{ path: "a.txt" }] });
    expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("two\n");
  } finally {
    removeDir(directory);
  }
});

it("creates, waits, reads, speaks again and ends", async () => {
  expect((await call("list_agents")).agents).toContainEqual(expect.objectContaining({ agent: "mock", installed: true }));
  const { session_id } = await call("create_session", {
    agent: "mock",
    directory: dataDir,
    message: "say the first",
    title: "by mcp",
  });
  expect(await call("wait_for_session", { session_id })).toMatchObject({
    status: "idle",
    timed_out: false,
    last_text: "the first",
  });
  await call("send_message", { session_id, message: "shell ls" });
  expect(await call("wait_for_session", { session_id })).toMatchObject({ last_text: "It worked." });
  const { items, earlier } = await call("read_session", { session_id, limit: 2 });
  expect(items).toMatchObject([{ kind: "tool_result", text: expect.stringContaining("second line") }, { text: "It worked." }]);
  expect(earlier).toBeGreaterThan(2);
  const page = await call("read_session", { session_id, limit: 1, before: earlier });
  expect(page.items).toMatchObject([{ kind: "tool_call", text: 'shell {"command":"ls"}' }]);
  expect((await call("list_sessions", { search: "by mcp" })).sessions).toMatchObject([{ session_id, created_by_you: true }]);
  await call("terminate", { session_id });
  expect(await call("wait_for_session", { session_id })).toMatchObject({ status: "ended" });
});

it("reads and stops tasks, and starts none where a person must be asked", async () => {
  const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
  const task = await session.startTask({ command: "echo one; echo two >&2; exec sleep 600", title: "server" });
  for await (const event of task.events()) if (event.type === "task.output" && event.data.stream === "stderr") break;
  expect((await call("list_tasks", { session_id: session.id })).tasks).toMatchObject([{ task_id: task.id, title: "server" }]);
  expect(await call("read_task", { task_id: task.id })).toMatchObject({
    status: "running",
    output: { stdout: "one\n", stderr: "two\n" },
  });
  await expect(call("start_task", { session_id: session.id, command: "true" })).rejects.toThrow("[wider_mode]");
  expect(await call("stop_task", { task_id: task.id })).toMatchObject({ status: "cancelled" });
  expect((await session.tasks()).tasks).toHaveLength(1);
  await session.remove();
});

it("interrupts a turn, and says when waiting was not long enough", async () => {
  const { session_id } = await call("create_session", { agent: "mock", message: "hang" });
  expect(await call("wait_for_session", { session_id, timeout_s: 0 })).toMatchObject({ timed_out: true });
  await vi.waitFor(async () => expect(await call("read_session", { session_id })).toMatchObject({ status: "running" }), {
    timeout: 120_000,
  });
  await call("interrupt", { session_id });
  expect(await call("wait_for_session", { session_id })).toMatchObject({ status: "idle", timed_out: false });
});

it("answers questions of a person's session, and none of a session it created", async () => {
  const asked = async (session_id: string): Promise<string> => {
    const { questions } = await call("wait_for_session", { session_id });
    return (questions as { question_id: string }[])[0]?.question_id ?? "";
  };
  const answers = [["Red"], ["Basil"]];
  const { session_id } = (await call("create_session", { agent: "mock", message: "question" })) as { session_id: string };
  const own = { session_id, question_id: await asked(session_id) };
  await expect(call("answer_question", { ...own, answers })).rejects.toThrow("[own_request]");
  await expect(call("answer_question", own)).rejects.toThrow("[own_request]");
  const session = await daemon.client.createSession({ agent: "mock" });
  await session.send("question");
  await call("answer_question", { session_id: session.id, question_id: await asked(session.id), answers });
  expect(await call("wait_for_session", { session_id: session.id })).toMatchObject({ last_text: "You chose Red; Basil." });
});

it("sends nothing to a session in a wider mode than its own", async () => {
  const session = await daemon.client.createSession({ agent: "mock", permission_mode: "bypass" });
  await expect(call("send_message", { session_id: session.id, message: "say x" })).rejects.toThrow("[wider_mode]");
  expect((await session.page({ types: ["turn.started"] })).events).toEqual([]);
  const bypass = await overStdio({}, ["--permission-mode", "bypass"]);
  await call("send_message", { session_id: session.id, message: "say x" }, bypass);
  await bypass.close();
});

describe("permissions", () => {
  const asked = async (session_id: string): Promise<string> => {
    const { permissions } = await call("wait_for_session", { session_id });
    return (permissions as { permission_id: string }[])[0]?.permission_id ?? "";
  };

  it("of a session it created are a person's: refused to it, and to every other MCP connection", async () => {
    const { session_id } = (await call("create_session", { agent: "mock", message: "ask" })) as { session_id: string };
    const permission_id = await asked(session_id);
    const reply = { session_id, permission_id, reply: "once" };
    await expect(call("answer_permission", reply)).rejects.toThrow(/created through MCP.*dragoman allow.*\[own_request\]/s);
    const other = await overStdio();
    await expect(call("answer_permission", reply, other)).rejects.toThrow("[own_request]");
    await other.close();
    expect((await call("list_pending", { session_id })).sessions).toMatchObject([{ permissions: [{ permission_id }] }]);
    await daemon.client.session(session_id).replyPermission(permission_id, { reply: "once" });
    expect(await call("wait_for_session", { session_id })).toMatchObject({ last_text: "Thank you, I ran it (once)." });
  });

  it("are all refused inside an agent, whatever token it found; reading is not", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.send("ask");
    const permission_id = await asked(session.id);
    const instance = readFileSync(join(dataDir, "processes", "instance"), "utf8").trim();
    const within = await overStdio({ DRAGOMAN_PROCESS: `${instance}:${"0".repeat(32)}` });
    const reply = { session_id: session.id, permission_id, reply: "once" };
    await expect(call("answer_permission", reply, within)).rejects.toThrow("[own_request]");
    await expect(call("create_session", { agent: "mock" }, within)).rejects.toThrow("[agent_forbidden]");
    await expect(call("terminate", { session_id: session.id }, within)).rejects.toThrow("[agent_forbidden]");
    expect(await call("list_pending", { session_id: session.id }, within)).toMatchObject({
      sessions: [{ permissions: [{ permission_id }] }],
    });
    await within.close();
    await session.terminate();
  });

  it("of a person's session can be answered for that person", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const { turn_id } = await session.send("ask");
    const permission_id = await asked(session.id);
    expect((await call("list_pending")).sessions).toContainEqual(expect.objectContaining({ session_id: session.id }));
    await call("answer_permission", { session_id: session.id, permission_id, reply: "reject", message: "no" });
    expect((await session.outcome(turn_id)).text).toBe("You said no: no.");
  });

  it("cannot be got round: the mark and the mode are not the agent's to choose", async () => {
    for (const extra of [{ metadata: {} }, { permission_mode: "bypass" }, { env: {} }])
      await expect(call("create_session", { agent: "mock", ...extra })).rejects.toThrow("[invalid_arguments]");
    const { session_id } = (await call("create_session", { agent: "mock" })) as { session_id: string };
    const { created_by, permission_mode } = await daemon.client.session(session_id).get();
    expect(created_by).toMatchObject({ role: "operate", surface: "mcp" });
    expect(permission_mode).toBe("default");
  });
});

it("gives the model the daemon's code and advice", async () => {
  await expect(call("read_session", { session_id: "nobody" })).rejects.toThrow("[session_not_found]");
  await expect(call("create_session", { agent: "nobody" })).rejects.toThrow("[agent_unknown]");
  await expect(call("fly")).rejects.toThrow("[unknown_tool]");
  await expect(call("send_message", {})).rejects.toThrow("[invalid_arguments]");
});

it("ends with its client, and so does its token", async () => {
  const tokens = (): number => (JSON.parse(readFileSync(join(dataDir, "tokens.json"), "utf8")) as unknown[]).length;
  const before = tokens();
  const transport = new StdioClientTransport({ command: process.execPath, args: [CLI, "mcp"], env: environment() });
  const brief = new Client({ name: "test", version: "1" });
  await brief.connect(transport);
  expect(tokens()).toBe(before + 1);
  // A server that is killed leaves its token, for minutes and not for days.
  const own = (await daemon.client.tokens()).filter(({ label }) => label === "dragoman mcp");
  for (const { role, expires_at } of own)
    expect([role, Date.parse(expires_at ?? "") - Date.now() <= 10 * 60_000]).toEqual(["operate", true]);
  await brief.close();
  await vi.waitFor(() => expect(tokens()).toBe(before), { timeout: 120_000 });
  const child = spawn(process.execPath, [CLI, "mcp"], { env: environment(), stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end();
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
});

describe("over HTTP", () => {
  it("serves those who show its token, each for itself, and no page", async () => {
    const child = spawn(process.execPath, [CLI, "mcp", "--http", "--json"], { env: environment() });
    const gone = new Promise((resolve) => child.once("exit", resolve));
    const { url, token } = await new Promise<{ url: string; token: string }>((resolve, reject) => {
      child.stdout.once("data", (line: Buffer) => resolve(JSON.parse(line.toString()) as { url: string; token: string }));
      void gone.then((code) => reject(new Error(`ended with ${code}`)));
    });
    const authorization = `Bearer ${token}`;
    const open = async (): Promise<Client> => {
      const made = new Client({ name: "test", version: "1" });
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } });
      await made.connect(transport as Transport);
      return made;
    };
    const [first, second] = await Promise.all([open(), open()]);
    const { session_id } = await call("create_session", { agent: "mock", message: "say over http" }, first);
    expect(await call("wait_for_session", { session_id }, first)).toMatchObject({ last_text: "over http", created_by_you: true });
    expect(await call("read_session", { session_id }, second)).toMatchObject({ created_by_you: false });
    const status = async (headers: Record<string, string>, method = "POST"): Promise<number> =>
      (await fetch(url, { method, headers: { "content-type": "application/json", ...headers }, body: "{}" })).status;
    expect(await status({})).toBe(401);
    expect(await status({ authorization: `Bearer ${daemon.token}` })).toBe(401);
    expect(await status({ authorization, origin: "https://evil.example" })).toBe(403);
    expect(await status({ authorization, "mcp-session-id": "gone" })).toBe(404);
    // The token opens the tools alone, never the daemon.
    expect((await fetch(`${daemon.url}/v1/sessions`, { headers: { authorization } })).status).toBe(401);
    await Promise.all([first.close(), second.close()]);
    child.kill("SIGTERM");
    expect(await gone).toBe(0);
  });
});
