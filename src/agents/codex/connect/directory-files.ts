/**
 * What Codex loads from a directory, and the setting that switches it off. Codex has trust of its own, kept in the person's config.toml: it is set for each
 * thread here, so that the list of this daemon decides and Codex writes nothing into that file.
 */

import { repositoryRoot } from "../../../trust/project-root.ts";
import type { LoadedFile, SessionConfig } from "../../contract.ts";
import { type FileRule, findFiles } from "../../directory-files.ts";
import { settingsEffects, tomlEffects } from "../../file-effects.ts";
import type { JsonRecord } from "../../json.ts";

const RULES: readonly FileRule[] = [
  { path: ".codex/config.toml", upTo: "root", read: tomlEffects },
  { path: ".codex/hooks.json", upTo: "root", read: settingsEffects },
  { path: ".codex/hooks/", upTo: "root", kind: "hooks", does: "runs programs at certain moments" },
  { path: ".codex/rules/", upTo: "root", kind: "permissions", does: "says which commands run without asking" },
  { path: ".codex/agents/", upTo: "root", kind: "agents", does: "offers sub-agents" },
  { path: ".codex/plugins/", upTo: "root", kind: "plugins", does: "loads plugins" },
  { path: ".agents/skills/", upTo: "root", kind: "skills", does: "offers skills: text for the model", always: true },
  { path: ".codex/skills/", upTo: "root", kind: "skills", does: "offers skills: text for the model", always: true },
  { path: "AGENTS.md", upTo: "root", kind: "instructions", does: "is added to the model's instructions", always: true },
];

export const codexFiles = (directory: string): Promise<LoadedFile[]> => findFiles(directory, RULES);

/** codex 0.166 looks the trust of a directory up by its own path and by the root of its repository. */
export function trustConfig({ directory, trusted }: Pick<SessionConfig, "directory" | "trusted">): JsonRecord {
  const trust_level = trusted ? "trusted" : "untrusted";
  const paths = new Set([directory, repositoryRoot(directory) ?? directory]);
  return { projects: Object.fromEntries([...paths].map((path) => [path, { trust_level }])) };
}
