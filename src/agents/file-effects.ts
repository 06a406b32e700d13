/**
 * Settings files of coding agents in sentences: which programs they start, where they send requests, what they allow. One reader serves all agents, because
 * their settings use the same few words. Not here: finding the files.
 */
import type { DirectoryFile } from "../schema/session.ts";
import { isRecord, type JsonRecord } from "./json.ts";

export type Effect = Pick<DirectoryFile, "kind" | "does">;

const LONGEST = 120;
const EACH = 10;
/** Variables that say where requests, and the keys in them, are sent. */
const ADDRESS = /(_BASE_?URL|_ENDPOINT|_API_URL|_API_BASE|_HOST|PROXY)$/i;
const HELPERS = /(Helper|^awsAuthRefresh|^awsCredentialExport|^statusLine|^fileSuggestion|Command)$/;

/** Safe to show: no control or invisible characters, and short. */
export const quoted = (text: string): string => {
  const plain = JSON.stringify(text.replaceAll(/\p{C}|[\u2028\u2029]/gu, "\uFFFD")).slice(1, -1);
  return `\`${plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain}\``;
};

/** JSON, with comments and trailing commas as most agents allow. */
export function settingsEffects(text: string): Effect[] {
  const settings = parseLoosely(text);
  if (settings === null) return [{ kind: "settings", does: "cannot be read as JSON; the agent may still load it" }];
  const effects = [
    ...hookEffects(settings.hooks),
    ...serverEffects(settings.mcpServers ?? settings["amp.mcpServers"] ?? settings.mcp ?? settings.servers),
    ...pluginEffects(settings),
    ...helperEffects(settings),
    ...environmentEffects(settings.env),
    ...providerEffects(settings),
    ...permissionEffects(settings),
  ].slice(0, EACH * 4);
  const names = Object.keys(settings).filter((name) => name !== "$schema");
  if (effects.length > 0 || names.length === 0) return effects;
  return [{ kind: "settings", does: `sets ${names.slice(0, EACH).map(quoted).join(", ")}` }];
}

/** TOML is not parsed: the lines that matter are known. */
export function tomlEffects(text: string): Effect[] {
  const effects: Effect[] = [];
  const add = (kind: Effect["kind"], does: string): void => void effects.push({ kind, does });
  for (const [, name] of text.matchAll(/^\s*\[mcp_servers\.([^\].]+)\]/gm))
    add("mcp_servers", `starts the MCP server ${quoted(name ?? "")}`);
  for (const [, command] of text.matchAll(/^\s*command\s*=\s*(.+)$/gm))
    add("mcp_servers", `names the program ${quoted(command ?? "")}`);
  if (/^\s*\[+hooks/m.test(text)) add("hooks", "runs programs at certain moments");
  for (const [, url] of text.matchAll(/^\s*(?:\w*base_url|\w*endpoint)\s*=\s*"([^"]*)"/gm)) add("base_url", sendsTo(url ?? ""));
  if (/^\s*(approval_policy|sandbox_mode|sandbox_permissions|default_permissions)\s*=/m.test(text))
    add("permissions", "says what may be done without asking");
  return effects.length > 0 ? effects.slice(0, EACH * 4) : [{ kind: "settings", does: "changes the agent's settings" }];
}

/** Names only: the values may be secret. */
export function dotenvEffects(text: string): Effect[] {
  const env: JsonRecord = {};
  for (const [, name, value] of text.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*["']?([^"'\n]*)/gm))
    env[name ?? ""] = value;
  return environmentEffects(env);
}

function hookEffects(hooks: unknown): Effect[] {
  if (!isRecord(hooks)) return [];
  return Object.entries(hooks)
    .flatMap(([moment, value]) =>
      strings(value, "command").map((command) => ({
        kind: "hooks" as const,
        does: `runs ${quoted(command)} at ${quoted(moment)}`,
      })),
    )
    .slice(0, EACH);
}

function serverEffects(servers: unknown): Effect[] {
  if (!isRecord(servers)) return [];
  return Object.entries(servers)
    .filter(([, server]) => isRecord(server))
    .slice(0, EACH)
    .map(([name, server]) => ({
      kind: "mcp_servers",
      does: `starts the MCP server ${quoted(name)}: ${quoted(programOf(server))}`,
    }));
}

function programOf(server: unknown): string {
  if (!isRecord(server)) return "";
  const { command, args, url, httpUrl, serverUrl } = server;
  const words = [command, args].flat().filter((word): word is string => typeof word === "string");
  return words.length > 0 ? words.join(" ") : String(url ?? httpUrl ?? serverUrl ?? "");
}

function pluginEffects(settings: JsonRecord): Effect[] {
  return ["plugin", "plugins", "enabledPlugins", "extraKnownMarketplaces", "extensions"].flatMap((name) => {
    const value = settings[name];
    const names = Array.isArray(value) ? value.map(String) : isRecord(value) ? Object.keys(value) : [];
    return names.length === 0
      ? []
      : [{ kind: "plugins" as const, does: `loads plugins: ${names.slice(0, EACH).map(quoted).join(", ")}` }];
  });
}

function helperEffects(settings: JsonRecord): Effect[] {
  return Object.entries(settings)
    .filter(([name]) => HELPERS.test(name))
    .flatMap(([name, value]) =>
      strings(value, "command").map((command) => ({ kind: "helpers" as const, does: `runs ${quoted(command)} as ${name}` })),
    );
}

function environmentEffects(env: unknown): Effect[] {
  if (!isRecord(env)) return [];
  const addresses = Object.entries(env).filter(([name]) => ADDRESS.test(name));
  const rest = Object.keys(env).filter((name) => !ADDRESS.test(name));
  return [
    ...addresses
      .slice(0, EACH)
      .map(([name, value]) => ({ kind: "base_url" as const, does: `${sendsTo(String(value))} (${name})` })),
    ...(rest.length > 0 ? [{ kind: "environment" as const, does: `sets ${rest.slice(0, EACH).map(quoted).join(", ")}` }] : []),
  ];
}

const sendsTo = (url: string): string => `sends requests, and your keys with them, to ${quoted(url)}`;

function providerEffects({ provider, modelProviders, security }: JsonRecord): Effect[] {
  return [provider, modelProviders, security]
    .flatMap((value) => strings(value, "baseURL").concat(strings(value, "baseUrl")))
    .slice(0, EACH)
    .map((url) => ({ kind: "base_url", does: sendsTo(url) }));
}

function permissionEffects(settings: JsonRecord): Effect[] {
  const names = ["permissions", "permission", "amp.permissions", "amp.dangerouslyAllowAll", "sandbox"].filter(
    (name) => settings[name] !== undefined,
  );
  return names.map((name) => ({
    kind: "permissions",
    does: `has rules of its own for what may be done without asking (${quoted(name)})`,
  }));
}

/** Every string under this name, or the value itself when it is one. */
function strings(value: unknown, name: string, depth = 0): string[] {
  if (depth > 8) return [];
  if (typeof value === "string") return depth === 0 ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => strings(each, name, depth + 1));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    key === name && typeof each === "string" ? [each] : strings(each, name, depth + 1),
  );
}

const STRINGS_AND_COMMENTS = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const STRINGS_AND_TRAILING_COMMAS = /("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g;

function parseLoosely(text: string): JsonRecord | null {
  const plain = text
    .replaceAll(STRINGS_AND_COMMENTS, (_, string?: string) => string ?? "")
    .replaceAll(STRINGS_AND_TRAILING_COMMAS, (_, string?: string) => string ?? "");
  try {
    const value: unknown = JSON.parse(plain);
    return isRecord(value) ? value : {};
  } catch {
    return null;
  }
}
