/**
 * Codex runs what an `allow` rule of a `.rules` file covers without asking and outside of its sandbox, in every mode, and an app-server cannot be asked to
 * leave the files alone (0.166). So a mode that such a rule would break is refused. The files are only read.
 */
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SessionConfig } from "../../contract.ts";
import { foldersAbove } from "../../inside-directory.ts";

const RULE = /\bprefix_rule\s*\(/g;
/** Without a decision a rule allows. */
const NARROWS = /\bdecision\s*=\s*["'](?:prompt|forbidden)["']/;

type Place = Pick<SessionConfig, "permission_mode" | "directory" | "trusted">;

/** The person's own rules count in every mode but plan; a repository's in none but bypass. One that is not trusted is not read by Codex. */
export function rulesRefusal({ permission_mode: mode, directory, trusted }: Place, home: string): string | null {
  if (mode === "bypass") return null;
  const own = mode === "plan" ? allowing(join(home, "rules")) : undefined;
  const file =
    own ??
    (trusted ? foldersAbove(directory) : []).map((folder) => allowing(join(folder, ".codex", "rules"))).find((found) => found);
  if (file === undefined) return null;
  return `${file} allows commands that Codex would run without asking, also in permission mode ${mode}. Remove its allow rules, or choose ${own ? "another mode" : "bypass"}.`;
}

/** The first file of the folder with a rule that allows. */
function allowing(folder: string): string | undefined {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".rules"))
      .map((name) => join(folder, name))
      .find((path) => allows(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

export function allows(text: string): boolean {
  const plain = text.replaceAll(/^\s*#.*$/gm, "");
  return plain
    .split(RULE)
    .slice(1)
    .some((rule) => !NARROWS.test(rule));
}

export const codexHome = (configured: string | undefined, env: Readonly<Record<string, string>>): string =>
  configured ?? env.CODEX_HOME ?? join(env.HOME ?? homedir(), ".codex");
