/** What only our own agent is asked to play: its tools, its sandbox, its limits. */
import type { ModelStep, Scenario } from "../../scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const call = (native_name: string, input: Record<string, unknown>): ModelStep => ({
  blocks: [{ type: "tool", native_name, input }],
});
const raw = (native_name: string, raw_arguments: string): ModelStep => ({
  blocks: [{ type: "tool", native_name, raw_arguments }],
});

const PATCH = `*** Begin Patch
*** Update File: a.txt
@@
-alpha
+beta
*** Add File: b.txt
+new
*** End Patch
`;

type Rest = Omit<Scenario, "name" | "title" | "turns" | "only">;

const one = (name: string, title: string, steps: ModelStep[], rest: Rest): Scenario => ({
  name: `responses-${name}`,
  title,
  turns: [{ prompt: "Go on.", steps }],
  only: ["responses"],
  ...rest,
});

const free = { permission_mode: "bypass" as const, files: { "a.txt": "alpha\n" } };

export const responsesScenarios: readonly Scenario[] = [
  one("patch", "a patch over two files", [call("apply_patch", { patch: PATCH }), say("Patched.")], {
    session: free,
    expect: { stop_reason: "end_turn", tools: ["edit"], files: { "a.txt": "beta", "b.txt": "new" } },
  }),
  one(
    "patch-refused",
    "a patch that does not fit changes nothing, and the model is informed",
    [call("apply_patch", { patch: PATCH.replace("-alpha", "-omega") }), say("It did not fit.")],
    { session: free, expect: { stop_reason: "end_turn", files: { "a.txt": "alpha", "b.txt": null } } },
  ),
  one("no-such-tool", "a tool that does not exist", [call("teleport", {}), say("There is none.")], {
    session: free,
    expect: { stop_reason: "end_turn", seen_text: ["There is no tool"] },
  }),
  one(
    "bad-arguments",
    "arguments that are not JSON, three times in a row",
    [raw("read", "{"), raw("read", "{"), raw("read", "{")],
    {
      session: free,
      expect: { stop_reason: "error", error_code: "execution_error" },
    },
  ),
  one(
    "sandbox",
    "a command sees nothing of the daemon and writes nothing elsewhere",
    [call("bash", { command: "cat $HOME/../data/daemon.json; touch /etc/proof 2>&1" }), say("It saw nothing.")],
    { session: free, expect: { stop_reason: "end_turn", seen_text: ["No such file or directory", "Read-only file system"] } },
  ),
  one(
    "background",
    "a command that goes on beside the turn, and is looked after",
    [call("bash", { command: "echo up; sleep 30", background: true }), call("task", { action: "list" }), say("It runs.")],
    { session: free, expect: { stop_reason: "end_turn", seen_text: ["Still running as", "running\t"] } },
  ),
];
