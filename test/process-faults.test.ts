// Errors that no code of the daemon caught, made to happen inside a real one: it goes on when its state is known, and stops in good order when it is not.
import { afterEach, beforeEach, expect, it } from "vitest";
import { type DaemonProcess, linux, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

/** Loaded into the daemon before its own code: a signal makes the fault. */
const FAULTS = `
process.on("SIGUSR2", () => { throw new Error("a fault of the test"); });
process.on("SIGCONT", () => void Promise.reject(new Error("a rejection of the test")));
`;
const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(FAULTS)}` };

let dataDir: string;
let daemon: DaemonProcess;

beforeEach(async () => {
  dataDir = temporaryDir("faults");
  daemon = await startDaemonProcess(dataDir, [], env);
});
afterEach(async () => {
  await daemon.kill("SIGKILL");
  removeDir(dataDir);
});

it("goes on after a rejected promise that nobody waited for", async () => {
  const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
  const logged = new Promise<string>((resolve) => daemon.child.stderr?.on("data", (text: string) => resolve(text)));
  daemon.child.kill("SIGCONT");
  expect(await logged).toContain("a rejection of the test");
  expect((await session.prompt("say still here")).text).toBe("still here");
});

it.runIf(linux)(
  "[S6] stops in good order after an error that was caught nowhere: it says so, no agent is left, the session goes on",
  async () => {
    const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    await session.prompt("say the word is owl");
    let said = "";
    daemon.child.stderr?.on("data", (text: string) => {
      said += text;
    });
    const code = await daemon.kill("SIGUSR2");
    expect(code).toBe(1);
    expect(said).toMatch(/a fault of the test/);
    expect(said).toMatch(/Sessions are kept: start it again/);
    expect(processesRunning("agents/mock/program", dataDir)).toEqual([]);
    daemon = await startDaemonProcess(dataDir);
    const again = daemon.client.session(session.id);
    expect((await again.get()).status).toBe("dormant");
    expect((await again.prompt("remember")).text).toContain("owl");
  },
);
