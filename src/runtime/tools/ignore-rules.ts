/** The rules of `.gitignore` files. Each file's rules hold for its directory and below; the last rule that matches decides. */
import { globToRegExp } from "./glob-pattern.ts";

interface Rule {
  readonly pattern: RegExp;
  readonly keep: boolean;
  readonly onlyDirectories: boolean;
}

/** The rules of one file, for paths relative to its directory. */
export function parseIgnore(text: string): readonly Rule[] {
  return text.split(/\r?\n/).flatMap((raw): Rule[] => {
    const line = raw.replace(/(?<!\\)\s+$/, "");
    if (line === "" || line.startsWith("#")) return [];
    const keep = line.startsWith("!");
    let body = keep ? line.slice(1) : line;
    const onlyDirectories = body.endsWith("/");
    if (onlyDirectories) body = body.slice(0, -1);
    const anchored = body.includes("/");
    if (body.startsWith("/")) body = body.slice(1);
    if (body === "") return [];
    return [{ pattern: globToRegExp(anchored ? body : `**/${body}`), keep, onlyDirectories }];
  });
}

/** Rules of the directories from the top down. */
export interface IgnoreLevel {
  /** Path of the directory below the root, "" for the root itself. */
  readonly base: string;
  readonly rules: readonly Rule[];
}

/** Whether a path below the root is ignored, as far as its own name goes: its directories were asked before. */
export function isIgnored(levels: readonly IgnoreLevel[], path: string, isDirectory: boolean): boolean {
  for (const { base, rules } of levels.toReversed()) {
    if (base !== "" && !path.startsWith(`${base}/`)) continue;
    const own = base === "" ? path : path.slice(base.length + 1);
    const rule = rules.findLast((one) => (isDirectory || !one.onlyDirectories) && one.pattern.test(own));
    if (rule !== undefined) return !rule.keep;
  }
  return false;
}
