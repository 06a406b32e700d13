/** Servers as they are: a client gets every event whole, comes to an end, and `probe` finds out by asking what the table of profiles says. */
import { afterEach, describe, expect, it } from "vitest";
import { ResponsesClient } from "../../openresponses/client.ts";
import { probe } from "../../openresponses/probe.ts";
import { profileById } from "../../openresponses/profiles.ts";
import type { ReceivedEvent } from "../../openresponses/provider-event.ts";
import { LIKENESSES, type ModelServer, startModelServer } from "./index.ts";
import { scenario } from "./test-client.ts";

let server: ModelServer;
afterEach(() => server.close());

const MIXED = scenario("mixed", [
  {
    blocks: [
      { type: "thinking", text: "Let me see.", style: "raw" },
      { type: "text", text: "Grüße 🐉" },
      { type: "tool", native_name: "add", raw_arguments: '{"a":1}', chunks: 3 },
    ],
  },
]);

const start = async (like: string): Promise<string> => {
  server = await startModelServer({ scenarios: [MIXED], default: "mixed", callsTools: true, like });
  return `${server.url}/v1`;
};

describe.each(Object.keys(LIKENESSES))("a server like %s", (like) => {
  it("is understood: nothing is dropped, bytes are equal, the answer is whole", async () => {
    const client = new ResponsesClient({ baseUrl: await start(like) });
    const events: ReceivedEvent[] = [];
    const bytes: Buffer[] = [];
    const body = JSON.stringify({ model: "m", stream: true, input: "Go." });
    const { items } = await client.stream(body, {
      onEvent: (event) => void events.push(event),
      onBytes: (chunk) => void bytes.push(chunk),
    });
    const sent = Buffer.concat(bytes).toString();
    expect(events.map((event) => event.bytes.toString()).join("")).toBe(sent);
    expect(events).toHaveLength(sent.split("\n\n").length - 1);
    expect(items.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"]);
    expect(items[2]).toMatchObject({ name: "add", arguments: '{"a":1}' });
    expect(events.at(-1)?.status === "done").toBe(profileById(like)?.facts.doneMark);
  });

  it("is found out by asking", async () => {
    const { facts } = await probe({ baseUrl: await start(like) });
    const { compact, websocket, toolChoice, stored, sequenceNumbers, doneMark } = profileById(like)?.facts ?? facts;
    expect(facts).toMatchObject({ compact, websocket, toolChoice, stored, sequenceNumbers, doneMark });
  });
});

it("has the deviations of the real ones", async () => {
  const types = async (like: string): Promise<string> => {
    const baseUrl = await start(like);
    const body = JSON.stringify({ model: "m", stream: true, input: "Go." });
    const text = await (await fetch(`${baseUrl}/responses`, { method: "POST", body })).text();
    await server.close();
    return text;
  };
  const llamacpp = await types("llamacpp");
  expect(llamacpp).not.toMatch(/sequence_number|output_index|arguments\.done|\[DONE\]/);
  const vllm = await types("vllm");
  expect(vllm).toMatch(/response\.reasoning_part\.added[\s\S]*reasoning_text\.delta[\s\S]*response\.reasoning_part\.done/);
  expect(vllm).toContain('"id":"final_');
});
