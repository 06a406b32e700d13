// What the CLI says about the session's set-up: `init` of every turn, the initialize answer, changes in between. Only what is new becomes an event.
import type { Draft } from "../../../schema/draft.ts";
import type { ConfigChanged } from "../../../schema/event-data.ts";
import { arr, type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { fromNativeMode } from "./modes.ts";
import type { ClaudeState } from "./state.ts";

const strings = (value: unknown): string[] => arr(value).filter((entry): entry is string => typeof entry === "string");

const changed = (data: ConfigChanged): Draft => ({ do: "event", type: "config.changed", data });

/** `system/init`. It comes with every turn; the newest wins. */
export function initDrafts(state: ClaudeState, frame: JsonRecord, drafts: Draft[]): void {
  const known = state.config;
  const data: ConfigChanged = {};
  const model = str(frame.model);
  if (model !== undefined && model !== known.model) data.model = known.model = model;
  const mode = str(frame.permissionMode);
  if (mode !== undefined && mode !== known.permissionMode) {
    known.permissionMode = mode;
    data.permission_mode = fromNativeMode(mode);
  }
  const variant = str(frame.effort);
  if (variant !== undefined && variant !== known.variant) data.variant = known.variant = variant;
  const tools = strings(frame.tools);
  if (news(known, "tools", tools)) data.tools = tools;
  const servers = records(frame.mcp_servers).map(serverOf);
  if ((servers.length > 0 || known.mcpServers !== "") && news(known, "mcpServers", servers)) data.mcp_servers = servers;
  const commands = strings(frame.slash_commands).map((name) => ({ name }));
  // The initialize answer has descriptions; names alone would be a step back.
  if (!known.richCommands && news(known, "commands", commands)) data.commands = commands;
  if (Object.keys(data).length > 0) drafts.push(changed(data));
  const skills = strings(frame.skills);
  if ((skills.length > 0 || known.skills !== "") && news(known, "skills", skills))
    drafts.push({ do: "event", type: "skill.catalog_updated", data: { count: skills.length, roots: [] } });
  sessionFacts(state, frame, drafts);
}

function sessionFacts(state: ClaudeState, frame: JsonRecord, drafts: Draft[]): void {
  const metadata: Record<string, unknown> = {};
  const facts = {
    agent_version: "claude_code_version",
    api_key_source: "apiKeySource",
    output_style: "output_style",
    native_directory: "cwd",
  };
  for (const [name, field] of Object.entries(facts)) if (str(frame[field])) metadata[name] = frame[field];
  for (const name of ["plugins", "plugin_errors"]) if (arr(frame[name]).length > 0) metadata[name] = frame[name];
  const text = toJson(metadata);
  if (text === state.config.version || Object.keys(metadata).length === 0) return;
  state.config.version = text;
  drafts.push({ do: "event", type: "session.updated", data: { metadata } });
}

function news(known: ClaudeState["config"], field: "tools" | "mcpServers" | "commands" | "skills", value: unknown): boolean {
  const text = toJson(value);
  if (known[field] === text) return false;
  known[field] = text;
  return true;
}

const serverOf = (server: JsonRecord) => ({
  name: str(server.name) ?? "",
  status: str(server.status) ?? "unknown",
  ...(str(server.error) ? { error: str(server.error) ?? "" } : {}),
});

export function commandList(value: unknown) {
  return records(value).map((command) => ({
    name: str(command.name) ?? "",
    ...(str(command.description) ? { description: str(command.description) ?? "" } : {}),
    ...(str(command.argumentHint) ? { input_hint: str(command.argumentHint) ?? "" } : {}),
  }));
}

export function modelList(value: unknown) {
  return records(value).map((model) => {
    const variants = strings(model.supportedEffortLevels);
    return {
      id: str(model.value) ?? str(model.id) ?? "",
      ...(str(model.displayName) ? { name: str(model.displayName) ?? "" } : {}),
      ...(str(model.description) ? { description: str(model.description) ?? "" } : {}),
      ...(variants.length > 0 ? { variants } : {}),
      ...(model.value === "default" ? { is_default: true } : {}),
    };
  });
}

/** Sub-agents that can lead a session (`--agent`) are its modes. */
export function agentList(value: unknown) {
  return records(value).map((agent) => ({
    id: str(agent.name) ?? "",
    ...(str(agent.description) ? { description: str(agent.description) ?? "" } : {}),
  }));
}

export function commandsChanged(state: ClaudeState, value: unknown, drafts: Draft[]): void {
  const commands = commandList(value);
  state.config.richCommands = true;
  if (news(state.config, "commands", commands)) drafts.push(changed({ commands }));
}

export function modelChanged(state: ClaudeState, model: unknown, drafts: Draft[]): void {
  if (typeof model !== "string" || model === state.config.model) return;
  state.config.model = model;
  drafts.push(changed({ model }));
}

export function modeChanged(state: ClaudeState, mode: unknown, drafts: Draft[]): void {
  if (typeof mode !== "string" || mode === state.config.permissionMode) return;
  state.config.permissionMode = mode;
  drafts.push(changed({ permission_mode: fromNativeMode(mode) }));
}

export function mcpServersChanged(state: ClaudeState, value: unknown, drafts: Draft[]): void {
  const servers = records(value).map(serverOf);
  if (news(state.config, "mcpServers", servers)) drafts.push(changed({ mcp_servers: servers }));
}

/** The answer to `initialize`: commands, models, sub-agents, account. */
export function initialized(state: ClaudeState, answer: JsonRecord, drafts: Draft[]): void {
  commandsChanged(state, answer.commands, drafts);
  const models = modelList(answer.models);
  const modes = agentList(answer.agents);
  if (models.length > 0 || modes.length > 0)
    drafts.push(changed({ ...(models.length > 0 ? { models } : {}), ...(modes.length > 0 ? { modes } : {}) }));
  modeChanged(state, answer.current_permission_mode, drafts);
  const account = rec(answer.account);
  if (Object.keys(account).length > 0) drafts.push({ do: "event", type: "session.updated", data: { metadata: { account } } });
}
