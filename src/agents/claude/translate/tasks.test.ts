import { describe, expect, it } from "vitest";
import type { Draft } from "../../../schema/draft.ts";
import type { TraceRow } from "../../../verify/replay.ts";
import { assistant, call, init, result, system, toolResult, user } from "./test-frames.ts";
import { ClaudeTranslator } from "./translator.ts";

const taskDrafts = (...rows: TraceRow[]): Draft[] => {
  const translator = new ClaudeTranslator();
  return rows
    .flatMap(({ dir, data }) => (dir === "daemon" ? [] : translator.translate({ dir, data })).flatMap(({ drafts }) => drafts))
    .filter(({ do: what }) => what.startsWith("task."));
};
const begin = [user("x"), init(), assistant("m", call("t", "Bash", { command: "npm run dev", run_in_background: true }))];
const started = (more: object = {}) =>
  system("task_started", {
    task_id: "b1",
    tool_use_id: "t",
    description: "Server",
    is_backgrounded: true,
    task_type: "local_bash",
    ...more,
  });
const notified = (status: string, summary: string) =>
  system("task_notification", { task_id: "b1", tool_use_id: "t", status, summary });
const start = {
  do: "task.start",
  key: "command:b1",
  tool_name: "Bash",
  command: "npm run dev",
  title: "Server",
  native: { task_id: "b1" },
};

describe("a background command of Claude Code", () => {
  it("is a task from its start to its end, with the exit code of the summary", () => {
    const told = toolResult("t", "Command running in background with ID: b1.", { tool_use_result: { backgroundTaskId: "b1" } });
    expect(
      taskDrafts(
        ...begin,
        started(),
        told,
        result(),
        notified("completed", 'Background command "Server" completed (exit code 0)'),
      ),
    ).toEqual([start, { do: "task.end", key: "command:b1", status: "exited", exit_code: 0 }]);
    expect(
      taskDrafts(...begin, started(), notified("failed", "Background command failed with exit code 7")).at(-1),
    ).toMatchObject({
      status: "exited",
      exit_code: 7,
    });
    expect(taskDrafts(...begin, started(), notified("stopped", "Server")).at(-1)).toMatchObject({ status: "stopped" });
    expect(taskDrafts(...begin, started(), notified("failed", "no such shell")).at(-1)).toMatchObject({
      status: "failed",
      error: "no such shell",
    });
  });

  it("is one when it is moved to the background; one in the foreground, and a sub-agent, are none", () => {
    const foreground = started({ is_backgrounded: false });
    expect(taskDrafts(...begin, foreground, notified("completed", "done"))).toEqual([]);
    const moved = system("task_updated", { task_id: "b1", patch: { is_backgrounded: true } });
    expect(taskDrafts(...begin, foreground, moved)).toEqual([start]);
    expect(taskDrafts(...begin, started({ task_type: "local_agent" }), notified("completed", "done"))).toEqual([]);
  });
});
