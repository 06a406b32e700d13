// The settings a run of ours uses: the user's own, with the permission rules of the session on top, in a file of ours. The user's file is only read.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PermissionMode } from "../../../schema/event-data.ts";
import { isRecord, type JsonRecord, records } from "../../json.ts";
import { permissionRules, readRule } from "../translate/permission-rules.ts";

/** Where Amp itself would look. */
export function userSettingsPath(env: Record<string, string>): string | null {
  if (env.AMP_SETTINGS_FILE) return env.AMP_SETTINGS_FILE;
  const base = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, ".config") : undefined);
  return base === undefined ? null : join(base, "amp", "settings.json");
}

export function sessionSettings(user: JsonRecord, mode: PermissionMode): JsonRecord {
  if (mode === "bypass") return user;
  const own = records(user["amp.permissions"]).flatMap((rule) => readRule(rule) ?? []);
  return {
    ...user,
    // may: without this, and without rules, nothing at all is checked.
    "amp.dangerouslyAllowAll": false,
    "amp.permissions": permissionRules(mode, own),
  };
}

/** Settings may hold keys of MCP servers, so the copy is as private as can be. */
export async function writeSettings(path: string, env: Record<string, string>, mode: PermissionMode): Promise<void> {
  const from = userSettingsPath(env);
  const user = from === null ? {} : parseSettings(await readEither(from, `${from}c`));
  await writePrivate(path, sessionSettings(user, mode));
}

/** Amp takes `settings.jsonc` where there is no `settings.json`. */
const readEither = (first: string, second: string): Promise<string> =>
  readFile(first, "utf8").catch(() => readFile(second, "utf8").catch(() => "{}"));

export async function writePrivate(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
}

const STRINGS_AND_COMMENTS = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const STRINGS_AND_TRAILING_COMMAS = /("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g;

/** Amp takes comments and trailing commas. What cannot be read counts as empty, as Amp has it. */
export function parseSettings(text: string): JsonRecord {
  const plain = text
    .replaceAll(STRINGS_AND_COMMENTS, (_, string?: string) => string ?? "")
    .replaceAll(STRINGS_AND_TRAILING_COMMAS, (_, string?: string) => string ?? "");
  try {
    const parsed: unknown = JSON.parse(plain);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
