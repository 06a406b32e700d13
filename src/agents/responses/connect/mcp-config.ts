/** Which MCP servers a session has: those it was created with, the person's own, and those of a trusted directory. The first of a name counts. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { McpServerSpec } from "../../../runtime/mcp/servers.ts";
import type { AgentHost, SessionConfig } from "../../contract.ts";
import { isRecord, type JsonRecord, records, str } from "../../json.ts";

export const MCP_FILE = ".mcp.json";

export async function mcpServersOf(host: Pick<AgentHost, "settings">, config: SessionConfig): Promise<McpServerSpec[]> {
  const own = records(host.settings.mcp_servers).flatMap((entry) => serverOf(str(entry.name) ?? "", entry));
  const found = [...config.mcp_servers, ...own, ...(config.trusted ? await fromDirectory(config.directory) : [])];
  const names = new Set<string>();
  return found.filter(({ name }) => !names.has(name) && names.add(name));
}

/** `{"mcpServers": {"name": {"command": …}}}`. What is no such file has no servers. */
async function fromDirectory(directory: string): Promise<McpServerSpec[]> {
  const text = await readFile(join(directory, MCP_FILE), "utf8").catch(() => null);
  if (text === null) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const servers = isRecord(value) && isRecord(value.mcpServers) ? Object.entries(value.mcpServers) : [];
  return servers.flatMap(([name, entry]) => (isRecord(entry) ? serverOf(name, entry) : []));
}

function serverOf(name: string, entry: JsonRecord): McpServerSpec[] {
  const [command, url] = [str(entry.command), str(entry.url)];
  if (name === "" || entry.disabled === true) return [];
  if (command !== undefined) {
    const args = Array.isArray(entry.args) ? entry.args.flatMap((one) => str(one) ?? []) : [];
    return [{ name, type: "stdio", command, args, env: texts(entry.env) }];
  }
  if (url === undefined || !URL.canParse(url) || !/^https?:/.test(url)) return [];
  return [{ name, type: entry.type === "sse" ? "sse" : "http", url, headers: texts(entry.headers) }];
}

const texts = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
