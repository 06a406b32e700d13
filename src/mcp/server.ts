// The daemon as an MCP server, for one client. Speaks to the daemon through the client library alone; transports are others' business.

import { Compile } from "typebox/compile";
import { DragomanError } from "../client/error.ts";
import { faultsOf } from "../schema/faults.ts";
import { printableJson, visibleText } from "../schema/visible-text.ts";
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema, Server } from "./sdk.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { ToolRefusal } from "./tool-refusal.ts";
import { tools } from "./tools.ts";

export type McpServerOptions = Omit<ToolContext, "signal"> & { version: string };

const INSTRUCTIONS = `dragoman runs other coding agents. create_session with a message, then wait_for_session, then read_session.
A session with open_permissions waits for a person: tell them which session and what it asks. You cannot answer permissions and questions of sessions you created.`;

const byName = new Map(tools.map((tool) => [tool.name, { tool, validator: Compile(tool.input) }]));

export function createMcpServer({ version, ...context }: McpServerOptions): Server {
  const server = new Server({ name: "dragoman", version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(describe) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    try {
      return answer(await call(params.name, params.arguments ?? {}, { ...context, signal }));
    } catch (error) {
      return refusal(error);
    }
  });
  return server;
}

const describe = ({ name, description, input, readOnly }: Tool) => ({
  name,
  description,
  inputSchema: { ...input, type: "object" as const },
  annotations: { readOnlyHint: readOnly, destructiveHint: name === "terminate", openWorldHint: !readOnly },
});

async function call(name: string, args: unknown, context: ToolContext): Promise<Record<string, unknown>> {
  const known = byName.get(name);
  if (!known) throw new ToolRefusal("unknown_tool", `There is no tool ${name}. There are: ${[...byName.keys()].join(", ")}.`);
  if (!known.validator.Check(args)) {
    const [fault] = faultsOf(known.validator.Errors(args));
    throw new ToolRefusal("invalid_arguments", `${fault?.path || "The arguments"} ${fault?.message ?? "are not valid"}.`);
  }
  return known.tool.run(args, context);
}

const answer = (value: Record<string, unknown>): CallToolResult => ({
  content: [{ type: "text", text: printableJson(value) }],
  structuredContent: value,
});

/** Faults are answers, so that the model can act on them; the code is the daemon's own. */
function refusal(error: unknown): CallToolResult {
  const code = error instanceof DragomanError || error instanceof ToolRefusal ? error.code : "internal";
  const message = error instanceof Error ? error.message : String(error);
  return { isError: true, content: [{ type: "text", text: `${visibleText(message)} [${code}]` }] };
}
