/** Commands of our own agent that outlive their call: tasks of the session, which a person sees and stops like any other. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { UniversalEvent } from "../../../schema/event.ts";
import { checkGrammar } from "../../../schema/grammar.ts";
import { checkTaskGrammar } from "../../../schema/task-grammar.ts";
import { eventsOf, play, until } from "../../../session/test-session.ts";
import { ResponsesLedger } from "../translate/ledger-frames.ts";
import { outputsOf, TestCore } from "./test-core.ts";

let test: TestCore;
afterEach(() => test.close());

/** One call of `bash`, then an answer. Without a sandbox, so that a command's number is the one we see. */
const running = (args: object): Promise<TestCore> =>
  TestCore.open(
    ({ input }) => (input.at(-1)?.type === "function_call_output" ? [{ text: "It runs." }] : [{ call: "bash", args }]),
    { sandbox: "off" },
  );

const eventsOfTask = async (id: string): Promise<UniversalEvent[]> =>
  (await (await test.core.tasks.stream(id)).read({ limit: 1_000 })).events.map((json) => JSON.parse(json) as UniversalEvent);

const isLast = ({ type }: UniversalEvent): boolean => type === "task.status";
const FOR_EVER = "trap '' TERM; echo pid $$; while :; do sleep 0.05; done";

/** The number that a command of `FOR_EVER` has written by now, or will write. */
async function pidOf(id: string): Promise<number> {
  for (;;) {
    const text = (await eventsOfTask(id)).flatMap(({ type, data }) => (type === "task.output" ? [data.chunk] : [])).join("");
    const pid = /pid (\d+)\n/.exec(text)?.[1];
    if (pid !== undefined) return Number(pid);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a command that outlives its call", () => {
  it("is a task with everything it wrote, before and after, and its exit code", async () => {
    // It writes the end of a character only when it is allowed to go on.
    const command = "printf 'one \\303'; echo err >&2; until [ -e go ]; do sleep 0.05; done; printf '\\244 two'; exit 3";
    test = await running({ command, yield_ms: 300, title: "Server" });
    const session = await test.start({ permission_mode: "bypass" });
    await play(session, "Go.");
    expect(outputsOf(test.request(2))[0]).toContain("Still running as");
    const { tasks } = await test.core.tasks.list({ session_id: session.session_id });
    const about = { tool_name: "bash", owner: "agent", title: "Server", status: "running", cwd: test.work, controls: ["cancel"] };
    expect(tasks).toMatchObject([about]);
    writeFileSync(join(test.work, "go"), "");
    await until(session, isLast);
    const id = tasks[0]?.task_id ?? "";
    const events = await eventsOfTask(id);
    expect(checkTaskGrammar(events)).toEqual([]);
    const written = (wanted: string): string =>
      events.flatMap(({ type, data }) => (type === "task.output" && data.stream === wanted ? [data.chunk] : [])).join("");
    expect([written("stdout"), written("stderr")]).toEqual(["one ä two", "err\n"]);
    expect(events.at(-1)).toMatchObject({ data: { status: "exited", exit_code: 3 } });
    const told = await eventsOf(session);
    expect(checkGrammar(told)).toEqual([]);
    expect(told.filter(({ type }) => type.startsWith("task.")).map(({ type }) => type)).toEqual(["task.spawned", "task.status"]);
    const deltas = told.flatMap(({ type, data }) => (type === "item.delta" && data.part_type === "tool_output" ? [data] : []));
    // The call's own output is what came before its answer, and says which of the two it is.
    for (const { stream = "", delta } of deltas) expect(written(stream).startsWith(delta)).toBe(true);
  });

  it("is stopped by a person, with its children, and its call has no exit code that nobody knows", async () => {
    test = await running({ command: FOR_EVER, background: true });
    const session = await test.start({ permission_mode: "bypass" });
    await play(session, "Go.");
    const { tasks } = await test.core.tasks.list({ session_id: session.session_id });
    const id = tasks[0]?.task_id ?? "";
    const pid = await pidOf(id);
    await test.core.tasks.tasks.cancel(id, "enough");
    await until(session, isLast);
    expect(isAlive(pid)).toBe(false);
    expect(test.core.tasks.tasks.get(id)).toMatchObject({ status: "cancelled" });
    const ledger = new ResponsesLedger();
    const { messages } = await session.stream.readNative({ limit: 10_000 });
    const frames = messages.flatMap(({ dir, body }) => ledger.frames({ dir, text: body.toString() }));
    expect(frames.filter(({ type }) => type === "tool_started")).toMatchObject([{ name: "bash", timeout_ms: null }]);
    expect(frames.filter(({ type }) => type === "tool_ended")).toMatchObject([{ exit_code: -1 }]);
  });

  it("ends with its session", async () => {
    test = await running({ command: FOR_EVER, background: true });
    const session = await test.start({ permission_mode: "bypass" });
    await play(session, "Go.");
    const { tasks } = await test.core.tasks.list({ session_id: session.session_id });
    const id = tasks[0]?.task_id ?? "";
    const pid = await pidOf(id);
    await session.terminate();
    await test.core.tasks.tasks.ended(id);
    expect(isAlive(pid)).toBe(false);
    expect(checkTaskGrammar(await eventsOfTask(id))).toEqual([]);
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });
});
