// The options that describe a session, the same for `run`, `create` and `set`.
import type { PermissionMode } from "../schema/event-data.ts";
import { flag, type Invocation, list, type OptionSpec, text, UsageError, type Values } from "./command.ts";

export const MODES: readonly PermissionMode[] = ["default", "plan", "accept_edits", "bypass"];

export const configOptions: Record<string, OptionSpec> = {
  model: { type: "string", short: "m", value: "<model>", about: "the model" },
  variant: { type: "string", value: "<variant>", about: "the model's variant or effort" },
  mode: { type: "string", value: "<mode>", about: "the agent's own mode" },
  "permission-mode": { type: "string", value: "<mode>", about: "default, plan, accept_edits or bypass" },
};

export const trustOptions: Record<string, OptionSpec> = {
  trust: { type: "boolean", about: "load the directory's settings, hooks, MCP servers and plugins in this session" },
  restricted: { type: "boolean", about: "start without them and do not ask" },
};

export const createOptions: Record<string, OptionSpec> = {
  directory: { type: "string", short: "C", value: "<dir>", about: "where the agent works (default: here)" },
  ...trustOptions,
  ...configOptions,
  title: { type: "string", value: "<title>", about: "a title" },
  env: { type: "string", multiple: true, value: "<NAME=value>", about: "environment of the agent; may be repeated" },
  endpoint: {
    type: "string",
    value: "<url>",
    about: "for the agent `responses`: the base URL of its endpoint, such as http://127.0.0.1:11434/v1",
  },
  system: { type: "string", value: "<text>", about: "added to the agent's system prompt" },
  mcp: { type: "string", multiple: true, value: "<json>", about: "an MCP server: {name, type, command or url}; may be repeated" },
  "resume-native": { type: "string", value: "<id>", about: "go on with a conversation the agent already has, by its own id" },
};

export function configOf(values: Values) {
  const permission_mode = text(values, "permission-mode");
  if (permission_mode !== undefined && !isMode(permission_mode))
    throw new UsageError(`--permission-mode is ${MODES.slice(0, -1).join(", ")} or ${MODES.at(-1)}`);
  const [model, variant, agent_mode] = [text(values, "model"), text(values, "variant"), text(values, "mode")];
  return {
    ...(model ? { model } : {}),
    ...(variant ? { variant } : {}),
    ...(agent_mode ? { agent_mode } : {}),
    ...(permission_mode ? { permission_mode } : {}),
  };
}

export function trustOf(values: Values): { trust?: "trusted" | "restricted" } {
  const [trust, restricted] = [flag(values, "trust"), flag(values, "restricted")];
  if (trust && restricted) throw new UsageError("choose one of --trust and --restricted");
  if (!trust && !restricted) return {};
  return { trust: trust ? "trusted" : "restricted" };
}

export function sessionOf({ values, terminal }: Invocation) {
  const [title, system_prompt, resume_native] = [text(values, "title"), text(values, "system"), text(values, "resume-native")];
  const servers = list(values, "mcp").map(jsonObject);
  return {
    directory: text(values, "directory") ?? terminal.cwd,
    env: { ...Object.fromEntries(list(values, "env").map(variable)), ...endpointOf(values) },
    ...configOf(values),
    ...trustOf(values),
    ...(title ? { title } : {}),
    ...(system_prompt ? { system_prompt } : {}),
    ...(resume_native ? { resume_native } : {}),
    // The daemon checks what they say.
    ...(servers.length > 0 ? { mcp_servers: servers as never } : {}),
  };
}

/** An address, never a key: keys stay with the daemon. */
function endpointOf(values: Values): Record<string, string> {
  const endpoint = text(values, "endpoint");
  if (endpoint === undefined) return {};
  if (!URL.canParse(endpoint)) throw new UsageError(`--endpoint needs a URL, not ${endpoint}`);
  return { RESPONSES_ENDPOINT: endpoint };
}

export const isMode = (mode: string): mode is PermissionMode => (MODES as readonly string[]).includes(mode);

function variable(entry: string): [string, string] {
  const at = entry.indexOf("=");
  if (at < 1) throw new UsageError(`--env needs NAME=value, not ${entry}`);
  return [entry.slice(0, at), entry.slice(at + 1)];
}

function jsonObject(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError(`--mcp needs JSON, not ${json}`);
  }
}
