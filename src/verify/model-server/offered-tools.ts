/** Which of the tools on offer the model may call, and the answer of a model that is offered tools and follows no script: it calls the first one, then says it is done. */
import type { ModelStep } from "../../agents/scenario.ts";
import { type JsonObject, objectOf, objectsOf, stringOf } from "./json.ts";
import type { ModelRequest, OfferedTool, ToolChoice } from "./model-request.ts";
import { schemaInstance } from "./schema-instance.ts";

/** `none`, `auto`, `required`, one function, or `allowed_tools` with a mode. */
export function toolChoice(value: unknown): ToolChoice {
  const choice: JsonObject = objectOf(value);
  if (choice.type === "allowed_tools") {
    const only = objectsOf(choice.tools).map(({ name }) => stringOf(name));
    return { only: choice.mode === "none" ? [] : only, must: choice.mode === "required" };
  }
  if (choice.type === "function" || choice.type === "custom") return { only: [stringOf(choice.name)], must: true };
  return { only: value === "none" ? [] : null, must: value === "required" };
}

export function callable({ tools, choice }: ModelRequest): readonly OfferedTool[] {
  const only = choice?.only ?? null;
  return only === null ? tools : tools.filter(({ name }) => only.includes(name));
}

/** Undefined: there is nothing to call, or it was called. */
export function offeredStep(request: ModelRequest): ModelStep | undefined {
  const [tool] = callable(request);
  if (tool === undefined || callsSincePrompt(request) > 0) return undefined;
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace };
  const raw_arguments = JSON.stringify(schemaInstance(tool.schema));
  return { blocks: [{ type: "tool", native_name: tool.name, raw_arguments, chunks: 3, ...namespace }] };
}

/** Answers with calls since the last message of the user. */
export function callsSincePrompt({ history }: ModelRequest): number {
  const prompt = history.findLastIndex(({ role }) => role === "user");
  return history.slice(prompt + 1).filter((entry) => entry.role === "assistant" && entry.calls.length > 0).length;
}
