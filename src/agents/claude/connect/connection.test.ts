import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentHost, ExitInfo, Launch, NativeDirection } from "../../contract.ts";
import { sessionConfig } from "../../kit/test-config.ts";
import { permissionChoices } from "../translate/permissions.ts";
import { connectClaude } from "./connection.ts";

/** A stand-in for the CLI: speaks just enough of the protocol, over real pipes. */
const PROGRAM = `#!${process.execPath}
const say = (o) => process.stdout.write(JSON.stringify(o) + "\\n");
const ok = (id, response) => say({ type: "control_response", response: { subtype: "success", request_id: id, response } });
const resumes = process.argv.some((each) => each.startsWith("--resume"));
if (process.env.FAKE === "dies" || (process.env.FAKE === "forgets" && resumes)) { process.stderr.write("No conversation found\\n"); process.exit(1); }
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const frame = JSON.parse(line);
  if (frame.type === "control_request") {
    if (frame.request.subtype === "set_model" && frame.request.model === "bad")
      return say({ type: "control_response", response: { subtype: "error", request_id: frame.request_id, error: "no such model" } });
    return ok(frame.request_id, { mode: frame.request.mode });
  }
  if (frame.type === "control_response") return say({ type: "system", subtype: "informational", content: JSON.stringify(frame.response) });
  const text = frame.message.content;
  if (text === "ask") return say({ type: "control_request", request_id: "r1", request: { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "t", input: { command: "x" } } });
  if (text === "odd") return say({ type: "control_request", request_id: "r2", request: { subtype: "of_tomorrow" } });
  if (text === "taken") return say({ type: "command_lifecycle", command_uuid: frame.uuid, state: "started", session_id: "s" });
  if (text === "crash") process.kill(process.pid, "SIGKILL");
  process.stdout.write("noise\\n");
  say({ type: "result", subtype: "success", result: text, session_id: "s" });
});
`;

type Row = { dir: NativeDirection; data: unknown };

function lab(directory: string, env: Record<string, string>) {
  const rows: Row[] = [];
  const garbage: string[] = [];
  const waiting: (() => void)[] = [];
  let closed: { exit: ExitInfo | null } | null = null;
  const tick = () => {
    for (const check of [...waiting]) check();
  };
  const host = {
    settings: {},
    stateDir: join(directory, "state"),
    processDir: join(directory, "processes"),
    version: "0",
    log: () => {},
    resolveCommand: async () => ({ command: join(directory, "claude"), args: [] }),
    environment: (extra: Record<string, string>) => ({ PATH: process.env.PATH ?? "", ...env, ...extra }),
    openChannel: () => ({
      record: (dir: NativeDirection, _raw: unknown, data: unknown) => {
        rows.push({ dir, data });
        tick();
      },
      exited: ({ code, signal }: ExitInfo) => {
        rows.push({ dir: "exit", data: { code, signal } });
        tick();
      },
      unparsed: (_dir: NativeDirection, raw: Buffer) => garbage.push(raw.toString()),
      attach: () => {},
      detach: () => {},
    }),
  } satisfies AgentHost;
  const launch: Launch = {
    config: sessionConfig({ directory }),
    resume: null,
    host,
    port: {
      session_id: "s1",
      say: () => {},
      closed: (info) => {
        closed = info;
        tick();
      },
    },
  };
  const until = (test: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (test()) resolve();
      };
      waiting.push(check);
      check();
    });
  return { launch, rows, garbage, until, closed: () => closed };
}

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "claude-connection-"));
  writeFileSync(join(directory, "claude"), PROGRAM);
  chmodSync(join(directory, "claude"), 0o755);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const prompt = (text: string) => ({ message_id: "11111111-2222-4333-8444-555555555555", text, attachments: [] });
const outs = (rows: Row[]) => rows.filter((row) => row.dir === "out").map((row) => JSON.stringify(row.data));

describe("the connection", () => {
  it("greets, sends a message with its uuid, keeps noise apart, and leaves no process behind", async () => {
    const { launch, rows, garbage, until } = lab(directory, {});
    const connection = await connectClaude(launch);
    await connection.prompt(prompt("hello"));
    await until(() => outs(rows).some((row) => row.includes("hello")));
    expect(rows[0]?.data).toMatchObject({ type: "control_request", request: { subtype: "initialize" } });
    expect(rows.find((row) => row.dir === "in" && JSON.stringify(row.data).includes("hello"))?.data).toMatchObject({
      uuid: prompt("").message_id,
    });
    expect(garbage).toEqual(["noise"]);
    await connection.close();
    expect(rows.at(-1)?.dir).toBe("exit");
    expect(readdirSync(join(directory, "processes")).filter((name) => name.endsWith(".json"))).toEqual([]);
  });

  it("an interrupt takes messages back that steer and wait, and leaves the queue alone otherwise", async () => {
    const { launch, rows, until } = lab(directory, {});
    const connection = await connectClaude(launch);
    const interrupts = () => rows.map((row) => row.data).filter((data) => JSON.stringify(data).includes('"subtype":"interrupt"'));
    await connection.interrupt();
    await connection.steer?.(prompt("waits"));
    await connection.interrupt();
    await connection.prompt({ ...prompt("taken"), message_id: prompt("").message_id });
    await until(() => outs(rows).some((row) => row.includes("command_lifecycle")));
    await connection.interrupt();
    expect(interrupts()).toMatchObject([
      { request: { subtype: "interrupt" } },
      { request: { subtype: "interrupt", cancel_queued: true } },
      { request: { subtype: "interrupt" } },
    ]);
    expect(interrupts().filter((data) => JSON.stringify(data).includes("cancel_queued"))).toHaveLength(1);
    await connection.close();
  });

  it("answers requests it does not know with an error, so that no turn hangs", async () => {
    const { launch, rows, until } = lab(directory, {});
    const connection = await connectClaude(launch);
    await connection.prompt(prompt("odd"));
    await until(() => outs(rows).some((row) => row.includes("r2") && row.includes("does not serve")));
    await connection.close();
  });

  it("answers a permission with the request's own id", async () => {
    const { launch, rows, until } = lab(directory, {});
    const connection = await connectClaude(launch);
    await connection.prompt(prompt("ask"));
    await until(() => outs(rows).some((row) => row.includes("can_use_tool")));
    const native = {
      kind: "permission",
      request_id: "r1",
      tool_use_id: "t",
      input: { command: "x" },
      choices: permissionChoices([]),
    };
    await connection.replyPermission(native, { reply: "once", option_id: null, message: null, updated_input: undefined });
    await until(() => outs(rows).some((row) => row.includes("informational") && row.includes("allow")));
    await connection.close();
  });

  it("changes model and mode live, and says what was refused", async () => {
    const { launch, rows } = lab(directory, { IS_SANDBOX: "1" });
    const connection = await connectClaude(launch);
    await connection.configure({ permission_mode: "accept_edits", model: "opus" });
    expect(JSON.stringify(rows)).toContain("acceptEdits");
    await expect(connection.configure({ model: "bad" })).rejects.toThrow(/no such model/);
    expect(await connection.configure({ variant: "high" })).toBe("restart");
    expect(await connection.configure({ permission_mode: "bypass" })).toBe("restart");
    expect(JSON.stringify(rows)).not.toContain("bypassPermissions");
    await connection.close();
  });

  it("a start that fails is told with the CLI's own words", async () => {
    const { launch } = lab(directory, { FAKE: "dies" });
    await expect(connectClaude(launch)).rejects.toMatchObject({
      code: "agent_failed_to_start",
      message: expect.stringContaining("No conversation found"),
    });
  });

  it("a session that never got an answer begins anew when the CLI does not know it; one that did is not begun anew", async () => {
    const { launch, rows, until } = lab(directory, { FAKE: "forgets" });
    const resume = { native_session_id: "gone", fork: false };
    await expect(connectClaude({ ...launch, resume })).rejects.toThrow(/No conversation found/);
    await expect(connectClaude({ ...launch, resume: { ...resume, answered: true } })).rejects.toThrow(/No conversation found/);
    const connection = await connectClaude({ ...launch, resume: { ...resume, answered: false } });
    await connection.prompt(prompt("hello"));
    await until(() => outs(rows).some((row) => row.includes("hello")));
    await connection.close();
  });

  it("a crash in mid-turn is told to the session, and later messages are refused", async () => {
    const { launch, until, closed } = lab(directory, {});
    const connection = await connectClaude(launch);
    await connection.prompt(prompt("crash"));
    await until(() => closed() !== null);
    expect(closed()).toMatchObject({ exit: { signal: "SIGKILL" } });
    await expect(connection.prompt(prompt("more"))).rejects.toMatchObject({ code: "agent_gone" });
  });
});
