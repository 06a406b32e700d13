// The command line of one run of Amp, and the message it is given. Not here: running it.
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { PermissionMode } from "../../../schema/event-data.ts";
import { AgentError, type Attachment, type McpServer, type Prompt, type SessionConfig } from "../../contract.ts";
import { mustBeRestricted } from "./directory-files.ts";
import { type RepositoryRules, repositoryRules } from "./repository-settings.ts";
import { writePrivate, writeSettings } from "./settings-file.ts";

const THREAD_ID = /^T-[A-Za-z0-9-]+$/;
const WORD = /^[A-Za-z0-9][\w.-]*$/;
/** What the May build takes inline; everything else is named by its path. */
const INLINE_IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
/** Between the builds of January and May 2026 that were looked at. */
const FEBRUARY = 1_769_900_000;

const SETTINGS = "settings.json";
const MCP_CONFIG = "mcp.json";
/** Files a run may leave in the session's folder. */
export const RUN_FILES = [SETTINGS, MCP_CONFIG];

export type RunPlan = { args: string[] };

export type PlanOptions = {
  /** A folder of this session for files the command line names. */
  dir: string;
  /** Take what the repository's own settings allow. */
  trustRepository: boolean;
  version(): Promise<string | null>;
};

/** Secrets never stand on the command line itself. */
export async function planRun(
  config: SessionConfig,
  thread: string | null,
  env: Record<string, string>,
  options: PlanOptions,
): Promise<RunPlan> {
  const { dir } = options;
  await mustBeRestricted(config);
  const args: string[] = [];
  if (thread !== null) args.push("threads", "continue", mustMatch(thread, THREAD_ID, "thread id"));
  args.push("--execute", "--stream-json", "--stream-json-thinking", "--stream-json-input", "--no-ide", "--no-notifications");
  if (config.permission_mode === "bypass") args.push("--dangerously-allow-all");
  else {
    await mustHold(config, options);
    const settings = join(dir, SETTINGS);
    await writeSettings(settings, env, config.permission_mode);
    args.push("--settings-file", settings);
  }
  if (config.mcp_servers.length > 0) {
    const file = join(dir, MCP_CONFIG);
    await writePrivate(file, mcpConfig(config.mcp_servers));
    args.push("--mcp-config", file);
  }
  if (config.agent_mode !== null) args.push("--mode", mustMatch(config.agent_mode, WORD, "agent mode"));
  // The effort belongs to a thread from its beginning.
  if (config.variant !== null && thread === null) args.push("--effort", mustMatch(config.variant, WORD, "variant"));
  return { args };
}

/** Refuses a run whose permissions would not be those of the session, or that could never end. */
async function mustHold({ directory, permission_mode }: SessionConfig, options: PlanOptions): Promise<void> {
  const rules = await repositoryRules(directory);
  if (rules === null) return;
  const widened = options.trustRepository ? null : widening(rules, permission_mode);
  if (widened !== null) throw new AgentError("agent_refused", widened);
  if (rules.asks && !endsOnApproval(await options.version()))
    throw new AgentError(
      "agent_refused",
      `${rules.path} has a rule that asks for approval, and this build of Amp waits for ever for an answer nobody can give. Update Amp, remove the rule, or use permission_mode bypass.`,
    );
}

const widening = ({ path, widens }: RepositoryRules, mode: PermissionMode): string | null =>
  widens === null
    ? null
    : `${path} sets ${widens}, which Amp ranks above permission_mode ${mode}. Remove it, use permission_mode bypass, or set agents.amp.trust_repository to true in the configuration file.`;

/** Why a session in this directory cannot have its mode; null when it can. */
export async function repositoryRefusal({ directory, permission_mode }: SessionConfig, trusted: boolean): Promise<string | null> {
  const rules = permission_mode === "bypass" || trusted ? null : await repositoryRules(directory);
  return rules === null ? null : widening(rules, permission_mode);
}

export function mcpConfig(servers: McpServer[]): Record<string, unknown> {
  return Object.fromEntries(
    servers.map((server) => {
      if (server.type === "stdio")
        return [server.name, { command: server.command, args: server.args ?? [], env: server.env ?? {} }];
      return [server.name, { url: server.url, headers: server.headers ?? {} }];
    }),
  );
}

export type InputBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: string; data: string }; source_path?: string };

export type InputMessage = {
  type: "user";
  request_id: string;
  steer?: true;
  /** How many of the first blocks repeat messages of earlier turns. Amp does not look at it; the translator does. */
  carried?: number;
  message: { role: "user"; content: InputBlock[] };
};

export type InputOptions = { dir: string; inlineImages: boolean; steer?: boolean; carried?: readonly string[] };

/** `request_id` makes the message idempotent in the newest builds; older ones ignore it, and our keys are made of it. */
export async function inputMessage(prompt: Prompt, options: InputOptions): Promise<InputMessage> {
  const images: InputBlock[] = [];
  const named: string[] = [];
  for (const attachment of prompt.attachments) {
    if (options.inlineImages && INLINE_IMAGES.has(attachment.mime)) images.push(imageBlock(attachment));
    else named.push(attachment.path ?? (await keep(attachment, join(options.dir, "attachments", prompt.message_id))));
  }
  const text = [prompt.text, ...named.map((path) => `Attached file: ${path}`)].join("\n\n");
  const carried = (options.carried ?? []).map((text): InputBlock => ({ type: "text", text }));
  return {
    type: "user",
    request_id: prompt.message_id,
    ...(options.steer ? { steer: true } : {}),
    ...(carried.length > 0 ? { carried: carried.length } : {}),
    message: { role: "user", content: [...carried, { type: "text", text }, ...images] },
  };
}

/** A version is the second its build was made in: `0.0.1777897475-g2324e1`. Of an unknown one the best is assumed. */
const isSinceFebruary = (version: string | null): boolean =>
  Number(/\b0\.0\.(\d{9,})\b/.exec(version ?? "")?.[1] ?? FEBRUARY) >= FEBRUARY;

/** jan rejects a message with an image and ends the run. */
export const takesImages = isSinceFebruary;
/** jan waits for ever when a tool needs approval; later builds end the run. */
const endsOnApproval = isSinceFebruary;

function imageBlock({ mime, bytes, path }: Attachment): InputBlock {
  return {
    type: "image",
    source: { type: "base64", media_type: mime, data: bytes.toString("base64") },
    ...(path === null ? {} : { source_path: path }),
  };
}

async function keep(attachment: Attachment, dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, basename(attachment.name) || "attachment");
  await writeFile(path, attachment.bytes, { mode: 0o600 });
  return path;
}

/** A value that starts with a dash would be read as an option. */
function mustMatch(value: string, pattern: RegExp, what: string): string {
  if (pattern.test(value)) return value;
  throw new AgentError("agent_refused", `"${value.slice(0, 80)}" is no ${what} of Amp: use letters, digits and dashes.`);
}
