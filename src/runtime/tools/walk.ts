/** Walks a directory in a stable order, without what git ignores and without following links. It stops at a limit instead of taking minutes. */
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type IgnoreLevel, isIgnored, parseIgnore } from "./ignore-rules.ts";

const MAX_ENTRIES = 200_000;
const MAX_IGNORE_BYTES = 1024 * 1024;
/** Never of interest, also without a `.gitignore`. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules", ".hg", ".svn"]);

export interface WalkEntry {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly kind: "file" | "directory" | "link" | "other";
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** How many levels; 1 is the directory itself. */
  readonly depth?: number;
}

export async function* walk(root: string, options: WalkOptions): AsyncGenerator<WalkEntry> {
  let seen = 0;
  const visit = async function* (base: string, levels: readonly IgnoreLevel[], depth: number): AsyncGenerator<WalkEntry> {
    options.signal.throwIfAborted();
    const entries = await list(join(root, base));
    const rules = entries.some((entry) => entry.name === ".gitignore") ? await readRules(join(root, base)) : [];
    const here = rules.length === 0 ? levels : [...levels, { base, rules }];
    for (const entry of entries) {
      seen += 1;
      if (seen > MAX_ENTRIES) return;
      const path = base === "" ? entry.name : `${base}/${entry.name}`;
      const isDirectory = entry.isDirectory();
      if (SKIPPED.has(entry.name) || isIgnored(here, path, isDirectory)) continue;
      yield { path, kind: kindOf(entry) };
      if (isDirectory && depth < (options.depth ?? Number.POSITIVE_INFINITY)) yield* visit(path, here, depth + 1);
    }
  };
  yield* visit("", [], 1);
}

/** A directory that cannot be read is empty: the walk goes on. */
async function list(directory: string): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

async function readRules(directory: string): Promise<ReturnType<typeof parseIgnore>> {
  const bytes = await readFile(join(directory, ".gitignore")).catch(() => Buffer.alloc(0));
  return parseIgnore(bytes.subarray(0, MAX_IGNORE_BYTES).toString("utf8"));
}

const kindOf = (entry: Dirent): WalkEntry["kind"] => {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
};
