/** What is used of the MCP library. The build puts the library's code into this file: it has many dependencies, and few of them are needed here. */
export { Server } from "@modelcontextprotocol/sdk/server/index.js";
export { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
export { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
export type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
export { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
