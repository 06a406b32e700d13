/**
 * Settings of agents that speak ACP which let tools run unasked, whatever mode the session has, and which no request can switch off. A mode that they would
 * break is refused. The files are only read. Not here: how a mode is set.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionConfig } from "../../contract.ts";
import { arr, type JsonRecord, rec, toJson } from "../../json.ts";

type Places = { settings: string[]; folders: string[] };

export type RuleFiles = {
  /** Settings files, and folders whose files hold rules, below a directory. */
  repository: Places;
  /** The same of the person's own configuration, where it counts in plan, too. */
  own?(env: Record<string, string>): Places;
  /** Whether these settings allow a tool that changes something. */
  allows(settings: JsonRecord): boolean;
};

/** A repository's rules count in no mode but bypass; the person's own in every mode but plan. */
export function rulesRefusal(files: RuleFiles, config: SessionConfig, env: Record<string, string>): string | null {
  const { permission_mode: mode, directory } = config;
  if (mode === "bypass") return null;
  const own = mode === "plan" && files.own ? allowing(files, files.own(env)) : undefined;
  // A repository that is not trusted is not read.
  const file = own ?? (config.trusted ? allowing(files, below(directory, files.repository)) : undefined);
  if (file === undefined) return null;
  return `${file} allows tools without asking, also in permission mode ${mode}. Remove what it allows, or choose ${own ? "another mode" : "bypass"}.`;
}

const below = (base: string, { settings, folders }: Places): Places => ({
  settings: settings.map((path) => join(base, path)),
  folders: folders.map((path) => join(base, path)),
});

const ALLOWING_LINE = /\bdecision\s*=\s*["']allow["']|:\s*["']?allow\b/;

function allowing({ allows }: RuleFiles, { settings, folders }: Places): string | undefined {
  return (
    settings.find((path) => allows(readSettings(path))) ??
    folders.flatMap(filesOf).find((path) => ALLOWING_LINE.test(readFileSync(path, "utf8")))
  );
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [join(folder, entry.name)] : []));
  } catch {
    return [];
  }
}

const COMMENTS = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const TRAILING_COMMAS = /("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g;

function readSettings(path: string): JsonRecord {
  try {
    const keepStrings = (_: string, string?: string): string => string ?? "";
    const plain = readFileSync(path, "utf8").replaceAll(COMMENTS, keepStrings).replaceAll(TRAILING_COMMAS, keepStrings);
    return rec(JSON.parse(plain));
  } catch {
    return {};
  }
}

const trusts = (settings: JsonRecord): boolean =>
  Object.values(rec(settings.mcpServers)).some((server) => rec(server).trust === true);
const listed = (value: unknown): boolean => arr(value).length > 0;

export const GEMINI_RULES: RuleFiles = {
  repository: { settings: [".gemini/settings.json"], folders: [".gemini/policies"] },
  allows: (settings) => listed(rec(settings.tools).allowed) || trusts(settings),
};

export const QWEN_RULES: RuleFiles = {
  repository: { settings: [".qwen/settings.json"], folders: [] },
  own: ({ HOME = "" }) => ({ settings: [join(HOME, ".qwen", "settings.json")], folders: [] }),
  allows: (settings) => listed(rec(settings.permissions).allow) || listed(rec(settings.tools).allowed) || trusts(settings),
};

const OPENCODE = { settings: ["opencode.json", "opencode.jsonc"], folders: ["agent", "agents"] };

export const OPENCODE_RULES: RuleFiles = {
  repository: {
    settings: [...OPENCODE.settings, ...OPENCODE.settings.map((name) => `.opencode/${name}`)],
    folders: OPENCODE.folders.map((name) => `.opencode/${name}`),
  },
  own: ({ HOME = "", XDG_CONFIG_HOME }) => below(join(XDG_CONFIG_HOME || join(HOME, ".config"), "opencode"), OPENCODE),
  allows: ({ permission, agent, mode }) => toJson([permission ?? null, agent ?? null, mode ?? null]).includes('"allow"'),
};
