/** Providers that count the calls of each conversation: two sub-agents at work have calls of one id, and so have two turns. */
import { expect, it } from "vitest";
import { ask, assistant, call, init, of, play, reply, result, system, text, toolResult, user } from "./test-frames.ts";

const agent = (id: string) =>
  system("task_started", { task_id: `task-${id}`, tool_use_id: id, description: id, task_type: "local_agent" });
const under = (parent: string) => ({ parent_tool_use_id: parent });
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
