/**
 * Permission rules in settings files that would let a tool run unasked, given back as rules that ask: Claude Code ranks `ask` above `allow`. The files are
 * only read. Not here: rules that a person gives for the session while it runs.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PermissionMode } from "../../../schema/event-data.ts";
import { foldersAbove } from "../../inside-directory.ts";
import { arr, rec } from "../../json.ts";
import { configFolder } from "./config-folder.ts";

/** They change nothing. */
const READING = /^(?:Read|Glob|Grep|LS|NotebookRead|TodoWrite|WebSearch|WebFetch|Task|Agent|Skill)(?:\(|$)/;
const EDITING = /^(?:Edit|Write|MultiEdit|NotebookEdit)$/;

/**
 * The person's own rules count in every mode but plan. A repository's rules count in none: a file below `.claude` is the repository's, also the local
 * one, since a repository can contain it.
 */
export function askRules(mode: PermissionMode, directory: string, env: Record<string, string>): string[] {
  if (mode === "bypass") return [];
  const own = allowed(join(configFolder(env), "settings.json"));
  const repository = foldersAbove(directory).flatMap((folder) =>
    ["settings.json", "settings.local.json"].flatMap((name) => allowed(join(folder, ".claude", name))),
  );
  const rules = mode === "plan" ? [...own, ...repository] : repository.filter((rule) => !own.includes(rule));
  // In accept_edits edits pass anyway.
  const asked = rules.filter((rule) => !READING.test(rule) && !(mode === "accept_edits" && EDITING.test(rule)));
  return [...new Set(asked)];
}

function allowed(path: string): string[] {
  try {
    const { allow } = rec(rec(JSON.parse(readFileSync(path, "utf8"))).permissions);
    return arr(allow).filter((rule): rule is string => typeof rule === "string");
  } catch {
    return [];
  }
}
