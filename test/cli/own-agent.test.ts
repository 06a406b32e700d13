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

  it("a session that is not there cannot be played again", async () => {
    const { code, err } = await cli(dataDir, ["replay", "--run", "nobody"]);
    expect(code).not.toBe(0);
    expect(err).toContain("nobody");
  });
});
