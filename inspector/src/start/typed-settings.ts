// What people type for environments and MCP servers, as the API wants it. Throws with words that say what is wrong.
import type { CreateSession } from "../../../src/schema/session.ts";

type Server = NonNullable<CreateSession["mcp_servers"]>[number];

export function parseEnvironment(text: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`Environment: “${line}” is not NAME=value.`);
    result[line.slice(0, at).trim()] = line.slice(at + 1);
  }
  return result;
}

export function parseServers(text: string): Server[] {
  if (text.trim().startsWith("[")) return JSON.parse(text) as Server[];
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", target = "", ...args] = line.split(/\s+/);
      if (target === "") throw new Error(`MCP servers: “${line}” needs a name and a command or an address.`);
      if (/^https?:/.test(target)) return { name, type: "http", url: target } as const;
      return { name, type: "stdio", command: target, args } as const;
    });
}
