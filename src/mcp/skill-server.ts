/**
 * Agent Skills for agents that have no other door: a program that speaks MCP on stdin and stdout and has one tool, whose description is the catalog. The daemon
 * writes the catalog; a skill is read when it is used. It needs no daemon, no token and no package, so that it starts fast: one runs beside each such agent.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

export type CatalogEntry = { name: string; description: string; path: string; directory: string };

export const SKILL_TOOL = "use_skill";
const PROTOCOL = "2025-06-18";
const MAX_BYTES = 256 * 1024;

type Message = { id?: string | number; method?: string; params?: Record<string, unknown> };
type Reply = { result: unknown } | { error: { code: number; message: string } };

/** The answer to one message; null for notifications, which have none. */
export function answer(message: Message, skills: readonly CatalogEntry[]): object | null {
  if (message.id === undefined || message.method === undefined) return null;
  return { jsonrpc: "2.0", id: message.id, ...replyTo(message.method, message.params ?? {}, skills) };
}

function replyTo(method: string, params: Record<string, unknown>, skills: readonly CatalogEntry[]): Reply {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: typeof params.protocolVersion === "string" ? params.protocolVersion : PROTOCOL,
          capabilities: { tools: {} },
          serverInfo: { name: "dragoman_skills", version: "1" },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: [toolOf(skills)] } };
    case "tools/call":
      return { result: called(params, skills) };
    default:
      return { error: { code: -32601, message: `There is no method ${method} here.` } };
  }
}

const toolOf = (skills: readonly CatalogEntry[]) => ({
  name: SKILL_TOOL,
  description: `Gives the instructions of a skill. Use it before you begin when one of these fits the task:\n${skills
    .map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ").trim()}`)
    .join("\n")}`,
  inputSchema: {
    type: "object",
    properties: { name: { type: "string", enum: skills.map(({ name }) => name), description: "which skill" } },
    required: ["name"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
});

function called(params: Record<string, unknown>, skills: readonly CatalogEntry[]): object {
  const { name } = (params.arguments ?? {}) as { name?: unknown };
  const skill = params.name === SKILL_TOOL ? skills.find((one) => one.name === name) : undefined;
  const text = skill === undefined ? null : skillText(skill);
  if (text !== null) return { content: [{ type: "text", text }] };
  const known = skills.map((one) => one.name).join(", ");
  const said =
    skill === undefined ? `There is no skill ${JSON.stringify(name ?? null)}. There are: ${known}.` : "Its SKILL.md is gone.";
  return { isError: true, content: [{ type: "text", text: said }] };
}

function skillText({ name, path, directory }: CatalogEntry): string | null {
  const text = readSmall(path);
  if (text === null) return null;
  const body = text.replace(/^\uFEFF?---\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/, "").trim();
  return `<skill_content name="${name}" directory="${directory.replaceAll('"', "&quot;")}">\n${body}\n</skill_content>`;
}

function readSmall(path: string): string | null {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(handle);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(handle, "utf8") : null;
  } finally {
    closeSync(handle);
  }
}

/** A line that is no message is passed over. */
function serve(catalog: string): void {
  const skills = JSON.parse(readFileSync(catalog, "utf8")) as CatalogEntry[];
  createInterface({ input: process.stdin }).on("line", (line) => {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    const said = typeof message === "object" && message !== null ? answer(message as Message, skills) : null;
    if (said !== null) process.stdout.write(`${JSON.stringify(said)}\n`);
  });
}

const [, program, catalog] = process.argv;
if (program !== undefined && catalog !== undefined && import.meta.url === pathToFileURL(realpathSync(program)).href)
  serve(catalog);
