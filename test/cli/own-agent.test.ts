// Our own agent from the command line, as somebody types it: a scripted model as its endpoint, a running daemon, and the run played again.
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLI, cleanEnv, cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess;
let model: ChildProcess;
let endpoint: string;

/** The line with which a program says that it is ready. */
const firstLine = (child: ChildProcess): Promise<{ url: string }> =>
  new Promise((resolve, reject) => {
    child.stdout?.setEncoding("utf8").once("data", (line: string) => resolve(JSON.parse(line)));
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });

beforeAll(async () => {
  dataDir = temporaryDir("own-agent-cli");
  model = spawn(process.execPath, [CLI, "model-server", "--port", "0", "--json"], { env: cleanEnv(dataDir), cwd: dataDir });
  endpoint = `${(await firstLine(model)).url}/v1`;
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  const gone = new Promise((resolve) => model.once("exit", resolve));
  model.kill("SIGTERM");
  await gone;
  removeDir(dataDir);
});

const run = (...args: string[]) => cli(dataDir, ["run", "responses", ...args, "--model", "scripted"]);

describe("our own agent on the command line", () => {
  it("answers from the endpoint that was typed, and its run is the same when it is played again", async () => {
    // The scripted model asks for one tool, then answers.
    const ran = await run("Hello", "--endpoint", endpoint);
    expect(ran).toMatchObject({ code: 0, out: "Done.\n", err: expect.stringContaining("• read: ") });
    const [session] = (await daemon.client.sessions()).sessions;
    expect(session).toMatchObject({ agent: "responses", status: "ended" });
    const again = await cli(dataDir, ["replay", "--run", session?.session_id ?? ""]);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("The same, byte for byte.") });
    const json = await cli(dataDir, ["replay", "--run", session?.session_id ?? "", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({ same: true, requests: 2, differentRequests: [] });
  });

  it("doctor asks an endpoint what it can do, and says what is wrong with one that cannot be asked", async () => {
    const asked = await cli(dataDir, ["doctor", "responses", "--endpoint", endpoint, "--model", "scripted", "--json"]);
    expect(asked.code).toBe(0);
    const findings = asked.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { check: string; ok: boolean; detail: string });
    expect(findings.map(({ check, detail }) => `${check} ${detail.split(":")[0]}`)).toEqual([
      "Endpoint http",
      "models yes",
      "stream yes",
      "tool_call yes",
      "tool_choice yes",
      "reasoning_items yes",
      "stored no",
      "compact yes",
      "websocket yes",
      "Configuration the agent uses what the endpoint can do after",
    ]);
    const [, setting = ""] = /config set agents\.responses\.facts '(.+)'/.exec(findings.at(-1)?.detail ?? "") ?? [];
    expect(JSON.parse(setting)).toEqual({ reasoning: expect.any(String), compact: true, tool_choice: true });
    expect(await cli(dataDir, ["config", "set", "agents.responses.endpoint", endpoint])).toMatchObject({ code: 0 });
    expect(await cli(dataDir, ["config", "set", "agents.responses.facts", setting])).toMatchObject({ code: 0 });
    // What is configured need not be said again.
    const again = await cli(dataDir, ["doctor", "responses", "--model", "scripted"]);
    expect(again).toMatchObject({ code: 0, out: expect.not.stringContaining("config set") });
    expect((await cli(dataDir, ["config", "set", "agents.responses.facts", '{"teleport":true}'])).code).toBe(0);
    const wrong = await cli(dataDir, ["doctor", "responses", "--model", "scripted"]);
    expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining('has no "teleport": there are reasoning') });
    expect((await cli(dataDir, ["config", "set", "agents.responses.facts", setting])).code).toBe(0);
    const down = await cli(dataDir, ["doctor", "responses", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m"]);
    expect(down).toMatchObject({ code: 1, out: expect.stringContaining("is the endpoint running?") });
    const none = await cli(dataDir, ["doctor", "responses", "--endpoint", "nonsense"]);
    expect(none).toMatchObject({ code: 1, out: expect.stringContaining("write its base URL") });
  });

  it("a session that is not there cannot be played again", async () => {
    const { code, err } = await cli(dataDir, ["replay", "--run", "nobody"]);
    expect(code).not.toBe(0);
    expect(err).toContain("nobody");
  });
});
