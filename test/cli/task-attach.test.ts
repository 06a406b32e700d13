// `task attach` on a real terminal: the screen comes first, keys go through, the size follows, Ctrl-] leaves and the task goes on.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { closeTerminals, TestTerminal } from "./terminal.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("task-attach");
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  closeTerminals();
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

describe("a terminal on a task", () => {
  it("is started, left, found again as it was, and ends with the program", async () => {
    const first = new TestTerminal(dataDir, ["task", "run", "--pty", "--env", "PS1=ready> ", "--", "sh", "-i"]);
    await first.sees("ready>");
    first.type("stty size; echo one-$((20+3))\n");
    await first.sees("24 80");
    await first.sees("one-23");
    first.type("sleep 600\n");
    first.type("\u0003");
    await first.sees("ready>");
    first.type("\u001d");
    await first.sees("goes on");
    expect(await first.exit).toBe(0);
    const [task] = (await daemon.client.tasks({ status: "running" })).tasks;
    const second = new TestTerminal(dataDir, ["task", "attach", task?.task_id ?? ""]);
    await second.sees("one-23");
    second.pty.resize(61, 13);
    for await (const event of daemon.client.task(task?.task_id ?? "").events())
      if (event.type === "task.resized" && event.data.rows === 13 && event.data.cols === 61) break;
    second.type("stty size\n");
    await second.sees("13 61");
    second.type("exit 7\n");
    expect(await second.exit).toBe(7);
  });
});
