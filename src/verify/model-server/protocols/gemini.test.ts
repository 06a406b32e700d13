import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../model-server.ts";
import { bodies, post, postJson, postStream, scenario } from "../test-client.ts";

const rich = scenario("rich", [
  {
    blocks: [
      { type: "thinking", text: "hmm", chunks: 1 },
      { type: "text", text: "answer", chunks: 2 },
      { type: "tool", native_name: "read_file", input: { file_path: "a" } },
    ],
    usage: { input: 11, output: 6, cache_read: 4, reasoning: 2 },
  },
]);
const stops = (["end", "max_tokens", "refusal", "malformed_call"] as const).map((stop) =>
  scenario(stop, [{ blocks: [{ type: "text", text: "x" }], stop }]),
);

describe("Gemini", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ scenarios: [rich, ...stops] });
  });
  afterAll(() => server.close());

  const ask = (name: string) => bodies.gemini([{ user: `[[scenario:${name}]]` }]);
  const part = (value: unknown) => ({
    candidates: [{ content: { role: "model", parts: [value] }, index: 0 }],
    modelVersion: "gemini-9",
  });

  it("streams one response a part, the finish reason in the last", async () => {
    const events = await postStream(`${server.url}/v1beta/models/gemini-9:streamGenerateContent?alt=sse`, ask("rich"));
    expect(events.every((one) => one.event === undefined)).toBe(true);
    expect(events.map((one) => one.data)).toMatchObject([
      part({ text: "hmm", thought: true }),
      part({ text: "ans" }),
      part({ text: "wer" }),
      part({ functionCall: { name: "read_file", args: { file_path: "a" } } }),
      {
        candidates: [{ finishReason: "STOP" }],
        usageMetadata: {
          promptTokenCount: 11,
          candidatesTokenCount: 6,
          thoughtsTokenCount: 2,
          cachedContentTokenCount: 4,
          totalTokenCount: 19,
        },
      },
    ]);
    expect(JSON.stringify(events.slice(0, -1).map((one) => one.data))).not.toContain("finishReason");
  });

  it("streams a JSON array without alt=sse", async () => {
    const response = await post(`${server.url}/v1beta/models/g:streamGenerateContent`, ask("end"));
    expect(await response.json()).toMatchObject([{ candidates: [{}] }, { candidates: [{ finishReason: "STOP" }] }]);
  });

  it.each([
    ["end", "STOP"],
    ["max_tokens", "MAX_TOKENS"],
    ["refusal", "SAFETY"],
    ["malformed_call", "MALFORMED_FUNCTION_CALL"],
  ])("stop %s is finishReason %s", async (name, reason) => {
    expect(await postJson(`${server.url}/gateway/v1/models/g:generateContent`, ask(name))).toMatchObject({
      candidates: [{ content: { role: "model" }, finishReason: reason }],
    });
  });

  it("counts tokens and lists models", async () => {
    expect((await postJson(`${server.url}/v1beta/models/g:countTokens`, ask("rich"))).totalTokens).toBeGreaterThan(0);
    expect(await (await fetch(`${server.url}/v1beta/models`)).json()).toMatchObject({
      models: [{ name: "models/scripted-model" }, {}],
    });
  });
});
