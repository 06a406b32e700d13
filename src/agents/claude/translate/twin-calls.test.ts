/** Providers that count the calls of each conversation: two sub-agents at work have calls of one id, and so have two turns. */
import { expect, it } from "vitest";
import { ask, assistant, call, init, of, play, reply, result, system, text, toolResult, user } from "./test-frames.ts";

const agent = (id: string) =>
  system("task_started", { task_id: `task-${id}`, tool_use_id: id, description: id, task_type: "local_agent" });
const under = (parent: string, of?: string) => ({ parent_tool_use_id: parent, ...(of ? { agent_id: of } : {}) });
const request = (id: string, of: string, command: string) =>
  ask(id, { subtype: "can_use_tool", tool_name: "Bash", input: { command }, tool_use_id: "call_0", agent_id: `task-${of}` });

it("[G6] calls of one id in two sub-agents are two, each with its own arguments, permission and result", () => {
  const played = play(
    user("x"),
    init(),
    assistant("m", call("a", "Agent", {})),
    assistant("m", call("b", "Agent", {})),
    agent("a"),
    agent("b"),
    assistant("ma", call("call_0", "Bash", { command: "one" }), under("a")),
    assistant("mb", call("call_0", "Bash", { command: "two" }), under("b")),
    request("r1", "a", "one"),
    request("r2", "b", "two"),
    reply("r2", { behavior: "allow", toolUseID: "call_0" }),
    toolResult("call_0", "of two", under("b")),
    reply("r1", { behavior: "deny", message: "no", toolUseID: "call_0" }),
    toolResult("call_0", "refused", under("a"), true),
    toolResult("a", "A"),
    toolResult("b", "B"),
    assistant("n", text("Done.")),
    result(),
  );
  expect(played.rules).toEqual([]);
  const calls = played.items.filter(({ native_item_id, kind }) => native_item_id === "call_0" && kind === "tool_call");
  const results = played.items.filter(({ native_item_id, kind }) => native_item_id === "call_0" && kind === "tool_result");
  const told = calls.map(({ content: [part], item_id, parent_id, status }) => {
    if (part?.type !== "tool_call") throw new Error("no call");
    const answer = results.find(({ content: [each] }) => each?.type === "tool_result" && each.call_id === part.call_id);
    const permission = of(played, "permission.resolved").find(({ metadata }) => metadata.item_id === item_id);
    const [said] = answer?.content ?? [];
    return {
      arguments: part.arguments,
      status,
      output: said?.type === "tool_result" ? said.output : null,
      sameParent: answer?.parent_id === parent_id,
      permission: permission?.status,
      permissionCall: permission?.metadata.call_id === part.call_id,
    };
  });
  expect(told).toEqual([
    {
      arguments: '{"command":"two"}',
      status: "completed",
      output: "of two",
      sameParent: true,
      permission: "approved",
      permissionCall: true,
    },
    {
      arguments: '{"command":"one"}',
      status: "failed",
      output: "refused",
      sameParent: true,
      permission: "denied",
      permissionCall: true,
    },
  ]);
});

it("a todo list whose call has the id of the one of an earlier turn is told", () => {
  const turn = (id: string, content: string) => [
    user("x"),
    init(),
    assistant(id, call("call_0", "TodoWrite", { todos: [{ content, status: "pending" }] })),
    toolResult("call_0", "ok"),
    result(),
  ];
  const played = play(...turn("m", "one"), ...turn("n", "two"));
  const plans = played.items.flatMap(({ content }) => content.filter((part) => part.type === "plan"));
  expect(plans.map(({ entries }) => entries[0]?.text)).toEqual(["one", "two"]);
});

it("[G5] agents of one id that two agents started are two, each with its own work under it", () => {
  const nested = (task: string, parent: string) =>
    system("task_started", {
      task_id: task,
      tool_use_id: "z",
      parent_task_id: parent,
      description: task,
      task_type: "local_agent",
    });
  const played = play(
    user("x"),
    init(),
    assistant("m", call("a", "Agent", {})),
    assistant("m", call("b", "Agent", {})),
    agent("a"),
    agent("b"),
    assistant("ma", call("z", "Agent", { prompt: "one" }), under("a", "task-a")),
    assistant("mb", call("z", "Agent", { prompt: "two" }), under("b", "task-b")),
    nested("zb", "task-b"),
    nested("za", "task-a"),
    assistant("ia", text("in one"), under("z", "za")),
    assistant("ib", text("in two"), under("z", "zb")),
    toolResult("z", "of one", under("a", "task-a")),
    toolResult("z", "of two", under("b", "task-b")),
    toolResult("a", "A"),
    toolResult("b", "B"),
    result(),
  );
  expect(played.rules).toEqual([]);
  const said = (words: string) => played.items.find(({ content: [part] }) => part?.type === "text" && part.text === words);
  const promptOver = (words: string) => {
    const parent = played.items.find(({ item_id }) => item_id === said(words)?.parent_id);
    return parent?.content.flatMap((part) => (part.type === "tool_call" ? part.arguments : []));
  };
  expect([promptOver("in one"), promptOver("in two")]).toEqual([['{"prompt":"one"}'], ['{"prompt":"two"}']]);
});

it("[G6] a call with the id of an agent that works in the background is a call of its own", () => {
  const background = system("task_started", {
    task_id: "t",
    tool_use_id: "call_0",
    is_backgrounded: true,
    description: "t",
    task_type: "local_agent",
  });
  const played = play(
    user("x"),
    init(),
    assistant("m", call("call_0", "Agent", { prompt: "work" })),
    background,
    toolResult("call_0", "started"),
    result(),
    user("y"),
    init(),
    assistant("n", call("call_0", "Bash", { command: "ls" })),
    toolResult("call_0", "files"),
    result(),
    system("task_notification", { task_id: "t", tool_use_id: "call_0", status: "completed", summary: "done" }),
  );
  expect(played.rules).toEqual([]);
  const calls = played.items.flatMap(({ content, status }) =>
    content.flatMap((part) => (part.type === "tool_call" ? `${part.name} ${status}` : [])),
  );
  expect(calls).toEqual(["Bash completed", "Agent completed"]);
  const outputs = played.items.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "tool_result" ? part.output : [])),
  );
  expect(outputs).toEqual(["started", "files"]);
});

it("[G5] words of the CLI in a sub-agent hang under its call, also where that id was used before", () => {
  const turn = (id: string, words: string) => [
    user("x"),
    init(),
    assistant(id, call("call_0", "Agent", {})),
    agent("call_0"),
    assistant("s", text(words), {
      message: { id: `s-${id}`, model: "<synthetic>", content: [text(words)] },
      ...under("call_0"),
    }),
    toolResult("call_0", "done"),
    result(),
  ];
  const played = play(...turn("m", "one"), ...turn("n", "two"));
  const parents = played.items.filter(({ kind }) => kind === "system").map(({ parent_id }) => parent_id);
  expect(new Set(parents).size).toBe(2);
  expect(played.rules).toEqual([]);
});
