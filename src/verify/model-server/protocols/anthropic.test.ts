import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../model-server.ts";
import { bodies, postJson, postStream, scenario } from "../test-client.ts";

const rich = scenario("rich", [
  {
    blocks: [
      { type: "thinking", text: "thought one", chunks: 2 },
      { type: "redacted_thinking" },
      { type: "text", text: "answer", chunks: 2 },
      { type: "tool", native_name: "Bash", input: { command: "ls" }, chunks: 2 },
      { type: "server_tool", name: "web_search", query: "q", results: [{ title: "t", url: "https://example.com" }] },
      { type: "native", anthropic: { type: "brand_new_block", x: 1 } },
    ],
    usage: { input: 10, output: 5, cache_read: 3, cache_write: 2 },
  },
]);
const stops = (["max_tokens", "refusal", "pause", "stop_sequence", "context_window"] as const).map((stop) =>
  scenario(stop, [{ blocks: [{ type: "text", text: "x" }], stop }]),
);

describe("Anthropic Messages", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ scenarios: [rich, ...stops] });
  });
  afterAll(() => server.close());

  const ask = (name: string) => bodies.anthropic([{ user: `go [[scenario:${name}]]` }]);

  it("streams the documented sequence: message_start, blocks one after the other, message_delta, message_stop", async () => {
    const events = await postStream(`${server.url}/v1/messages?beta=true`, { ...ask("rich"), stream: true });
    expect(events.every((one) => one.event === one.data.type)).toBe(true);
    const shape = events.map((one) => {
      const inner = one.data.delta ?? one.data.content_block;
      const type = typeof inner === "object" && inner !== null && "type" in inner ? `:${inner.type}` : "";
      return `${one.event}${one.data.index === undefined ? "" : `[${one.data.index}]`}${type}`;
    });
    expect(shape).toEqual([
      "message_start",
      "ping",
      "content_block_start[0]:thinking",
      "content_block_delta[0]:thinking_delta",
      "content_block_delta[0]:thinking_delta",
      "content_block_delta[0]:signature_delta",
      "content_block_stop[0]",
      "content_block_start[1]:redacted_thinking",
      "content_block_stop[1]",
      "content_block_start[2]:text",
      "content_block_delta[2]:text_delta",
      "content_block_delta[2]:text_delta",
      "content_block_stop[2]",
      "content_block_start[3]:tool_use",
      "content_block_delta[3]:input_json_delta",
      "content_block_delta[3]:input_json_delta",
      "content_block_delta[3]:input_json_delta",
      "content_block_stop[3]",
      "content_block_start[4]:server_tool_use",
      "content_block_delta[4]:input_json_delta",
      "content_block_stop[4]",
      "content_block_start[5]:web_search_tool_result",
      "content_block_stop[5]",
      "content_block_start[6]:brand_new_block",
      "content_block_stop[6]",
      "message_delta",
      "message_stop",
    ]);
    expect(events[0]?.data).toMatchObject({
      message: { type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage: { input_tokens: 10 } },
    });
    const json = events.flatMap((one) => {
      const delta = one.data.delta;
      return one.data.index === 3 && typeof delta === "object" && delta !== null && "partial_json" in delta
        ? [delta.partial_json]
        : [];
    });
    expect(JSON.parse(json.join(""))).toEqual({ command: "ls" });
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
    });
  });

  it("answers whole when the client does not stream", async () => {
    const answer = await postJson(`${server.url}/v1/messages`, ask("rich"));
    expect(answer).toMatchObject({ type: "message", role: "assistant", stop_reason: "tool_use", usage: { output_tokens: 5 } });
    expect(answer.content).toMatchObject([
      { type: "thinking", thinking: "thought one" },
      { type: "redacted_thinking" },
      { type: "text", text: "answer" },
      { type: "tool_use", name: "Bash", input: { command: "ls" } },
      { type: "server_tool_use" },
      { type: "web_search_tool_result", content: [{ type: "web_search_result", url: "https://example.com" }] },
      { type: "brand_new_block" },
    ]);
  });

  it.each([
    ["max_tokens", "max_tokens"],
    ["refusal", "refusal"],
    ["pause", "pause_turn"],
    ["stop_sequence", "stop_sequence"],
    ["context_window", "model_context_window_exceeded"],
  ])("stop %s is stop_reason %s", async (name, reason) => {
    expect(await postJson(`${server.url}/v1/messages`, ask(name))).toMatchObject({ stop_reason: reason });
  });

  it("counts tokens, lists models, says hello and knows its own paths behind any prefix", async () => {
    const counted = await postJson(`${server.url}/v1/messages/count_tokens`, ask("rich"));
    expect(counted.input_tokens).toBeGreaterThan(0);
    const models = await (await fetch(`${server.url}/v1/models?limit=1000`)).json();
    expect(models).toMatchObject({ data: [{ type: "model", id: "scripted-model" }, {}], has_more: false });
    expect((await fetch(`${server.url}/api/hello`, { method: "HEAD" })).status).toBe(200);
    for (const prefix of ["/anthropic", "/api/provider/anthropic", "/a/b/c"]) {
      expect(await postJson(`${server.url}${prefix}/v1/messages`, ask("max_tokens"))).toMatchObject({
        stop_reason: "max_tokens",
      });
    }
    const missing = await fetch(`${server.url}/v1/nothing`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { type: "not_found_error" } });
  });
});
