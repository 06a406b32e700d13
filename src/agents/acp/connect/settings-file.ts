// A settings file of ours for an agent's process, lowest in rank: what the user or the machine's administrator says wins. Never a file of theirs.
import { access, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentHost } from "../../contract.ts";

export type SettingsFile = {
  /** Points the agent to it. When it is set already, nothing is done. */
  variable: string;
  /** What our file would hide: when one of these exists, nothing is done. */
  insteadOf: string[];
  content: Record<string, unknown>;
};

/** The variables that make the agent read it. */
export async function offerSettings(
  file: SettingsFile | undefined,
  host: AgentHost,
  env: Record<string, string>,
): Promise<Record<string, string>> {
  if (file === undefined || env[file.variable] !== undefined) return {};
  const exists = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );
  for (const path of file.insteadOf) if (await exists(path)) return {};
  const path = join(host.stateDir, "settings.json");
  await writeWhole(path, file.content);
  return { [file.variable]: path };
}

/** Another process of this agent may read it now: it must never see half of it. */
export async function writeWhole(path: string, content: unknown): Promise<void> {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}
