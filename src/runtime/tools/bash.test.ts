import { afterEach, describe, expect, it } from "vitest";
import { shellEnvironment } from "../shell-tasks.ts";
import { askTool } from "./ask.ts";
import { bashTool } from "./bash.ts";
import { planTool } from "./plan.ts";
import { taskTool } from "./task.ts";
import { TestDirectory } from "./test-tools.ts";

let directory: TestDirectory;
afterEach(() => directory.remove());

const bash = (args: object, signal?: AbortSignal) => directory.call(bashTool, args, signal);
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("bash", () => {
  it("gives output and exit code, stdout and stderr apart while it runs, and no input", async () => {
    directory = await TestDirectory.make();
    const good = await bash({ command: "echo out; echo err >&2; cat; pwd" });
    expect(String(good.output).split("\n").sort()).toEqual(["err", "out", directory.path].sort());
    expect(good).toMatchObject({ exitCode: 0, isError: false });
    expect(directory.output.join("")).toContain("stdout: out");
    expect(directory.output.join("")).toContain("stderr: err");
    expect(await bash({ command: "exit 7" })).toMatchObject({ exitCode: 7, isError: true, output: "(no output)\nExit code 7" });
    expect((await bash({ cmd: "kill -9 $$" })).output).toContain("Ended by SIGKILL");
    await directory.write("sub/x", "");
    expect((await bash({ command: "pwd", cwd: "sub" })).output).toBe(`${directory.path}/sub`);
    await expect(bash({ command: "pwd", cwd: "none" })).rejects.toThrow("not a directory");
  });

  it("ends when the shell exits, though a process in the background holds the pipe", async () => {
    directory = await TestDirectory.make();
    const { output } = await bash({ command: "sleep 300 & echo started $!" });
    const pid = Number(/started (\d+)/.exec(String(output))?.[1]);
    expect(isAlive(pid)).toBe(true);
    await directory.tasks.close();
    await until(() => !isAlive(pid));
  });

  it("keeps beginning and end of a long output, all of it as an artifact, characters whole", async () => {
    directory = await TestDirectory.make();
    const { output, artifacts } = await bash({ command: 'for i in $(seq 1 20000); do echo "Zeile $i 🐉"; done' });
    expect(String(output)).toContain("Zeile 1 🐉");
    expect(String(output)).toContain("Zeile 20000 🐉");
    expect(Buffer.byteLength(String(output))).toBeLessThan(52 * 1024);
    const whole = await directory.blobs.get(artifacts?.[0] ?? "");
    expect(whole?.toString().trim().split("\n")).toHaveLength(20000);
    expect(directory.output.join("")).not.toContain("\ufffd");
  });

  it("becomes a task when it takes long; the task can be read and stopped", async () => {
    directory = await TestDirectory.make();
    const { output } = await bash({ command: "echo begun; until [ -e go ]; do sleep 0.05; done; echo ended", yield_ms: 300 });
    const id = /Still running as (\S+)\./.exec(String(output))?.[1] ?? "";
    expect(String(output)).toContain("begun");
    expect((await directory.call(taskTool, { action: "list" })).output).toContain(`${id}\trunning`);
    await directory.write("go", "");
    const more = String((await directory.call(taskTool, { action: "output", id, after: 6, wait_ms: 60_000 })).output);
    expect(more).toContain("ended");
    await until(() => directory.tasks.list().every((task) => !task.running));
    expect((await directory.call(taskTool, { action: "output", id, after: 6 })).output).toContain("Ended with exit code 0.");
    await expect(directory.call(taskTool, { action: "output", id: "nope" })).rejects.toThrow("There is no task");
  });

  it("a background command goes on without a limit until it is stopped, with its children", async () => {
    directory = await TestDirectory.make();
    const { output } = await bash({ command: "sleep 300 & echo child $!; trap '' TERM; wait; sleep 300", background: true });
    const id = /Still running as (\S+)\./.exec(String(output))?.[1] ?? "";
    await directory.call(taskTool, { action: "output", id, wait_ms: 60_000 });
    const pid = Number(/child (\d+)/.exec(directory.output.join(""))?.[1]);
    expect(isAlive(pid)).toBe(true);
    expect((await directory.call(taskTool, { action: "stop", id })).output).toContain("Stopped.");
    await until(() => !isAlive(pid));
  });

  it("a command whose time is over is ended, and an interrupt ends it at once", async () => {
    directory = await TestDirectory.make();
    expect((await bash({ command: "echo a; sleep 300", timeout_ms: 200 })).output).toContain("its time was over");
    const controller = new AbortController();
    const running = bash({ command: "echo b; sleep 300" }, controller.signal);
    await until(() => directory.output.join("").includes("b"));
    controller.abort();
    expect((await running).output).toContain("Interrupted by the user.");
    expect(directory.tasks.list().every((task) => !task.running)).toBe(true);
  });

  it("hands no keys to commands", async () => {
    const env = shellEnvironment({
      PATH: "/bin",
      OPENAI_API_KEY: "x",
      GH_TOKEN: "x",
      DRAGOMAN_DATA: "x",
      MY_SECRET: "x",
      KEYBOARD: "de",
      MONKEY: "m",
    });
    expect(Object.keys(env).sort()).toEqual([
      "GIT_PAGER",
      "GIT_TERMINAL_PROMPT",
      "KEYBOARD",
      "MONKEY",
      "NO_COLOR",
      "PAGER",
      "PATH",
      "TERM",
    ]);
    directory = await TestDirectory.make();
  });
});

describe("ask", () => {
  it("gives question and answer back, and goes on without one", async () => {
    directory = await TestDirectory.make();
    const asked: unknown[] = [];
    const asker = (answers: string[] | null) =>
      askTool({
        ask: async (questions) => {
          asked.push(questions);
          return answers;
        },
      });
    const questions = [{ question: "Red or blue?", options: ["red", "blue"] }, { question: "How many?" }];
    expect((await directory.call(asker(["blue"]), { questions })).output).toBe(
      "Red or blue?\n→ blue\n\nHow many?\n→ (no answer)",
    );
    expect((await directory.call(asker(["7"]), { question: "How many?" })).output).toBe("How many?\n→ 7");
    await expect(directory.call(asker(null), { questions })).rejects.toThrow("does not answer");
    expect(asked[1]).toEqual([{ question: "How many?", options: [] }]);
  });
});

describe("plan", () => {
  it("keeps the entries", async () => {
    directory = await TestDirectory.make();
    const entries = [
      { text: "a", status: "completed" },
      { text: "b", status: "in_progress" },
    ];
    expect((await directory.call(planTool, { entries })).output).toBe("The plan has 2 entries, 1 of them open.");
    expect(directory.plan).toEqual(entries);
    await expect(directory.call(planTool, { entries: [{ text: "a", status: "maybe" }] })).rejects.toThrow("/entries/0/status");
  });
});
