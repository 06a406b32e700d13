// The Claude Agent SDK as an optional peer: found and loaded when a session needs it. Only the part of its interface that is used is named here.
import type { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { AgentError, type AgentHost } from "../../contract.ts";
import { isRecord, type JsonRecord, str } from "../../json.ts";

export const SDK_PACKAGE = "@anthropic-ai/claude-agent-sdk";

export interface SpawnedProcess extends Pick<EventEmitter, "on" | "once" | "off"> {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  kill(signal: NodeJS.Signals): boolean;
}

export type SpawnRequest = { command: string; args: string[]; cwd?: string; env: Record<string, string | undefined> };

export type CallbackOptions = { signal: AbortSignal; requestId?: string; toolUseID?: string } & JsonRecord;

export type SdkOptions = JsonRecord & {
  canUseTool(name: string, input: JsonRecord, options: CallbackOptions): Promise<JsonRecord>;
  onElicitation(request: JsonRecord, options: CallbackOptions): Promise<JsonRecord>;
  spawnClaudeCodeProcess(request: SpawnRequest): SpawnedProcess;
};

export interface Query extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>;
  setModel(model?: string): Promise<void>;
  setPermissionMode(mode: string): Promise<void>;
  /** Since 0.2. */
  stopTask?(taskId: string): Promise<void>;
  initializationResult(): Promise<unknown>;
  close(): void;
}

export type Sdk = { query(request: { prompt: AsyncIterable<unknown>; options: SdkOptions }): Query };

export type LoadedSdk = { sdk: Sdk; path: string; version: string | null };

/** In this order: the configured path, what `install` put into the data directory, the peer beside us. */
export async function loadSdk(host: AgentHost): Promise<LoadedSdk> {
  const configured = await host.resolveCommand().then(
    ({ command }) => command,
    () => null,
  );
  for (const folder of [configured, join(host.stateDir, "node_modules", SDK_PACKAGE)]) {
    const found = folder === null ? null : await fromFolder(folder);
    if (found) return found;
  }
  try {
    // Named through a variable: it is no dependency, and the compiler must not look for it.
    const name: string = SDK_PACKAGE;
    return { sdk: asSdk(await import(name)), path: SDK_PACKAGE, version: null };
  } catch (error) {
    const message = `The Claude Agent SDK is not installed. Run \`dragoman agents install claude-sdk\`, or \`npm install ${SDK_PACKAGE}\` beside dragoman.`;
    throw new AgentError("agent_not_found", message, { cause: error });
  }
}

/** A package folder, or its entry file. */
async function fromFolder(path: string): Promise<LoadedSdk | null> {
  const folder = /\.[cm]?js$/.test(path) ? join(path, "..") : path;
  const manifest = await readJson(join(folder, "package.json"));
  if (!manifest || manifest.name !== SDK_PACKAGE) return null;
  const entry = join(folder, str(manifest.main) ?? "sdk.mjs");
  return { sdk: asSdk(await import(pathToFileURL(entry).href)), path: folder, version: str(manifest.version) ?? null };
}

async function readJson(file: string): Promise<JsonRecord | null> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const isSdk = (module: unknown): module is Sdk =>
  typeof module === "object" && module !== null && "query" in module && typeof module.query === "function";

function asSdk(module: unknown): Sdk {
  if (isSdk(module)) return module;
  throw new AgentError("agent_failed_to_start", `${SDK_PACKAGE} has no query(): install version 0.3 or newer.`);
}
