/** The data directory is taken away under a real daemon: it says so instead of writing into files that nobody finds again, and goes on when it is back. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess;
afterEach(async () => {
  await daemon.kill("SIGKILL");
  removeDir(dataDir);
  removeDir(`${dataDir}.away`);
});

const gone = { status: 503, code: "not_ready", message: expect.stringContaining("removed") };
const logFails = (): Promise<unknown> => expect.poll(async () => (await daemon.client.health()).log).toBe("failing");

it("a database that was moved: commands are refused with not_ready, and all goes on when it is back", async () => {
  dataDir = temporaryDir("removed");
  daemon = await startDaemonProcess(dataDir);
  const session = await daemon.client.createSession({ agent: "mock" });
  await session.send("clock 100000 5");
  const file = join(dataDir, "dragoman.db");
  renameSync(file, `${file}.away`);
  // The turn that runs brings its next commit by itself.
  await logFails();
  await expect(daemon.client.ready()).rejects.toMatchObject(gone);
  await expect(daemon.client.createSession({ agent: "mock" })).rejects.toMatchObject(gone);
  renameSync(`${file}.away`, file);
  await expect.poll(async () => (await daemon.client.health()).log).toBe("ok");
  await session.interrupt();
  expect((await session.prompt("say after")).text).toBe("after");
});

it("a directory that is gone is no wrong token; the daemon stops when it is told to, and says why with a code", async () => {
  dataDir = temporaryDir("removed");
  daemon = await startDaemonProcess(dataDir);
  let errors = "";
  daemon.child.stderr?.on("data", (text: string) => {
    errors += text;
  });
  const session = await daemon.client.createSession({ agent: "mock" });
  await session.send("clock 100000 5");
  // In one step: the daemon may be making a file in it right now.
  renameSync(dataDir, `${dataDir}.away`);
  await logFails();
  await expect(daemon.client.ready()).rejects.toMatchObject(gone);
  await expect(daemon.client.createSession({ agent: "mock" })).rejects.toMatchObject(gone);
  await daemon.kill("SIGTERM");
  expect(JSON.parse(errors.trim().split("\n").at(-1) ?? "")).toMatchObject({
    error: { code: "data_dir_unreadable", message: expect.stringContaining("removed or replaced") },
  });
});
