/** Where skills are looked for, the first place winning: the session's setting, the project from its directory up to the repository's root, the user, what comes with dragoman. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { SkillScope } from "./skill.ts";

const PROJECT = [".dragoman", ".agents", ".claude", ".github"];
const USER = [".dragoman", ".agents", ".claude", ".codex", ".copilot", ".gemini"];
const LEVELS = 64;

export type SkillRoot = {
  /** Absolute. */
  path: string;
  scope: SkillScope;
  /** Which folder it is in, such as `.agents`; "" for one that was set by path. */
  kind: string;
  /** Links may lead anywhere in a person's own folders; in a project only where this directory holds them. */
  bounds: string | null;
};
export type RootOptions = {
  /** The session's directory; none: no project. */
  directory?: string;
  /** false: the directory is not trusted, so its skills do not count. Default true. */
  trusted?: boolean;
  /** Folders that the session sets. */
  session?: readonly string[];
  bundled?: readonly string[];
  home?: string;
};

/** Only those that exist, each once. */
export function skillRoots({
  directory,
  trusted = true,
  session = [],
  bundled = [],
  home = homedir(),
}: RootOptions): SkillRoot[] {
  const set = (paths: readonly string[], scope: SkillScope): SkillRoot[] =>
    paths.map((path) => ({ path: resolve(path), scope, kind: "", bounds: null }));
  const user = USER.map((kind): SkillRoot => ({ path: join(home, kind, "skills"), scope: "user", kind, bounds: null }));
  const all = [
    ...set(session, "session"),
    ...(directory !== undefined && trusted ? project(resolve(directory), home) : []),
    ...user,
    ...set(bundled, "bundled"),
  ];
  const seen = new Set<string>();
  return all.filter(({ path }) => !seen.has(path) && seen.add(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory());
}

/** The nearest directory first. The home directory is no project: its folders are the user's. */
function project(directory: string, home: string): SkillRoot[] {
  const above: string[] = [];
  let top: string | null = null;
  for (let at = directory; above.length < LEVELS; at = dirname(at)) {
    above.push(at);
    if (statSync(join(at, ".git"), { throwIfNoEntry: false })) {
      top = at;
      break;
    }
    if (dirname(at) === at) break;
  }
  const within = top === null ? [directory] : above;
  return within
    .filter((at) => at !== home)
    .flatMap((at) =>
      PROJECT.map((kind): SkillRoot => ({ path: join(at, kind, "skills"), scope: "project", kind, bounds: top ?? directory })),
    );
}
