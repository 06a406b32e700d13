// Amp ranks `.amp/settings.json` of the repository above every settings file it is given, so a repository could widen the permissions of a session.
// This looks for that before a run: a session's permission mode holds, or there is no run.
import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { records } from "../../json.ts";
import { parseSettings } from "./settings-file.ts";

const LEVELS = 100;

export type RepositoryRules = {
  path: string;
  /** The setting that would allow more than the session does. */
  widens: "amp.dangerouslyAllowAll" | "amp.permissions" | null;
  /** A rule asks for an approval, which nobody can give. */
  asks: boolean;
};

/** What the repository's settings say about permissions; null when there are none. */
export async function repositoryRules(directory: string): Promise<RepositoryRules | null> {
  const found = await repositorySettings(directory);
  if (found === null) return null;
  const settings = parseSettings(found.text);
  const actions = new Set(records(settings["amp.permissions"]).map(({ action }) => action));
  // A delegate is a program of the repository's choice, run before anybody was asked.
  const allows = actions.has("allow") || actions.has("delegate") ? "amp.permissions" : null;
  const widens = settings["amp.dangerouslyAllowAll"] === true ? "amp.dangerouslyAllowAll" : allows;
  return { path: found.path, widens, asks: actions.has("ask") };
}

/** As Amp looks for it: from the directory up to the root of the repository; outside of a repository only there. */
async function repositorySettings(directory: string): Promise<{ path: string; text: string } | null> {
  const top = (await repositoryRoot(directory)) ?? directory;
  let at = directory;
  for (let level = 0; level < LEVELS; level++) {
    for (const name of ["settings.json", "settings.jsonc"]) {
      const path = join(at, ".amp", name);
      const text = await readFile(path, "utf8").catch(() => null);
      if (text !== null) return { path, text };
    }
    if (at === top || dirname(at) === at) return null;
    at = dirname(at);
  }
  return null;
}

async function repositoryRoot(directory: string): Promise<string | null> {
  let at = directory;
  for (let level = 0; level < LEVELS; level++) {
    const here = await access(join(at, ".git")).then(
      () => true,
      () => false,
    );
    if (here) return at;
    if (dirname(at) === at) return null;
    at = dirname(at);
  }
  return null;
}
