/**
 * What an agent would load from a directory, found by looking: an agent's folder lists its files as rules, this reads them and says in sentences what they
 * do. The files may be hostile: only regular files are opened, only their beginning is read, nothing is followed or run. Not here: holding them back.
 */
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { DirectoryFile } from "../schema/session.ts";
import { repositoryRoot } from "../trust/project-root.ts";
import { AgentError, type LoadedFile } from "./contract.ts";
import { type Effect, quoted } from "./file-effects.ts";

export const READ_BYTES = 256 * 1024;
/** How many files a person is shown. */
const FILES = 100;
const NAMES = 8;
const LEVELS = 100;

export type FileRule = {
  /** Relative to the directory. With a slash at the end it is a folder, which counts when something is in it. */
  path: string;
  /** `root`: also in every directory above, up to the root of the repository; outside of one, of the file system. Default: only in the session's directory. */
  upTo?: "root";
  /** What a file does; empty: nothing worth a word, the file is left out. */
  read?(text: string): Effect[];
  /** What a folder or a file without `read` is. */
  kind?: DirectoryFile["kind"];
  does?: string;
  /** Only text for the model: loaded in restricted sessions too. */
  always?: true;
};

export async function findFiles(directory: string, rules: readonly FileRule[]): Promise<LoadedFile[]> {
  const above = ancestors(directory, repositoryRoot(directory) ?? "/");
  const found: LoadedFile[] = [];
  for (const rule of rules)
    for (const folder of rule.upTo === "root" ? [directory, ...above] : [directory]) {
      if (found.length >= FILES) return found;
      const file = join(folder, rule.path);
      const path = `${relative(directory, file)}${rule.path.endsWith("/") ? "/" : ""}`;
      for (const effect of await effectsOf(file, rule))
        found.push({ path, ...effect, ...(rule.always ? { always: true as const } : {}) });
    }
  return found;
}

/** For an agent that cannot leave them out: it is not started where there are some. */
export const mustHaveNone =
  (name: string, files: (directory: string) => Promise<LoadedFile[]>) =>
  async (directory: string): Promise<void> => {
    const [first] = (await files(directory)).filter(({ always }) => !always);
    if (first) throw untrusted(`${name} cannot be started without ${first.path} of its directory.`, directory);
  };

export const untrusted = (reason: string, directory: string): AgentError =>
  new AgentError(
    "directory_untrusted",
    `${reason} Trust the directory first with \`dragoman trust ${directory}\`, or this session with \`dragoman set <session> --trust\`; then send the message again.`,
  );

async function effectsOf(file: string, rule: FileRule): Promise<Effect[]> {
  const kind = rule.kind ?? "settings";
  if (rule.path.endsWith("/")) {
    const names = (await readdir(file).catch(() => [])).filter((name) => !name.startsWith(".")).sort();
    if (names.length === 0) return [];
    const more = names.length > NAMES ? ` and ${names.length - NAMES} more` : "";
    return [{ kind, does: `${rule.does ?? "loads"}: ${names.slice(0, NAMES).map(quoted).join(", ")}${more}` }];
  }
  const text = await head(file);
  if (text === null) return [];
  return rule.read ? rule.read(text) : [{ kind, does: rule.does ?? "loads it" }];
}

/** The beginning of a regular file. A pipe or a device would block or never end. */
export async function head(path: string): Promise<string | null> {
  let file: FileHandle | undefined;
  try {
    if (!(await stat(path)).isFile()) return null;
    file = await open(path, "r");
    const buffer = Buffer.alloc(READ_BYTES);
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return null;
  } finally {
    await file?.close();
  }
}

/** All directories above. The home directory is left out: what lies there is the person's own. */
export function ancestors(directory: string, last = "/"): string[] {
  const above: string[] = [];
  for (let at = directory; at !== last && at !== dirname(at) && above.length < LEVELS; ) {
    at = dirname(at);
    above.push(at);
  }
  return above.filter((folder) => folder !== homedir());
}
