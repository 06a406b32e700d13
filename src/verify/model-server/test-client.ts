// For tests only: talks to the model server the way provider SDKs do, and builds histories in each provider's format.

import { createParser } from "eventsource-parser";
import type { ModelStep, Scenario } from "../../agents/scenario.ts";
import { isObject, type JsonObject, objectOf, parseJson } from "./json.ts";

export interface SentEvent {
  readonly event: string | undefined;
  readonly data: JsonObject;
  readonly raw: string;
}

export const post = (url: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

export async function postJson(url: string, body: unknown, headers: Record<string, string> = {}): Promise<JsonObject> {
  const answer: unknown = await (await post(url, body, headers)).json();
  return objectOf(answer);
}

export function readEvents(text: string): SentEvent[] {
  const events: SentEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const value = parseJson(data);
      events.push({ event, data: isObject(value) ? value : {}, raw: data });
    },
  });
  parser.feed(text);
  return events;
}

export async function postStream(url: string, body: JsonObject, headers: Record<string, string> = {}): Promise<SentEvent[]> {
  return readEvents(await (await post(url, body, headers)).text());
}

/** What arrives before the connection breaks. */
export async function postUntilBroken(url: string, body: JsonObject): Promise<{ text: string; broken: boolean }> {
  const response = await post(url, body);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
}

export const scenario = (name: string, steps: ModelStep[], ...more: ModelStep[][]): Scenario => ({
  name,
  title: name,
  turns: [steps, ...more].map((one, index) => ({ prompt: `prompt ${index + 1}`, steps: one })),
});

export const textStep = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });

/** A conversation in no provider's format. */
export type Said =
  | { readonly user: string }
  | { readonly assistant: string; readonly calls?: readonly { readonly id: string; readonly name: string }[] }
  | { readonly result: string; readonly id: string; readonly name: string };

const isCallless = (calls: readonly unknown[] | undefined): boolean => calls === undefined || calls.length === 0;

export const bodies = {
  anthropic: (said: readonly Said[]): JsonObject => ({
    model: "m",
    max_tokens: 100,
    messages: said.map((one) => {
      if ("user" in one) return { role: "user", content: one.user };
      if ("result" in one) return { role: "user", content: [{ type: "tool_result", tool_use_id: one.id, content: one.result }] };
      const text = one.assistant ? [{ type: "text", text: one.assistant }] : [];
      return {
        role: "assistant",
        content: [...text, ...(one.calls ?? []).map((call) => ({ type: "tool_use", ...call, input: {} }))],
      };
    }),
  }),
  chat: (said: readonly Said[]): JsonObject => ({
    model: "m",
    messages: said.map((one) => {
      if ("user" in one) return { role: "user", content: one.user };
      if ("result" in one) return { role: "tool", tool_call_id: one.id, content: one.result };
      const calls = (one.calls ?? []).map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: "{}" },
      }));
      return { role: "assistant", content: one.assistant, ...(isCallless(calls) ? {} : { tool_calls: calls }) };
    }),
  }),
  responses: (said: readonly Said[]): JsonObject => ({
    model: "m",
    input: said.flatMap((one): JsonObject[] => {
      if ("user" in one) return [{ type: "message", role: "user", content: [{ type: "input_text", text: one.user }] }];
      if ("result" in one) return [{ type: "function_call_output", call_id: one.id, output: one.result }];
      const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: one.assistant }] };
      const calls = (one.calls ?? []).map((call) => ({
        type: "function_call",
        call_id: call.id,
        name: call.name,
        arguments: "{}",
      }));
      return [{ type: "reasoning", summary: [] }, ...(one.assistant ? [message] : []), ...calls];
    }),
  }),
  gemini: (said: readonly Said[]): JsonObject => ({
    contents: said.map((one) => {
      if ("user" in one) return { role: "user", parts: [{ text: one.user }] };
      if ("result" in one) {
        return { role: "user", parts: [{ functionResponse: { id: one.id, name: one.name, response: { output: one.result } } }] };
      }
      const calls = (one.calls ?? []).map((call) => ({ functionCall: { id: call.id, name: call.name, args: {} } }));
      return { role: "model", parts: [...(one.assistant ? [{ text: one.assistant }] : []), ...calls] };
    }),
  }),
};

export const paths = {
  anthropic: "/v1/messages",
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  gemini: "/v1beta/models/m:generateContent",
} as const;
