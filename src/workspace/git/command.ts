/**
 * Runs git for reading, with everything switched off that a repository's own configuration could start: hooks, fsmonitor, external diffs, filters, submodule
 * checks, fetching of missing objects. A repository may be hostile; the user's own configuration (ignore file, safe directories) still counts.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

const OUTPUT_LIMIT = 256 * 1024 * 1024;
/** Git waits for ever for the other end of a pipe, and reads one that is called `.gitignore`. */
const TIME_MS = 30_000;
const HARMLESS: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.untrackedCache", "false"],
  ["core.quotePath", "false"],
  ["core.pager", "cat"],
  ["core.trustctime", "true"],
  ["core.checkStat", "default"],
  ["diff.external", ""],
  ["diff.ignoreSubmodules", "dirty"],
  ["diff.autoRefreshIndex", "false"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
];

/** `late`: it was stopped because it took too long. */
export type GitResult = { status: number | null; stdout: Buffer; stderr: string; late: boolean };
type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>;
export type GitOptions = {
  input?: string | Buffer;
  config?: readonly (readonly [string, string])[];
  limit?: number;
  /** Default 30 s. */
  time_ms?: number;
  signal?: AbortSignal;
};

/** The environment without what would send git elsewhere, and with the harmless settings, which win over the repository's. */
export function gitEnvironment(more: readonly (readonly [string, string])[] = []): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) if (!name.startsWith("GIT_")) env[name] = value;
  const settings = [...HARMLESS, ...more];
  settings.forEach(([key, value], at) => {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return {
    ...env,
    GIT_CONFIG_COUNT: String(settings.length),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    // No protocol at all: an object that is missing in a partial clone stays missing.
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_PAGER: "cat",
    LC_ALL: "C",
  };
}

export function startGit(
  directory: string,
  args: readonly string[],
  config?: readonly (readonly [string, string])[],
): GitProcess {
  return started("git", ["--no-pager", ...args], directory, config);
}

/**
 * With at most so much memory and processor time, where the system can limit them: git reads files whole, however large they are, and some expressions have no
 * end. Too little memory ends it with "out of memory"; the time is for the case that nobody is left to stop it.
 */
export function startLimitedGit(
  directory: string,
  args: readonly string[],
  { kilobytes, seconds }: { kilobytes: number; seconds: number },
): GitProcess {
  const limited = `ulimit -v ${kilobytes} 2>/dev/null; ulimit -t ${seconds} 2>/dev/null; exec git --no-pager "$@"`;
  return started("/bin/sh", ["-c", limited, "git", ...args], directory);
}

const started = (
  program: string,
  args: readonly string[],
  cwd: string,
  config?: readonly (readonly [string, string])[],
): GitProcess => spawn(program, args, { cwd, env: gitEnvironment(config), stdio: ["pipe", "pipe", "pipe"] });

/** Never throws for what git says: look at `status`. null: git could not be started, was stopped, said too much or took too long. */
export function git(directory: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  return new Promise((resolve) => {
    const child = startGit(directory, args, options.config);
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = "";
    let late = false;
    const stop = () => child.kill("SIGKILL");
    const timer = setTimeout(() => {
      late = true;
      stderr = "it took too long";
      stop();
    }, options.time_ms ?? TIME_MS);
    options.signal?.addEventListener("abort", stop, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > (options.limit ?? OUTPUT_LIMIT)) stop();
      else chunks.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < 4096) stderr += chunk.toString("utf8");
    });
    const done = (status: number | null) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", stop);
      resolve({ status, stdout: Buffer.concat(chunks), stderr, late });
    };
    child.on("error", () => done(null));
    child.on("close", done);
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}

/** Fields of an answer made with `-z`, as raw paths. */
export function zeroSeparated(output: Buffer): string[] {
  const fields = output.toString("latin1").split("\0");
  fields.pop();
  return fields;
}

/**
 * Filters of the repository's configuration are programs. Commands that compare the content of files (status, diff) would run them: these settings make each of
 * them empty, which means "no filter". Null: git did not say which there are, so none of these commands may be run.
 */
export async function withoutFilters(directory: string): Promise<[string, string][] | null> {
  const { status, stdout } = await git(directory, ["config", "--null", "--name-only", "--get-regexp", "^filter\\."]);
  // 1: there are none.
  if (status !== 0 && status !== 1) return null;
  const names = new Set(
    stdout
      .toString("utf8")
      .split("\0")
      .map((key) => key.slice("filter.".length, key.lastIndexOf(".")))
      .filter((name) => name !== ""),
  );
  return [...names].flatMap((name): [string, string][] => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
}
