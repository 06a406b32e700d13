/** Looking around: `ls`, `glob` and `grep`, on one walk that honours `.gitignore`. */
import { open, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { createContext, Script } from "node:vm";
import Type from "typebox";
import { isObject } from "../../openresponses/json.ts";
import { globToRegExp } from "./glob-pattern.ts";
import { shortLine } from "./output-limit.ts";
import { isInside, realPath, shownPath } from "./paths.ts";
import { defineTool, ToolError } from "./tool.ts";
import { walk } from "./walk.ts";

const MAX_NAMES = 500;
const MAX_MATCHES = 200;
const MAX_LINE = 500;
const MAX_GREP_BYTES = 5 * 1024 * 1024;
/** A pattern that takes longer for one file goes back and forth without end. */
const PATTERN_MS = 500;

const Path = Type.Optional(Type.String({ description: "Where; the working directory when left out." }));

export const lsTool = defineTool({
  name: "ls",
  description: "Lists a directory as a tree, without what git ignores.",
  parameters: Type.Object({
    path: Path,
    depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: "Levels (2)." })),
  }),
  effect: "none",
  subject: ({ path = "." }, { directory }) => ({ kind: "read", paths: [realPath(directory, path)] }),
  async run({ path = ".", depth = 2 }, { directory, at, signal }) {
    const root = await rootDirectory(directory, at(path));
    const lines: string[] = [];
    let left = 0;
    for await (const entry of walk(root, { signal, depth })) {
      if (lines.length >= MAX_NAMES) left += 1;
      else lines.push(entry.kind === "directory" ? `${entry.path}/` : entry.kind === "link" ? `${entry.path}@` : entry.path);
    }
    if (lines.length === 0) return { output: `(${shownPath(directory, root)} is empty.)` };
    return { output: lines.join("\n") + more(left, "Choose a smaller path or depth.") };
  },
});

export const globTool = defineTool({
  name: "glob",
  description: "Finds files by a glob such as **/*.ts, newest first, without what git ignores.",
  parameters: Type.Object({ pattern: Type.String(), path: Path }),
  effect: "none",
  subject: ({ path = "." }, { directory }) => ({ kind: "read", paths: [realPath(directory, path)] }),
  async run({ pattern, path = "." }, { directory, at, signal }) {
    const root = await rootDirectory(directory, at(path));
    const matches = matcher(pattern);
    const found: { path: string; time: number }[] = [];
    for await (const entry of walk(root, { signal })) {
      if (entry.kind !== "file" || !matches(entry.path)) continue;
      const file = join(root, entry.path);
      found.push({ path: shownPath(directory, file), time: (await stat(file).catch(() => null))?.mtimeMs ?? 0 });
    }
    if (found.length === 0) return { output: "No file matches." };
    found.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1));
    const shown = found.slice(0, MAX_NAMES).map((one) => one.path);
    return { output: shown.join("\n") + more(found.length - shown.length, "Choose a narrower pattern.") };
  },
});

export const grepTool = defineTool({
  name: "grep",
  description:
    "Searches file contents by a JavaScript regular expression. Gives path:line:text. Ignored and binary files are left out.",
  parameters: Type.Object({
    pattern: Type.String(),
    path: Path,
    glob: Type.Optional(Type.String({ description: "Only files that match, such as *.ts." })),
    ignore_case: Type.Optional(Type.Boolean()),
    context: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "Lines before and after." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: `Matches (${MAX_MATCHES}).` })),
  }),
  effect: "none",
  subject: ({ path = "." }, { directory }) => ({ kind: "read", paths: [realPath(directory, path)] }),
  async run({ pattern, path = ".", glob, ignore_case = false, context = 0, limit = MAX_MATCHES }, { directory, at, signal }) {
    const search = new LineSearch(pattern, ignore_case);
    const root = at(path);
    const wanted = glob === undefined ? () => true : matcher(glob);
    const out: string[] = [];
    let count = 0;
    for await (const file of filesOf(root, signal)) {
      if (!wanted(file.relative)) continue;
      const lines = await textLines(file.path);
      if (lines === null) continue;
      const hits = search.find(lines);
      if (hits.length === 0) continue;
      const room = limit - count;
      count += hits.length;
      if (room <= 0) continue;
      out.push(...format(shownPath(directory, file.path), lines, hits.slice(0, room), context));
    }
    if (count === 0) return { output: "No match." };
    return { output: out.join("\n") + more(Math.max(0, count - limit), "Choose a narrower pattern, path or glob.") };
  },
});

const more = (left: number, advice: string): string => (left > 0 ? `\n(${left} more. ${advice})` : "");

/** A pattern without a slash matches names in every directory. */
function matcher(pattern: string): (path: string) => boolean {
  const expression = globToRegExp(pattern.replace(/^\.\//, ""));
  return pattern.includes("/") ? (path) => expression.test(path) : (path) => expression.test(basename(path));
}

async function rootDirectory(directory: string, root: string): Promise<string> {
  const found = await stat(root).catch(() => null);
  if (found === null) throw new ToolError(`${shownPath(directory, root)} does not exist.`);
  if (!found.isDirectory()) throw new ToolError(`${shownPath(directory, root)} is a file. Use read.`);
  return root;
}

async function* filesOf(root: string, signal: AbortSignal): AsyncGenerator<{ path: string; relative: string }> {
  const found = await stat(root).catch(() => null);
  if (found === null) throw new ToolError(`${root} does not exist.`);
  if (found.isFile()) return yield { path: root, relative: basename(root) };
  for await (const entry of walk(root, { signal })) {
    const path = join(root, entry.path);
    if (entry.kind === "file" && isInside(root, path)) yield { path, relative: entry.path };
  }
}

/** Null for a file that is binary, too big, or cannot be read. */
async function textLines(path: string): Promise<string[] | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (size > MAX_GREP_BYTES) return null;
    const bytes = await file.readFile();
    if (bytes.subarray(0, 8192).includes(0)) return null;
    return bytes.toString("utf8").split(/\r?\n/);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** Runs the pattern with a time limit: some patterns need longer than the universe is old for one line. */
class LineSearch {
  readonly #context: { expression: RegExp; lines: readonly string[] };
  readonly #script = new Script("lines.flatMap((line, at) => (expression.test(line) ? [at] : []))");

  constructor(pattern: string, ignoreCase: boolean) {
    try {
      this.#context = { expression: new RegExp(pattern, ignoreCase ? "iu" : "u"), lines: [] };
    } catch {
      try {
        this.#context = { expression: new RegExp(pattern, ignoreCase ? "i" : ""), lines: [] };
      } catch (error) {
        throw new ToolError(
          `The pattern is no regular expression (${error instanceof Error ? error.message : ""}). Escape special characters.`,
        );
      }
    }
    createContext(this.#context);
  }

  /** Line numbers from 0. */
  find(lines: readonly string[]): number[] {
    this.#context.lines = lines;
    try {
      return [...(this.#script.runInContext(this.#context, { timeout: PATTERN_MS }) as number[])];
    } catch (error) {
      if (isObject(error) && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
        throw new ToolError("The pattern takes too long. Avoid nested repetitions such as (a+)+.");
      }
      throw error;
    }
  }
}

function format(path: string, lines: readonly string[], hits: readonly number[], context: number): string[] {
  const wanted = new Map<number, boolean>();
  for (const hit of hits) {
    for (let at = Math.max(0, hit - context); at <= Math.min(lines.length - 1, hit + context); at += 1) {
      wanted.set(at, wanted.get(at) === true || at === hit);
    }
  }
  const out: string[] = [];
  let last = -1;
  for (const [at, isHit] of [...wanted].sort(([a], [b]) => a - b)) {
    if (context > 0 && last !== -1 && at > last + 1) out.push("--");
    out.push(`${path}${isHit ? ":" : "-"}${at + 1}${isHit ? ":" : "-"}${shortLine(lines[at] ?? "", MAX_LINE)}`);
    last = at;
  }
  return out;
}
