// What can be learned about Claude Code without a session: whether somebody is signed in, its models and sub-agents.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentHost, ProbePlace } from "../../contract.ts";
import type { JsonRecord } from "../../json.ts";
import { RecordedProcess } from "../../kit/recorded-process.ts";
import { configFolder } from "./config-folder.ts";
import { ControlClient } from "./control-client.ts";
import { RESTRICTED_ARGS } from "./directory-files.ts";

const PROBE_MS = 30_000;

/** Null: only the provider (or a key chain) could know. */
export function signedIn(env: Record<string, string>): boolean | null {
  const keys = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
  if (keys.some((key) => env[key])) return true;
  if (env.CLAUDE_CODE_USE_BEDROCK || env.CLAUDE_CODE_USE_VERTEX || env.CLAUDE_CODE_USE_FOUNDRY) return null;
  if (existsSync(join(configFolder(env), ".credentials.json"))) return true;
  return process.platform === "linux" ? false : null;
}

/** Starts the CLI in this folder, asks `initialize` and lets it go: no turn, no request to the provider. MCP servers are of no use for that. */
export async function initializeAnswer(host: AgentHost, { directory, trusted }: ProbePlace): Promise<JsonRecord> {
  const { command, args } = await host.resolveCommand();
  const base = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--no-session-persistence"];
  const control = new ControlClient((frame) => child.send(frame));
  const child = new RecordedProcess(
    {
      name: "Claude Code",
      command,
      args: [...args, ...base, ...(trusted ? [] : RESTRICTED_ARGS)],
      cwd: directory,
      env: host.environment({}),
      host,
    },
    { as: "lines", onMessage: ({ value }) => control.take(value) },
    { channel: null, onEnd: ({ error }) => control.close(error) },
  );
  const late = setTimeout(() => void child.stop({ graceMs: 0 }), PROBE_MS);
  try {
    return await control.request("initialize");
  } finally {
    clearTimeout(late);
    await child.stop({ graceMs: 1_000 });
  }
}
