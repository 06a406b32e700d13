/**
 * Text search in a workspace by `git grep`, also where there is no repository: it is a process of its own that can be stopped, so no pattern can block the daemon; it
 * honours ignore rules, follows no links and runs nothing that the repository names. Binary files are left out.
 */
import { startLimitedGit } from "../git/command.ts";
import { workTreeOf } from "../git/work-tree.ts";
import { textOf } from "../raw-path.ts";
import { FilesError } from "./errors.ts";

const LINE_CHARACTERS = 500;
const MOST = 5_000;
const TIME_MS = 20_000;
/** More than a path and what is shown of a line. The rest of a line, however long, is not kept. */
const ROW_BYTES = 16 * 1024;
/** Far more than files that people search, far less than a file that fills the machine's memory. */
const MEMORY_KB = 2 * 1024 ** 2;
/** What two threads use in the longest time, and a little more. */
const PROCESSOR_SECONDS = (2 * TIME_MS) / 1000 + 10;

export type SearchOptions = {
  /** POSIX extended regular expression. Default: the text as it is. */
  regex?: boolean;
  ignore_case?: boolean;
  /** Only below this directory. */
  path?: string;
  /** Only files like this, such as `*.ts`. */
  glob?: string;
  /** Default 200. */
  limit?: number;
  /** Then it is stopped. Default 20 s. */
  time_ms?: number;
  signal?: AbortSignal;
};
export type SearchMatch = { path: string; line: number; column: number; text: string };
export type SearchResult = { matches: SearchMatch[] /** There was more, or it took too long. */; truncated: boolean };

type Found = SearchResult | "out of memory" | null;

/** `within`: a checked path inside the root, "" for all. */
export async function searchText(
  root: string,
  within: string,
  query: string,
  options: SearchOptions = {},
): Promise<SearchResult> {
  if (query === "" || query.includes("\0") || query.includes("\n"))
    throw new FilesError("invalid_pattern", query, "Search for a text of one line.");
  if (options.glob?.includes("\0")) throw new FilesError("invalid_pattern", options.glob, "No file has a NUL in its name.");
  // Git's patterns reach as far as the repository does.
  if (options.glob?.split(/[/\\]/).includes(".."))
    throw new FilesError("path_outside", options.glob, `${options.glob} leads out of the workspace: leave out the \`..\`.`);
  const inRepository = "reason" in (await workTreeOf(root)) ? null : await search(root, within, query, options, ["--untracked"]);
  const result = inRepository ?? (await search(root, within, query, options, ["--no-index", "--exclude-standard"]));
  if (!result) throw new FilesError("git_failed", root, "git is needed for searching, and could not be started.");
  return result;
}

/** null: not in this way. */
async function search(
  root: string,
  within: string,
  query: string,
  options: SearchOptions,
  way: string[],
): Promise<SearchResult | null> {
  const found = await searchWith(2, root, within, query, options, way);
  // A file was too large for the memory it may have. One thread reads the files in their order, so all before that one are in the answer.
  const again = found === "out of memory" ? await searchWith(1, root, within, query, options, way) : found;
  return again === "out of memory" ? null : again;
}

function searchWith(
  threads: 1 | 2,
  root: string,
  within: string,
  query: string,
  options: SearchOptions,
  way: string[],
): Promise<Found> {
  const most = Math.max(1, Math.min(options.limit ?? 200, MOST));
  const args = [
    "grep",
    ...way,
    "-z",
    "-n",
    "--column",
    "-I",
    "--no-color",
    "--no-textconv",
    `--threads=${threads}`,
    options.regex ? "-E" : "-F",
  ];
  if (options.ignore_case) args.push("-i");
  const pathspecs = pathspecOf(within, options.glob);
  // Its caller went while this was prepared: that is not said again.
  if (options.signal?.aborted) return Promise.resolve({ matches: [], truncated: true });
  const child = startLimitedGit(root, [...args, "-e", query, "--", ...pathspecs], {
    kilobytes: MEMORY_KB,
    seconds: PROCESSOR_SECONDS,
  });
  return new Promise((resolve, reject) => {
    const matches: SearchMatch[] = [];
    let truncated = false;
    let row = "";
    let stderr = "";
    const add = (piece: string) => {
      if (row.length < ROW_BYTES) row += piece.slice(0, ROW_BYTES - row.length);
    };
    const stop = () => {
      truncated = true;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(stop, options.time_ms ?? TIME_MS);
    options.signal?.addEventListener("abort", stop, { once: true });
    child.stdout.setEncoding("latin1");
    child.stdout.on("data", (chunk: string) => {
      let from = 0;
      for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
        add(chunk.slice(from, end));
        from = end + 1;
        const match = matchOf(row);
        row = match === null ? `${row}\n` : "";
        if (match && matches.length < most) matches.push(match);
        else if (match) return stop();
      }
      add(chunk.slice(from));
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < 4_096) stderr += chunk.toString("utf8");
    });
    child.stdin.on("error", () => {});
    child.stdin.end();
    child.on("error", () => resolve(null));
    child.on("close", (status, signal) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", stop);
      if (truncated || status === 0 || status === 1) resolve({ matches, truncated });
      else if (/out of memory/i.test(stderr)) resolve(threads === 1 ? { matches, truncated: true } : "out of memory");
      else if (signal !== null && !options.regex) resolve({ matches, truncated: true });
      // The library that git uses for expressions runs out of stack or memory on some of them.
      else if (signal !== null || /memory exhausted/i.test(stderr))
        reject(
          new FilesError("invalid_pattern", query, "This regular expression is too complex to search with. Make it simpler."),
        );
      else if (/invalid|unmatched|trailing backslash|regular expression/i.test(stderr) && !/not a git repository/.test(stderr))
        reject(new FilesError("invalid_pattern", query, `This is not a regular expression: ${stderr.split("\n")[0]}`));
      else resolve(null);
    });
  });
}

function pathspecOf(within: string, glob: string | undefined): string[] {
  if (glob === undefined) return [within === "" ? "." : `:(literal)${within}`];
  const pattern = glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`;
  const base = within === "" ? "" : `${within.replace(/[*?[\\]/g, "\\$&")}/`;
  return [`:(glob)${base}${pattern}`];
}

/** `path NUL line NUL column NUL text`; a file name may hold anything but NUL, also the end of a line: null when the row is not whole yet. */
function matchOf(row: string): SearchMatch | null {
  const [path, line, column, ...text] = row.split("\0");
  if (path === undefined || line === undefined || column === undefined || text.length === 0) return null;
  return {
    path: textOf(path),
    line: Number(line),
    column: Number(column),
    text: textOf(text.join("\0")).slice(0, LINE_CHARACTERS),
  };
}
