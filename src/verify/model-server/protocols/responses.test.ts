import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { type ModelServer, startModelServer } from "../model-server.ts";
import { bodies, postJson, postStream, type SentEvent, scenario } from "../test-client.ts";

const rich = scenario("rich", [
  {
    blocks: [
      { type: "thinking", text: "sum", chunks: 1 },
      { type: "thinking", text: "raw", chunks: 1, style: "raw" },
      { type: "redacted_thinking" },
      { type: "text", text: "working on it", phase: "commentary", chunks: 2 },
      { type: "tool", native_name: "exec_command", input: { cmd: "ls" }, chunks: 1 },
      { type: "tool", native_name: "echo", namespace: "mcp__lab", input: { message: "x" }, chunks: 1 },
      { type: "tool", native_name: "apply_patch", custom: true, raw_arguments: "*** Begin Patch\n*** End Patch", chunks: 1 },
      { type: "server_tool", name: "web_search", query: "q" },
      { type: "native_event", event: "response.brand_new", data: { type: "response.brand_new" } },
    ],
    usage: { input: 7, output: 9, reasoning: 4, cache_read: 2 },
  },
]);
const refusal = scenario("refusal", [{ blocks: [{ type: "refusal", text: "no" }] }]);
const short = scenario("short", [{ blocks: [{ type: "text", text: "cut" }], stop: "max_tokens" }]);
const filtered = scenario("filtered", [{ blocks: [{ type: "text", text: "cut" }], stop: "content_filter" }]);
const failing = scenario("failing", [{ blocks: [], fault: { kind: "failed", code: "rate_limit_exceeded", message: "later" } }]);
const overflow = scenario("overflow", [{ blocks: [], fault: { kind: "context_overflow" } }]);

describe("OpenAI Responses", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ scenarios: [rich, refusal, short, filtered, failing, overflow] });
  });
  afterAll(() => server.close());

  const ask = (name: string, stream = true): JsonObject => ({ ...bodies.responses([{ user: `[[scenario:${name}]]` }]), stream });
  const stream = (name: string): Promise<SentEvent[]> => postStream(`${server.url}/v1/responses`, ask(name));

  it("streams the documented sequence, numbered from 0", async () => {
    const events = await stream("rich");
    const known = events.filter((one) => one.event !== "response.brand_new");
    expect(known.map((one) => one.data.sequence_number)).toEqual(known.map((_, index) => index));
    expect(events.every((one) => one.event === one.data.type)).toBe(true);
    const item = (...inner: string[]) => ["response.output_item.added", ...inner, "response.output_item.done"];
    expect(events.map((one) => one.event)).toEqual([
      "response.created",
      "response.in_progress",
      ...item(
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
      ),
      ...item("response.reasoning_text.delta", "response.reasoning_text.done"),
      ...item(),
      ...item(
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
      ),
      ...item("response.function_call_arguments.delta", "response.function_call_arguments.done"),
      ...item("response.function_call_arguments.delta", "response.function_call_arguments.done"),
      ...item("response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"),
      ...item("response.web_search_call.in_progress", "response.web_search_call.searching", "response.web_search_call.completed"),
      "response.brand_new",
      "response.completed",
    ]);
  });

  it("announces items empty, finishes them full, and repeats them in response.completed", async () => {
    const events = await stream("rich");
    const items = events.filter((one) => one.event === "response.output_item.done").map((one) => one.data.item);
    expect(items).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "sum" }] },
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "raw" }] },
      { type: "reasoning", summary: [] },
      { type: "message", role: "assistant", phase: "commentary", content: [{ type: "output_text", text: "working on it" }] },
      { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' },
      { type: "function_call", name: "echo", namespace: "mcp__lab" },
      { type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch\n*** End Patch" },
      { type: "web_search_call", status: "completed", action: { type: "search", query: "q" } },
    ]);
    const announced = events.filter((one) => one.event === "response.output_item.added").map((one) => one.data.item);
    expect(announced).toMatchObject([
      { summary: [] },
      { summary: [] },
      { summary: [] },
      { content: [], status: "in_progress" },
      { arguments: "" },
      { arguments: "" },
      { input: "" },
      { status: "in_progress" },
    ]);
    expect(events.at(-1)?.data).toMatchObject({
      response: {
        status: "completed",
        output: items,
        usage: {
          input_tokens: 7,
          input_tokens_details: { cached_tokens: 2 },
          output_tokens: 9,
          output_tokens_details: { reasoning_tokens: 4 },
          total_tokens: 16,
        },
      },
    });
  });

  it("answers whole when the client does not stream", async () => {
    expect(await postJson(`${server.url}/openai/v1/responses`, ask("refusal", false))).toMatchObject({
      object: "response",
      status: "completed",
      output: [{ type: "message", content: [{ type: "refusal", refusal: "no" }] }],
    });
  });

  it("streams a refusal, an incomplete and a failed response", async () => {
    expect((await stream("refusal")).map((one) => one.event)).toContain("response.refusal.delta");
    expect((await stream("short")).at(-1)?.data).toMatchObject({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    });
    expect((await stream("filtered")).at(-1)?.data).toMatchObject({
      response: { incomplete_details: { reason: "content_filter" } },
    });
    expect((await stream("failing")).at(-1)?.data).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "rate_limit_exceeded", message: "later" } },
    });
    expect((await stream("overflow")).at(-1)?.data).toMatchObject({ response: { error: { code: "context_length_exceeded" } } });
  });

  it("names tools for the profile it sees, also where they come as an input item in namespaces", async () => {
    const tooled = await startModelServer({
      scenarios: [scenario("t", [{ blocks: [{ type: "tool", name: "shell", input: { command: "ls" } }] }])],
    });
    const asked = { type: "message", role: "user", content: [{ type: "input_text", text: "[[scenario:t]]" }] };
    const classic = await postJson(`${tooled.url}/v1/responses`, {
      input: [asked],
      tools: [{ type: "function", name: "exec_command" }],
    });
    expect(classic.output).toMatchObject([{ type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' }]);
    const tools = [{ type: "namespace", name: "functions", tools: [{ type: "custom", name: "exec" }] }];
    const code = await postJson(`${tooled.url}/v1/responses`, {
      input: [{ type: "additional_tools", role: "developer", tools }, asked],
    });
    expect(code.output).toMatchObject([
      { type: "custom_tool_call", name: "exec", input: expect.stringContaining('tools.exec_command({"cmd":"ls"})') },
    ]);
    await tooled.close();
  });
});
