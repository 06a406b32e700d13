// What a request says about the agent that made it: the tools it offers to the model, and its user agent.

import { type ToolProfile, toolProfile } from "../scenario/tool-names.ts";
import { objectOf } from "./json.ts";
import type { ModelRequest } from "./model-request.ts";

export function profileOf(request: ModelRequest, userAgent: string): ToolProfile | undefined {
  const names = new Set(request.tools.map((tool) => tool.name));
  const takes = (tool: string, property: string): boolean =>
    request.tools.some((one) => one.name === tool && property in objectOf(one.schema.properties));
  return toolProfile({ protocol: request.protocol, has: (...all) => all.every((name) => names.has(name)), takes }, userAgent);
}
