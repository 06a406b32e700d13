/** What is left of tasks when the daemon is killed with -9: nothing after the next start, and for a terminal nothing even before it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { closeLost, foldTask, type TaskEvent, type TaskState } from "../../schema/task.ts";
import { reapOrphans } from "../../transports/index.ts";
import { endStrays, isAlive, noteStrays, until } from "../../transports/test-processes.ts";

let root: string;
let dir: string;
let modules: string;

/** A helper daemon is a process of its own, so it needs this folder as plain JavaScript. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "task-crash-"));
  const entry = join(root, "entry.ts");
  const from = (path: string): string => JSON.stringify(join(import.meta.dirname, path));
  writeFileSync(
    entry,
    `export * from ${from("index.ts")}; export { ProcessRegistry } from ${from("../../transports/index.ts")};`,
  );
  await build({
    configFile: false,
    logLevel: "silent",
    build: { ssr: entry, outDir: join(root, "built"), emptyOutDir: true },
    ssr: { noExternal: true, external: ["@lydell/node-pty"] },
  });
  const file = readdirSync(join(root, "built")).find((name) => /\.m?js$/.test(name)) ?? "";
  writeFileSync(join(root, "built", "package.json"), '{"type":"module"}');
  modules = pathToFileURL(join(root, "built", file)).href;
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  dir = mkdtempSync(join(root, "records-"));
});
afterEach(() => endStrays());

const COMMAND = "echo pid=$$= ; setsid sh -c 'echo pid=$$= ; exec sleep 600' & sleep 600";

/** A daemon with one task, whose processes are up. */
async function startDaemon(mode: "pipes" | "pty"): Promise<{ daemon: ChildProcess; pids: number[]; events: TaskEvent[] }> {
  const program = `
    import { ProcessRegistry, Tasks } from ${JSON.stringify(modules)};
    const sink = { append: (event) => void process.stdout.write(JSON.stringify(event) + "\\n") };
    const tasks = new Tasks({ sink, recorder: new ProcessRegistry(${JSON.stringify(dir)}) });
    const place = { root: null, environment: process.env };
    await tasks.start({ command: ${JSON.stringify(COMMAND)}, execution_mode: ${JSON.stringify(mode)} }, place);
    setInterval(() => {}, 1000);`;
  // The optional package is found from the working directory's modules, as an installed daemon finds it.
  const daemon = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_PATH: join(import.meta.dirname, "../../../node_modules"), DRAGOMAN_NO_CGROUP: "1" },
  });
  let text = "";
  const pids = await new Promise<number[]>((resolve) => {
    daemon.stdout.on("data", (chunk) => {
      text += chunk;
      const found = [...text.matchAll(/pid=(\d+)=/g)].map((match) => Number(match[1]));
      if (found.length >= 2) resolve(found);
    });
  });
  noteStrays(...pids);
  const events = text
    .trim()
    .split("\n")
    .map((line): TaskEvent => JSON.parse(line));
  return { daemon, pids, events };
}

async function killNow(daemon: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => daemon.once("exit", resolve));
  daemon.kill("SIGKILL");
  await gone;
}

describe.each(["pipes", "pty"] as const)("after kill -9 of the daemon, a task with %s", (mode) => {
  it("is ended by the next start, with what left its group, and closed as failed", async () => {
    const { daemon, pids, events } = await startDaemon(mode);
    await killNow(daemon);
    await reapOrphans(dir, { graceMs: 50 });
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(readdirSync(dir).filter((name) => name.endsWith(".json"))).toEqual([]);
    const state = events.reduce<TaskState | null>(foldTask, null);
    expect(state?.status).toBe("running");
    const closing = state === null ? [] : closeLost(state, new Date(0));
    expect(closing).toMatchObject([{ type: "task.status", data: { status: "failed", error: "the daemon was restarted" } }]);
    const closed = closing.reduce<TaskState | null>(foldTask, state);
    expect(closed).toMatchObject({ status: "failed", ended_at: "1970-01-01T00:00:00.000Z" });
    expect(closed && closeLost(closed, new Date())).toEqual([]);
  });
});

describe("a terminal whose daemon died", () => {
  it("hangs up at once: nobody else holds it", async () => {
    const { daemon, pids } = await startDaemon("pty");
    await killNow(daemon);
    await until(() => !isAlive(pids[0] ?? 0));
    expect(isAlive(pids[0] ?? 0)).toBe(false);
  });
});
