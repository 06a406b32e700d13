/**
 * How a logical tool call of a scenario becomes the call one agent understands: its own tool name and input. Each agent has its table in its `verify/`
 * folder, with the names and inputs of its pinned version. A tool without a row goes out under its logical name.
 */
import { isRecord } from "../../json.ts";
import type { LogicalTool } from "../../scenario.ts";

/** A call as the provider's protocol carries it. `free_text` calls exist only in the Responses protocol. */
export type NativeCall =
  | { readonly kind: "json"; readonly name: string; readonly namespace?: string; readonly input: Record<string, unknown> }
  | { readonly kind: "free_text"; readonly name: string; readonly text: string };

export type ToolInput = Record<string, unknown>;
export type ToolCalls = Partial<Record<LogicalTool, (input: ToolInput) => NativeCall>>;

/** What a request to the model says about the program that made it. */
export type Offer = {
  readonly protocol: "anthropic" | "responses" | "chat" | "gemini";
  /** All of these tools are on offer. */
  has(...names: string[]): boolean;
  /** The tool is on offer and its input has this property. */
  takes(tool: string, property: string): boolean;
};

/** The tools of one agent. An agent may have two sets: Codex has, and which one is in force depends on the model, not on the client. */
export type ToolSet = {
  readonly id: string;
  /** Whether such an offer is this agent's. The first set that says yes is taken: the more particular one stands first in the list. */
  offered(offer: Offer): boolean;
  /** Asked when no set knows the offer. */
  readonly userAgent?: RegExp;
  readonly calls: ToolCalls;
};

/*
 * Logical inputs:
 *   shell      { command, description?, timeout_ms?, background?, escalate? }
 *   read       { path }                       write { path, content }        edit { path, old, new }
 *   search     { pattern, path? }             glob  { pattern }
 *   todo       { items: [{ text, status: "pending"|"in_progress"|"completed" }] }
 *   ask        { questions: [{ question, header, options: [{ label, description }], multi? }] }
 *   subagent   { description, prompt, type? } plan  { text }                 enter_plan {}
 *   web_fetch  { url, prompt? }               web_search { query }           mcp { server, tool, arguments }
 */

export const str = (value: unknown): string => (typeof value === "string" ? value : "");
export const list = (value: unknown): ToolInput[] => (Array.isArray(value) ? value.filter(isRecord) : []);
export const defined = (input: ToolInput): ToolInput =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
export const json = (name: string, input: ToolInput): NativeCall => ({ kind: "json", name, input: defined(input) });
export const mcpName = (i: ToolInput): string => `mcp__${str(i.server)}__${str(i.tool)}`;
export const args = (i: ToolInput): ToolInput => (isRecord(i.arguments) ? i.arguments : {});
export const describe = (i: ToolInput): string => str(i.description) || "run a command";

export const questions = (i: ToolInput) =>
  list(i.questions).map((q) => ({
    question: str(q.question),
    header: str(q.header),
    multiSelect: q.multi === true,
    options: list(q.options).map((o) => ({ label: str(o.label), description: str(o.description) })),
  }));
