// The call of a logical tool for the agent that asks: decided by the tools it offers to the model and, where that says nothing, by its user agent.
import { json, type NativeCall, type Offer, type ToolInput } from "../../agents/kit/verify/tool-names.ts";
import type { LogicalTool } from "../../agents/scenario.ts";
import { toolSets } from "../../agents/verified.ts";

/** The id of a set of tool names, of those that agents bring. */
export type ToolProfile = string;

export function toolProfile(offer: Offer, userAgent: string): ToolProfile | undefined {
  const set = toolSets.find((one) => one.offered(offer)) ?? toolSets.find((one) => one.userAgent?.test(userAgent));
  return set?.id;
}

/** The call an agent with this profile understands; unknown profile or no such tool: the logical name and input. */
export function nativeCall(profile: ToolProfile | undefined, tool: LogicalTool, input: ToolInput): NativeCall {
  const mapping = toolSets.find(({ id }) => id === profile)?.calls[tool];
  return mapping ? mapping(input) : json(tool, input);
}
