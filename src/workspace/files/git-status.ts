/** What git says of a directory: status and diff. Nothing that the repository's configuration names is run (command.ts). */
import type { GitStatus } from "../../schema/files.ts";
import { git, withoutFilters, zeroSeparated } from "../git/command.ts";
import { workTreeOf } from "../git/work-tree.ts";
import { textOf } from "../raw-path.ts";
import { FilesError } from "./errors.ts";

const ENTRIES = 10_000;
const DIFF_BYTES = 5 * 1024 ** 2;

export async function gitStatus(directory: string): Promise<GitStatus> {
  const args = [
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=normal",
    "--ignore-submodules=dirty",
    "--find-renames",
  ];
  const { prefix, config } = await workingIn(directory);
  const { status, stdout, stderr } = await git(directory, args, { config });
  if (status !== 0) throw failed(directory, stderr);
  const fields = zeroSeparated(stdout);
  const result: GitStatus = { branch: null, commit: null, upstream: null, ahead: 0, behind: 0, entries: [], truncated: false };
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]!;
    if (field.startsWith("# ")) header(result, field);
    else if (result.entries.length >= ENTRIES) result.truncated = true;
    else {
      const entry = entryOf(field, prefix);
      if (entry?.kind === "renamed") entry.from = relativeTo(prefix, fields[++at] ?? "");
      if (entry) result.entries.push(entry);
    }
  }
  return result;
}

function header(result: GitStatus, line: string): void {
  const [, name, first = "", second = ""] = line.split(" ");
  if (name === "branch.oid" && first !== "(initial)") result.commit = first;
  if (name === "branch.head" && first !== "(detached)") result.branch = textOf(line.slice("# branch.head ".length));
  if (name === "branch.upstream") result.upstream = textOf(line.slice("# branch.upstream ".length));
  if (name === "branch.ab") [result.ahead, result.behind] = [Number(first), -Number(second)];
}

const FIELDS: Record<string, [GitStatus["entries"][number]["kind"], number]> = {
  1: ["changed", 8],
  2: ["renamed", 9],
  u: ["unmerged", 10],
};

function entryOf(line: string, prefix: string): GitStatus["entries"][number] | null {
  if (line.startsWith("? ")) return { path: relativeTo(prefix, line.slice(2)), kind: "untracked", index: ".", worktree: "?" };
  const shape = FIELDS[line[0] ?? ""];
  if (!shape) return null;
  const parts = line.split(" ");
  return {
    path: relativeTo(prefix, parts.slice(shape[1]).join(" ")),
    kind: shape[0],
    index: parts[1]![0]!,
    worktree: parts[1]![1]!,
  };
}

/** Porcelain paths begin at the repository's root. */
function relativeTo(prefix: string, path: string): string {
  if (prefix === "") return textOf(path);
  if (path.startsWith(prefix)) return textOf(path.slice(prefix.length));
  const [from, to] = [prefix.split("/").slice(0, -1), path.split("/")];
  let common = 0;
  while (common < from.length && from[common] === to[common]) common += 1;
  return textOf([...from.slice(common).map(() => ".."), ...to.slice(common)].join("/"));
}

export type GitDiffOptions = {
  /** What is staged, against HEAD. Default: what is not staged, against the index. */
  staged?: boolean;
  /** Everything against this commit instead. */
  base?: string;
  /** Only these paths, relative to the directory. */
  paths?: readonly string[];
};

/** A unified diff of tracked files. `truncated`: it was longer than 5 MiB. */
export async function gitDiff(
  directory: string,
  { staged = false, base, paths = [] }: GitDiffOptions = {},
): Promise<{ diff: string; truncated: boolean }> {
  if (base !== undefined && (base.startsWith("-") || base.includes("\0")))
    throw new FilesError("invalid_pattern", base, `${base} is not a commit.`);
  const args = [
    "--literal-pathspecs",
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--ignore-submodules=dirty",
  ];
  if (staged) args.push("--cached");
  // Any other object could be a file that lies outside of the directory.
  if (base !== undefined) args.push("--end-of-options", `${base}^{commit}`);
  const { status, stdout, stderr, late } = await git(directory, [...args, "--", ...(paths.length > 0 ? paths : ["."])], {
    config: (await workingIn(directory)).config,
    limit: DIFF_BYTES,
  });
  // Git was stopped because it said too much.
  if (status === null && !late) return { diff: stdout.toString("utf8"), truncated: true };
  if (base !== undefined && /bad revision|unknown revision|ambiguous argument|bad object|no upstream configured/.test(stderr))
    throw new FilesError("invalid_pattern", base, `There is no commit ${JSON.stringify(base)} in this repository.`);
  if (status !== 0) throw failed(directory, stderr);
  return { diff: stdout.toString("utf8"), truncated: false };
}

async function workingIn(directory: string): Promise<{ prefix: string; config: [string, string][] }> {
  const tree = await workTreeOf(directory);
  if ("reason" in tree) throw failed(directory, tree.reason);
  const config = await withoutFilters(directory);
  if (config === null) throw failed(directory, "its configuration could not be read");
  return { prefix: tree.prefix, config };
}

function failed(directory: string, stderr: string): FilesError {
  const first = stderr.split("\n")[0] ?? "";
  if (/not a git repository|must be run in a work tree/.test(stderr))
    return new FilesError("not_a_repository", directory, `${directory} lies in no git repository.`);
  return new FilesError("git_failed", directory, `git cannot be used here: ${first || "it could not be started"}`);
}
