import { describe, expect, it } from "vitest";
import { converse } from "./test-thread.ts";

const start = (prompt: string) => ({ argv: ["codex", "exec", "--json", prompt] });

describe("codex exec --json", () => {
  it("tells a turn with its prompt, a command and an answer", () => {
    const item = {
      id: "item_0",
      type: "command_execution",
      command: "/bin/bash -lc ls",
      aggregated_output: "",
      exit_code: null,
      status: "in_progress",
    };
    const talk = converse()
      .in(start("list"))
      .out({ type: "thread.started", thread_id: "th" })
      .out({ type: "turn.started" })
      .out({ type: "item.started", item })
      .out({ type: "item.completed", item: { ...item, aggregated_output: "a\n", exit_code: 0, status: "completed" } })
      .out({ type: "item.completed", item: { id: "item_1", type: "agent_message", text: "One file." } })
      .out({ type: "turn.completed", usage: { input_tokens: 5, output_tokens: 1 } });
    expect(talk.items().map(({ kind, role }) => `${kind} ${role}`)).toEqual([
      "message user",
      "tool_call assistant",
      "tool_result tool",
      "message assistant",
    ]);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
  });

  it("[G3] ids that begin again in a resumed process are other items", () => {
    const talk = converse();
    for (const text of ["One.", "Two."])
      talk
        .in(start("go"))
        .out({ type: "thread.started", thread_id: "th" })
        .out({ type: "turn.started" })
        .out({ type: "item.completed", item: { id: "item_0", type: "agent_message", text } })
        .out({ type: "turn.completed", usage: {} })
        .exit(0);
    expect(talk.items().filter(({ role }) => role === "assistant")).toHaveLength(2);
  });

  it("retries are no errors, and a failure is told once", () => {
    const message = "unexpected status 401 Unauthorized";
    const talk = converse()
      .in(start("go"))
      .out({ type: "thread.started", thread_id: "th" })
      .out({ type: "turn.started" })
      .out({ type: "error", message: `Reconnecting... 1/2 (${message})` })
      .out({ type: "error", message })
      .out({ type: "turn.failed", error: { message } })
      .exit(1);
    expect(talk.of("error")).toMatchObject([{ code: "provider_auth" }]);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "error", error_code: "provider_auth" }]);
  });

  it("the end of the process in a turn is the agent's fault and not the provider's", () => {
    const talk = converse()
      .in(start("go"))
      .out({ type: "thread.started", thread_id: "th" })
      .out({ type: "turn.started" })
      .exit(null, "SIGKILL");
    expect(talk.of("error")).toMatchObject([{ code: "execution_error", details: { error_source: "agent" } }]);
    expect(talk.of("turn.ended")).toMatchObject([{ stop_reason: "error", error_code: "execution_error" }]);
  });
});
