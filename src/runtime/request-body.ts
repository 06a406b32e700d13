/** Builds the body of a request from the state alone, key by key in a fixed order: the same state gives the same bytes, today and in a replay. */
import type { JsonObject } from "../openresponses/json.ts";
import { balanceFault, inputItems } from "./input-items.ts";
import type { RuntimeState } from "./state.ts";

/** Tools that a plan may use. */
export const READ_ONLY_TOOLS: readonly string[] = ["read", "ls", "glob", "grep", "plan", "ask", "skill"];

export function requestBody(state: RuntimeState): string {
  const { settings } = state;
  const input = inputItems(state.entries, state.outcomeOf, settings.endpoint);
  const fault = balanceFault(input);
  if (fault !== null) throw new Error(`The conversation is not balanced (${fault}): this is a bug of the runtime.`);
  return JSON.stringify({ ...baseBody(state), input, ...toolKeys(state) });
}

/** A request without tools, for a summary. */
export function summaryBody(state: RuntimeState, items: readonly JsonObject[], question: JsonObject): string {
  return JSON.stringify({ ...baseBody(state), input: [...items, question] });
}

function baseBody(state: RuntimeState): JsonObject {
  const { settings, sessionId } = state;
  const { endpoint } = settings;
  return {
    model: settings.model,
    instructions: settings.instructions,
    store: false,
    stream: true,
    ...(endpoint.reasoning === "encrypted" ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(endpoint.prompt_cache_key ? { prompt_cache_key: sessionId.slice(0, 64) } : {}),
    ...(settings.reasoning_effort === null ? {} : { reasoning: { effort: settings.reasoning_effort, summary: "auto" } }),
    ...(settings.max_output_tokens === null ? {} : { max_output_tokens: settings.max_output_tokens }),
  };
}

function toolKeys(state: RuntimeState): JsonObject {
  const { settings } = state;
  if (settings.tools.length === 0) return {};
  // The list of tools stays the same in every mode: the provider's cache of the prompt stays valid.
  const choice = settings.mode === "plan" && settings.endpoint.tool_choice ? { tool_choice: planChoice(settings.tools) } : {};
  return { tools: settings.tools, ...choice, parallel_tool_calls: true };
}

const planChoice = (tools: readonly JsonObject[]): JsonObject => ({
  type: "allowed_tools",
  mode: "auto",
  tools: tools
    .filter((tool) => READ_ONLY_TOOLS.includes(String(tool.name)))
    .map((tool) => ({ type: tool.type === "custom" ? "custom" : "function", name: tool.name })),
});
