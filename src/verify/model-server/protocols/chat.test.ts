import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../model-server.ts";
import { bodies, postJson, postStream, scenario } from "../test-client.ts";

const rich = scenario("rich", [
  {
    blocks: [
      { type: "thinking", text: "hmm", chunks: 1 },
      { type: "text", text: "answer", chunks: 2 },
      { type: "tool", native_name: "bash", input: { command: "ls" }, chunks: 2 },
      { type: "tool", native_name: "read", input: { filePath: "a" }, chunks: 1 },
    ],
    usage: { input: 11, output: 6, cache_read: 4, reasoning: 2 },
  },
]);
const stops = (["end", "max_tokens", "content_filter"] as const).map((stop) =>
  scenario(stop, [{ blocks: [{ type: "text", text: "x" }], stop }]),
);

describe("OpenAI Chat Completions", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ scenarios: [rich, ...stops] });
  });
  afterAll(() => server.close());

  const ask = (name: string) => bodies.chat([{ user: `[[scenario:${name}]]` }]);
  const delta = (value: unknown) => ({
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: value, finish_reason: null }],
  });

  it("streams role, deltas, finish reason, usage and [DONE]", async () => {
    const events = await postStream(`${server.url}/v1/chat/completions`, {
      ...ask("rich"),
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(events.at(-1)?.raw).toBe("[DONE]");
    expect(events.slice(0, -1).map((one) => one.data)).toMatchObject([
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "hmm" }),
      delta({ content: "ans" }),
      delta({ content: "wer" }),
      delta({ tool_calls: [{ index: 0, type: "function", function: { name: "bash", arguments: "" } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"comman' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: 'd":"ls"}' } }] }),
      delta({ tool_calls: [{ index: 1, type: "function", function: { name: "read", arguments: "" } }] }),
      delta({ tool_calls: [{ index: 1, function: { arguments: '{"filePath":"a"}' } }] }),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      {
        choices: [],
        usage: {
          prompt_tokens: 11,
          completion_tokens: 6,
          total_tokens: 17,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
    ]);
  });

  it("sends no usage chunk unless asked", async () => {
    const events = await postStream(`${server.url}/v1/chat/completions`, { ...ask("end"), stream: true });
    expect(events.some((one) => one.data.usage !== undefined)).toBe(false);
  });

  it.each([
    ["end", "stop"],
    ["max_tokens", "length"],
    ["content_filter", "content_filter"],
  ])("stop %s is finish_reason %s", async (name, reason) => {
    expect(await postJson(`${server.url}/chat/completions`, ask(name))).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "x" }, finish_reason: reason }],
    });
  });

  it("answers tool calls whole when the client does not stream", async () => {
    expect(await postJson(`${server.url}/v1/chat/completions`, ask("rich"))).toMatchObject({
      choices: [
        {
          message: {
            content: "answer",
            reasoning_content: "hmm",
            tool_calls: [
              { type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } },
              { function: { name: "read" } },
            ],
          },
        },
      ],
    });
  });
});
