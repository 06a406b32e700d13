import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "./json.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { postJson, scenario, textStep } from "./test-client.ts";

const marked = "Do it. [[scenario:main#1]]";
const tools = [{ name: "Bash", input_schema: { properties: { command: {} } } }];
const functions = [{ type: "function", function: { name: "bash", parameters: {} } }];

describe("side calls", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({
      scenarios: [
        scenario("main", [textStep("from the script"), textStep("more of the script")]),
        { ...scenario("own", [textStep("script")]), side: { summary: textStep("my own summary") } },
      ],
    });
  });
  afterAll(() => server.close());

  const ask = async (path: string, body: JsonObject): Promise<{ side: string | undefined; answer: string }> => {
    const answer = JSON.stringify(await postJson(`${server.url}${path}`, body));
    return { side: server.requests.at(-1)?.side, answer };
  };

  it("leaves the agent's main request to the script", async () => {
    const { side, answer } = await ask("/v1/messages", { messages: [{ role: "user", content: marked }], tools });
    expect([side, answer.includes("from the script")]).toEqual([undefined, true]);
  });

  it("claude: a summary carries the place in the script", async () => {
    const messages = [
      { role: "user", content: marked },
      { role: "assistant", content: "from the script" },
      {
        role: "user",
        content: "Your task is to create a detailed summary of the conversation so far, paying close attention. <summary>",
      },
    ];
    const { side, answer } = await ask("/v1/messages", { messages, tools });
    expect(side).toBe("summary");
    expect(answer).toContain("[[scenario:main#1+1]]\\n</summary>");
  });

  it("a scenario may bring its own summary", async () => {
    const input = [
      { type: "message", role: "user", content: [{ type: "input_text", text: "[[scenario:own#1]]" }] },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "You are performing a CONTEXT CHECKPOINT COMPACTION. Create" }],
      },
    ];
    expect(await ask("/v1/responses", { input })).toMatchObject({
      side: "summary",
      answer: expect.stringContaining("my own summary"),
    });
  });

  it("opencode: titles and summaries", async () => {
    const title = [
      { role: "system", content: "You are a title generator. You output ONLY a thread title." },
      { role: "user", content: "Generate a title for this conversation:\n" },
      { role: "user", content: marked },
    ];
    expect(await ask("/v1/chat/completions", { messages: title })).toMatchObject({ side: "title" });
    const summary = [
      { role: "user", content: marked },
      { role: "user", content: "Provide a detailed prompt for continuing our conversation above." },
    ];
    expect(await ask("/v1/chat/completions", { messages: summary, tools: functions })).toMatchObject({ side: "summary" });
  });

  it("gemini: a classifier gets an answer that fits its schema", async () => {
    const responseJsonSchema = {
      type: "object",
      properties: {
        reasoning: { type: "string" },
        next_speaker: { type: "string", enum: ["model", "user"] },
        score: { type: "number", minimum: 1 },
      },
      required: ["reasoning", "next_speaker", "score"],
    };
    const { side, answer } = await ask("/v1beta/models/g:generateContent", {
      contents: [{ role: "user", parts: [{ text: marked }] }],
      generationConfig: { responseJsonSchema },
    });
    expect(side).toBe("structured");
    expect(answer).toContain('\\"next_speaker\\":\\"user\\"');
  });

  it("qwen: the memory sub-agent has tools and the user's history, and is no part of the script", async () => {
    const messages = [
      { role: "system", content: "You are now acting as the managed memory extraction subagent for an AI coding assistant." },
      { role: "user", content: marked },
      { role: "assistant", content: "from the script" },
      { role: "user", content: "Managed memory has TWO directories." },
    ];
    expect(await ask("/v1/chat/completions", { messages, tools: functions })).toMatchObject({ side: "memory" });
  });

  it("amp: the one tool the client insists on is called", async () => {
    const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const { side, answer } = await ask("/api/provider/anthropic/v1/messages", {
      messages: [{ role: "user", content: marked }],
      tools: [{ name: "set_title", input_schema: schema }],
      tool_choice: { type: "tool", name: "set_title" },
    });
    expect(side).toBe("forced_tool");
    expect(answer).toContain('"name":"set_title","input":{"title":"Scripted session"}');
  });

  it("does not take an ordinary prompt for a side call", async () => {
    const content = `Please write a function that makes a title and summarize it. ${marked}`;
    expect(
      await ask("/v1/messages", { system: "You are a coding agent.", messages: [{ role: "user", content }], tools }),
    ).toMatchObject({
      side: undefined,
    });
  });
});
