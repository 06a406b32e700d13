import { describe, expect, it } from "vitest";
import {
  assistant,
  blockStart,
  call,
  delta,
  init,
  of,
  play,
  result,
  started,
  stopped,
  system,
  text,
  toolResult,
  user,
} from "./test-frames.ts";

const file = {
  type: "update",
  filePath: "/w/n.txt",
  content: "b\n",
  originalFile: "a\n",
  structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] }],
};

describe("tools", () => {
  it("[G6] calls that use an id again, in a sub-agent, an answer or a turn, each have their own result", () => {
    const again = (message: string, command: string, more = {}) => [
      assistant(message, call("call_1", "Bash", { command }), more),
      toolResult("call_1", `of ${command}`, more),
    ];
    const inner = again("a1", "one", { parent_tool_use_id: "A" });
    const agent = [assistant("m1", call("A", "Agent", { prompt: "a" })), ...inner, toolResult("A", "ok")];
    const first = [user("x"), init(), ...agent, ...again("m2", "two"), result()];
    const played = play(...first, user("y"), init(), ...again("m3", "three"), result());
    expect(played.rules).toEqual([]);
    const parts = played.items.flatMap(({ content }) => content);
    const outputs = parts.flatMap((part) => (part.type === "tool_result" && part.call_id === "call_1" ? [part.output] : []));
    expect(outputs).toEqual(["of one", "of two", "of three"]);
    const calls = played.items.filter(({ content }) => content.some((part) => part.type === "tool_call" && part.name === "Bash"));
    expect(calls.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  });

  it("[G6] a call is in progress until its result; both belong to the message", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Bash", { command: "ls", description: "List" })),
      toolResult("t", "a", { tool_use_result: { stdout: "a", stderr: "", interrupted: false } }),
      result(),
    );
    expect(played.rules).toEqual([]);
    const [message, toolCall, toolAnswer] = played.items.slice(1);
    expect(toolCall).toMatchObject({
      kind: "tool_call",
      status: "completed",
      parent_id: message?.item_id,
      content: [{ tool_kind: "shell", title: "List" }],
    });
    expect(toolAnswer).toMatchObject({
      kind: "tool_result",
      parent_id: message?.item_id,
      content: [{ output: "a", exit_code: 0 }],
    });
  });

  it("a long output is all that the CLI has of it, not the first 2 kB that the model gets", () => {
    const given =
      "<persisted-output>\nOutput too large (59.5KB). Full output saved to: /p/b.txt\n\nPreview (first 2KB):\n1\n...\n</persisted-output>";
    const stdout = "1\n".repeat(15_000);
    const detail = { stdout, stderr: "odd", interrupted: false, persistedOutputPath: "/p/b.txt", persistedOutputSize: 60_894 };
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Bash", { command: "seq" })),
      toolResult("t", given, { tool_use_result: detail }),
      assistant("m2", call("u", "Bash", { command: "seq" })),
      toolResult("u", given),
      result(),
    );
    const outputs = played.items.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === "tool_result" ? [part.output] : [])),
    );
    expect(outputs).toEqual([`${stdout}\nodd\nOutput too large (59.5KB). Full output saved to: /p/b.txt`, given]);
  });

  it("a failed command has its exit code from the text", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Bash", { command: "false" })),
      toolResult("t", "Exit code 3\nout", { tool_use_result: "Error: Exit code 3\nout" }, true),
      result(),
    );
    expect(played.items.find((item) => item.kind === "tool_result")).toMatchObject({
      status: "failed",
      content: [{ is_error: true, exit_code: 3 }],
    });
  });

  it("a file change carries a unified diff", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Write", { file_path: "/w/n.txt", content: "b\n" })),
      toolResult("t", "ok", { tool_use_result: file }),
      result(),
    );
    const parts = played.items.find((item) => item.kind === "tool_result")?.content;
    expect(parts?.[1]).toEqual({
      type: "file_ref",
      path: "/w/n.txt",
      action: "write",
      diff: "--- /w/n.txt\n+++ /w/n.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n",
    });
  });

  it("a new file has a diff from nothing; an edit inside a sub-agent has none", () => {
    const fresh = { type: "create", filePath: "/w/n.txt", content: "b\n", originalFile: null, structuredPatch: [] };
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Write", { file_path: "/w/n.txt", content: "b\n" })),
      toolResult("t", "ok", { tool_use_result: fresh }),
      assistant("m2", call("u", "Edit", { file_path: "/w/n.txt", old_string: "b", new_string: "c" })),
      toolResult("u", "ok"),
      result(),
    );
    const refs = played.items.flatMap((item) => item.content.filter((part) => part.type === "file_ref"));
    expect(refs[0]?.diff).toContain("+b");
    expect(refs[1]).toMatchObject({ action: "patch", diff: null });
  });

  it("streamed arguments stay as they are when they say the same, and are replaced when the CLI changed them", () => {
    const streamed = (id: string, raw: string, input: Record<string, unknown>) => [
      blockStart(0, { type: "tool_use", id, name: "Edit", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: raw }),
      assistant(`m${id}`, call(id, "Edit", input)),
      stopped(),
      toolResult(id, "ok"),
    ];
    const played = play(
      user("x"),
      init(),
      started("ma"),
      ...streamed("a", '{ "file_path": "/n" }', { file_path: "/n" }),
      started("mb"),
      ...streamed("b", '{"file_path":"/n"}', { file_path: "/n", replace_all: false }),
      result(),
    );
    const args = played.items.flatMap((item) =>
      item.content.flatMap((part) => (part.type === "tool_call" ? [part.arguments] : [])),
    );
    expect(args).toEqual(['{ "file_path": "/n" }', '{"file_path":"/n","replace_all":false}']);
  });

  it("broken JSON of the model is shown as it was written", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Bash", { __unparsedToolInput: { raw: '{"command": "ech', len: 16 } })),
      toolResult("t", "bad", {}, true),
      result(),
    );
    expect(played.items.find((item) => item.kind === "tool_call")?.content[0]).toMatchObject({ arguments: '{"command": "ech' });
  });

  it("a picture in a result becomes an artifact", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Read", { file_path: "/p.png" })),
      toolResult("t", [image, text("a dot")]),
      result(),
    );
    const parts = played.items.find((item) => item.kind === "tool_result")?.content ?? [];
    expect(parts.map((part) => part.type)).toEqual(["tool_result", "file_ref", "image"]);
    expect(JSON.stringify(played.events.map(({ data }) => data))).not.toContain("aGk=");
  });

  it("a search at the provider is a call with its result", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } }),
      assistant("m", {
        type: "web_search_tool_result",
        tool_use_id: "s",
        content: [{ type: "web_search_result", title: "T", url: "https://e.org" }],
      }),
      assistant("m", text("Found.")),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(played.items.find((item) => item.kind === "tool_result")?.content).toMatchObject([
      { output: "T https://e.org" },
      { type: "resource", uri: "https://e.org" },
    ]);
  });

  it("a todo list is one plan item a turn", () => {
    const todo = (id: string, status: string) => [
      assistant(`m${id}`, call(id, "TodoWrite", { todos: [] })),
      toolResult(id, "ok", { tool_use_result: { newTodos: [{ content: "Write", status }] } }),
    ];
    const played = play(user("x"), init(), ...todo("a", "pending"), ...todo("b", "completed"), result());
    const plans = played.items.filter((item) => item.kind === "status");
    expect(plans).toMatchObject([
      { status: "completed", content: [{ type: "plan", entries: [{ text: "Write", status: "completed" }] }] },
    ]);
  });

  it("the task tools change single entries of the plan", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("a", "TaskCreate", { subject: "Write", description: "d" })),
      toolResult("a", "Task #1 created", { tool_use_result: { task: { id: "1" } } }),
      assistant("m", call("b", "TaskUpdate", { taskId: "1", status: "in_progress", owner: "worker-1" })),
      toolResult("b", "ok", { tool_use_result: { success: true } }),
      result(),
    );
    expect(played.items.find((item) => item.kind === "status")?.content).toEqual([
      { type: "plan", entries: [{ text: "Write", status: "in_progress" }] },
    ]);
    expect(of(played, "team.task_updated")).toEqual([{ task_id: "1", status: "in_progress", owner: "worker-1", title: "Write" }]);
  });

  it("a background command outlives its turn and ends with its task", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Bash", { command: "sleep 9", run_in_background: true })),
      system("task_started", { task_id: "b1", run_id: "r", tool_use_id: "t", description: "job", is_backgrounded: true }),
      toolResult("t", "running", { tool_use_result: { stdout: "", backgroundTaskId: "b1" } }),
      result(),
      system("task_notification", { task_id: "b1", run_id: "r", tool_use_id: "t", status: "completed", summary: "done" }),
    );
    expect(played.rules).toEqual([]);
    const ended = played.events.findIndex((event) => event.type === "turn.ended");
    const closed = played.events.findIndex((event) => event.type === "item.completed" && event.data.item.kind === "tool_call");
    expect(closed).toBeGreaterThan(ended);
  });

  it("a heartbeat of a long call names the real call in parent_tool_use_id", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Bash", { command: "sleep 99" })),
      {
        t_ms: 0,
        dir: "out",
        data: {
          type: "tool_progress",
          tool_use_id: "t-heartbeat-1",
          parent_tool_use_id: "t",
          tool_name: "Bash",
          elapsed_time_seconds: 30,
          heartbeat: true,
        },
      },
      toolResult("t", "ok"),
      result(),
    );
    expect(played.items.find((item) => item.kind === "status")).toMatchObject({
      status: "completed",
      content: [{ label: "Bash", detail: "running for 30 s" }],
    });
  });

  it("named agents are team members, SendMessage their talk", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Agent", { description: "d", name: "worker-1", subagent_type: "general" })),
      system("task_started", {
        task_id: "a",
        run_id: "1",
        tool_use_id: "t",
        description: "d",
        is_backgrounded: true,
        subagent_type: "general",
      }),
      toolResult("t", "launched", { tool_use_result: { isAsync: true, agentId: "a" } }),
      system("task_notification", { task_id: "a", tool_use_id: "t", status: "completed", summary: "s" }),
      assistant("m2", call("u", "SendMessage", { to: "worker-1", message: "hello" })),
      system("task_started", { task_id: "a", run_id: "2", tool_use_id: "u", description: "d", is_backgrounded: true }),
      toolResult("u", "ok"),
      result(),
    );
    expect(of(played, "team.message")).toEqual([{ from: "main", to: "worker-1", text: "hello" }]);
    expect(of(played, "team.state_changed").map((one) => one.members[0]?.status)).toEqual(["running", "idle", "running"]);
  });
});
