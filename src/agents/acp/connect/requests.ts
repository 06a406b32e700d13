// The parameters of our own requests: how a session, a prompt and its attachments are said in ACP. Pure.
import { pathToFileURL } from "node:url";
import { AgentError, type Attachment, type McpServer, type Prompt, type SessionConfig } from "../../contract.ts";
import { isRecord, type JsonRecord, rec } from "../../json.ts";
import type { Abilities } from "./abilities.ts";

/** `terminals`: whether we run the commands of an agent that asks for it. */
export function initializeParams(version: number, clientVersion: string, terminals: boolean): JsonRecord {
  const info = { name: "dragoman", title: "dragoman", version: clientVersion };
  const elicitation = { form: {}, url: {} };
  if (version >= 2) return { protocolVersion: version, info, capabilities: { elicitation } };
  return {
    protocolVersion: version,
    clientInfo: info,
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: terminals,
      session: { compaction: {}, notices: {}, configOptions: { boolean: {} } },
      elicitation,
      plan: {},
      // claude 0.99 and codex-acp-zed 0.16 then send a command's output and exit code apart from its display.
      _meta: { terminal_output: true },
    },
  };
}

export function sessionParams(config: SessionConfig, abilities: Abilities, meta: JsonRecord = {}): JsonRecord {
  return {
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    cwd: config.directory,
    mcpServers: config.mcp_servers.map((server) => mcpServer(server, abilities)),
    ...(config.system_prompt === null ? {} : { systemPrompt: systemPrompt(config.system_prompt, abilities) }),
  };
}

function systemPrompt(text: string, abilities: Abilities): JsonRecord {
  if (!abilities.systemPrompt) {
    throw new AgentError(
      "unsupported",
      "This agent takes no system prompt over ACP. Leave it out, or put it into the agent's own instructions file.",
    );
  }
  return { mode: "append", content: [{ type: "text", text }] };
}

function mcpServer(server: McpServer, abilities: Abilities): JsonRecord {
  const pairs = (values: Record<string, string> | undefined) =>
    Object.entries(values ?? {}).map(([name, value]) => ({ name, value }));
  if (server.type === "stdio") {
    const stdio = { name: server.name, command: server.command, args: server.args ?? [], env: pairs(server.env) };
    return abilities.version >= 2 ? { type: "stdio", ...stdio } : stdio;
  }
  const able = server.type === "http" ? abilities.mcpHttp : abilities.mcpSse;
  if (!able)
    throw new AgentError(
      "unsupported",
      `This agent cannot use the MCP server ${server.name} over ${server.type}. Offer it over stdio instead.`,
    );
  return { type: server.type, name: server.name, url: server.url, headers: pairs(server.headers) };
}

export function promptBlocks(prompt: Prompt, abilities: Abilities): JsonRecord[] {
  const text = prompt.text === "" && prompt.attachments.length > 0 ? [] : [{ type: "text", text: prompt.text }];
  return [...text, ...prompt.attachments.map((attachment) => attachmentBlock(attachment, abilities))];
}

function attachmentBlock(attachment: Attachment, abilities: Abilities): JsonRecord {
  const { name, mime, bytes, path } = attachment;
  if (mime.startsWith("image/") && abilities.image) return { type: "image", mimeType: mime, data: bytes.toString("base64") };
  if (mime.startsWith("audio/") && abilities.audio) return { type: "audio", mimeType: mime, data: bytes.toString("base64") };
  const uri = path === null ? `attachment:///${encodeURIComponent(name)}` : pathToFileURL(path).href;
  if (abilities.embedded) {
    const content = isText(mime) ? { text: bytes.toString("utf8") } : { blob: bytes.toString("base64") };
    return { type: "resource", resource: { uri, mimeType: mime, ...content } };
  }
  // A link is the one block every agent must take; it helps only when there is a file behind it.
  if (path !== null) return { type: "resource_link", uri, name, mimeType: mime, size: bytes.length };
  if (isText(mime)) return { type: "text", text: `${name}:\n${bytes.toString("utf8")}` };
  throw new AgentError(
    "unsupported",
    `This agent takes no attachments of type ${mime}. Put the file into the session's directory and name its path.`,
  );
}

const isText = (mime: string): boolean =>
  mime.startsWith("text/") || /^application\/(?:json|xml|yaml|toml|javascript)|\+(?:json|xml)$/.test(mime);

/** What two parts want in `_meta`, in one: objects are joined, level by level. */
export function merged(first: JsonRecord, second: JsonRecord): JsonRecord {
  const both = { ...first, ...second };
  for (const [name, value] of Object.entries(first))
    if (isRecord(value) && isRecord(second[name])) both[name] = merged(value, rec(second[name]));
  return both;
}
