import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Core, openCore } from "../../../daemon/core.ts";
import { checkGrammar } from "../../../schema/grammar.ts";
import type { Session } from "../../../session/session.ts";
import { eventsOf, play, textsOf, turnEnd, until } from "../../../session/test-session.ts";
import { ampAgent } from "../agent.ts";

/** Behaves like Amp on its pipes; the prompt says what it does. */
const PROGRAM = `#!/usr/bin/env node
const args = process.argv.slice(2);
if (args.includes("--version")) { console.log("0.0.1777897475-g2324e1 (released)"); process.exit(0); }
if (args[1] === "markdown") { console.log(require("node:fs").readFileSync(process.env.HOME + "/" + args[2], "utf8")); process.exit(0); }
if (args[0] === "permissions") { console.log("[]"); process.exit(0); }
const thread = args[1] === "continue" ? args[2] : "T-" + process.pid;
const say = (data) => process.stdout.write(JSON.stringify({ ...data, session_id: thread }) + "\\n");
const assistant = (text, stop_reason) => say({ type: "assistant", message: { type: "message", role: "assistant", content: [{ type: "text", text }], stop_reason }, parent_tool_use_id: null });
// Like the May build: the thread is stored on leaving, and only when the model has answered.
const end = (more) => { if (last !== "") require("node:fs").writeFileSync(process.env.HOME + "/" + thread, last);  say({ type: "result", duration_ms: 1, num_turns: 1, ...more }); process.exit(last === "" && more.is_error ? 1 : 0); };
process.on("SIGINT", () => end({ subtype: "error_during_execution", is_error: true, error: "User cancelled (SIGINT/SIGTERM)" }));
setInterval(() => {}, 1000);
let last = "";
const begin = (content) => {
  const text = content.map((block) => block.text).join("|");
  const wish = content.at(-1).text;
  if (wish.includes("login")) return process.stdout.write("No API key found. Starting login flow...\\nhttp://127.0.0.1:1/auth/cli-login?authToken=x\\n");
  say({ type: "system", subtype: "init", cwd: process.cwd(), tools: [], mcp_servers: [] });
  say({ type: "user", message: { role: "user", content }, parent_tool_use_id: null });
  if (wish.includes("die")) process.kill(process.pid, "SIGKILL");
  if (wish.includes("cut")) return assistant("Half an", null);
  if (wish.includes("early")) { assistant("Answered.", "end_turn"); return setTimeout(() => process.kill(process.pid, "SIGKILL"), 50); }
  if (wish.includes("hang") || wish.includes("empty")) return;
  last = (args[1] === "continue" ? "continued: " : "new: ") + text;
  assistant(last, "end_turn");
};
let rest = "";
process.stdin.on("data", (chunk) => {
  rest += chunk;
  for (let at = rest.indexOf("\\n"); at >= 0; at = rest.indexOf("\\n")) { begin(JSON.parse(rest.slice(0, at)).message.content); rest = rest.slice(at + 1); }
});
process.stdin.on("end", () => { if (last !== "") end({ subtype: "success", is_error: false, result: last }); else if (process.env.EMPTY) end({ subtype: "success", is_error: false, result: "" }); });
`;

let dir: string;
let core: Core;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "dragoman-amp-"));
  const command = join(dir, "amp.cjs");
  writeFileSync(command, PROGRAM, { mode: 0o755 });
  mkdirSync(join(dir, "work"));
  const watchdog = { incomplete_ms: 100, silence_ms: 2_000, nudge_ms: 200, login_ms: 100 };
  core = await openCore({
    dataDir: join(dir, "data"),
    config: { agents: { amp: { command, watchdog } } },
    agents: [ampAgent],
    env: { PATH: process.env.PATH, HOME: dir },
    defaultDirectory: join(dir, "work"),
    log: () => {},
  });
});

afterEach(async () => {
  await core.close();
  expect(readdirSync(join(dir, "data", "processes")).filter((name) => name.endsWith(".json"))).toEqual([]);
  rmSync(dir, { recursive: true, force: true });
});

const start = async (env: Record<string, string> = {}): Promise<Session> =>
  await core.manager.get((await core.manager.create({ agent: "amp", permission_mode: "bypass", env })).session_id);

const errors = async (session: Session) =>
  (await eventsOf(session)).flatMap((event) => (event.type === "error" ? event.data : []));

describe("Amp in a session", () => {
  it("starts nothing any more when it is closed while a message is on its way", async () => {
    const session = await start();
    await session.send("hang", [], "queue");
    await until(session, ({ type }) => type === "turn.started");
    await core.close();
    expect(readdirSync(join(dir, "data", "processes")).filter((name) => name.endsWith(".json"))).toEqual([]);
  });

  it("is one conversation of one process a turn, over dormancy too", async () => {
    const session = await start();
    await play(session, "one");
    await play(session, "two");
    await session.rest();
    await play(session, "three");
    expect(await textsOf(session)).toEqual(["one", "new: one", "two", "continued: two", "three", "continued: three"]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("is interrupted by SIGINT, and what was said in a first turn without an answer goes along with the next", async () => {
    const session = await start();
    const { turn_id } = await session.send("hang on", [], "queue");
    await until(session, (event) => event.type === "item.completed");
    await session.interrupt();
    expect(await turnEnd(session, turn_id)).toMatchObject({ data: { stop_reason: "interrupted" } });
    expect(await errors(session)).toEqual([]);
    await play(session, "and now");
    expect(await textsOf(session)).toEqual(["hang on", "and now", "new: hang on|and now"]);
  });

  it("that hangs after an incomplete answer is reported and stopped", async () => {
    const session = await start();
    expect(await play(session, "cut")).toMatchObject({ data: { stop_reason: "output_length" } });
    await play(session, "next");
    expect(await errors(session)).toHaveLength(1);
    expect((await textsOf(session)).at(-1)).toContain("next");
  });

  it("that says nothing any more is reported and stopped", async () => {
    const session = await start();
    expect(await play(session, "hang")).toMatchObject({ data: { stop_reason: "error", error_code: "api_error" } });
    expect(await errors(session)).toMatchObject([{ details: { native_code: "silence", error_source: "transport" } }]);
  });

  it("with an empty answer is asked whether it is done", async () => {
    const session = await start({ EMPTY: "1" });
    expect(await play(session, "empty")).toMatchObject({ data: { stop_reason: "end_turn" } });
  });

  it("that asks for a login is stopped, and says how to sign in", async () => {
    const session = await start();
    expect(await play(session, "login")).toMatchObject({ data: { stop_reason: "error", error_code: "provider_auth" } });
    expect((await eventsOf(session)).filter(({ type }) => type === "auth.status").at(-1)).toMatchObject({
      data: { status: "required", url: expect.stringContaining("/auth/cli-login") },
    });
    expect(await textsOf(session)).toEqual(["login"]);
  });

  it("that is killed ends its turn; the session goes on", async () => {
    const session = await start();
    expect(await play(session, "die")).toMatchObject({ data: { stop_reason: "error", error_code: "execution_error" } });
    await play(session, "again");
    expect((await textsOf(session)).at(-1)).toContain("again");
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("that is killed after its answer, before it stored the thread, has forgotten nothing", async () => {
    const session = await start();
    await play(session, "early");
    await session.rest();
    await play(session, "which word");
    expect((await textsOf(session)).at(-1)).toBe("new: early|which word");
  });

  it("leaves no process when it is terminated at work", async () => {
    const session = await start();
    await session.send("hang", [], "queue");
    await until(session, (event) => event.type === "item.completed");
    await session.terminate();
    expect(readdirSync(join(dir, "data", "processes")).filter((name) => name.endsWith(".json"))).toEqual([]);
    expect((await eventsOf(session)).at(-1)).toMatchObject({ type: "session.ended", data: { reason: "terminated" } });
  });
});
