/**
 * Directories of this machine whose path begins as somebody typed it: for a field where a person names one. Reads one directory, a bounded part of it, and starts
 * no program. Not here: files of a session, which never leave its directory (files.ts).
 */
import { opendir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** How much of a directory is looked at. */
const MOST_ENTRIES = 10_000;
const MOST_LINKS = 200;
const MOST_FOUND = 50;

/** Absolute paths by name, at most 50. `base`: where a relative path begins. Hidden ones only when the typed name begins with a dot. */
export async function directoriesLike(typed: string, base: string): Promise<string[]> {
  // Cut by hand: `.` and `..` at the end are beginnings of names here.
  const cut = typed.lastIndexOf("/") + 1;
  const [parent, name] = [absolute(typed.slice(0, cut), base), typed.slice(cut)];
  const found: string[] = [];
  let links = 0;
  try {
    let seen = 0;
    for await (const entry of await opendir(parent)) {
      if (++seen > MOST_ENTRIES) break;
      if (!begins(entry.name, name)) continue;
      if (entry.isDirectory()) found.push(join(parent, entry.name));
      else if (entry.isSymbolicLink() && ++links <= MOST_LINKS && (await isDirectory(join(parent, entry.name))))
        found.push(join(parent, entry.name));
    }
  } catch {
    // Not there, or not for this user: nothing goes on like it.
  }
  return found.sort((a, b) => a.localeCompare(b)).slice(0, MOST_FOUND);
}

function absolute(typed: string, base: string): string {
  if (typed.startsWith("~/")) return join(homedir(), typed.slice(1));
  return isAbsolute(typed) ? resolve(typed) : resolve(base, typed);
}

const begins = (entry: string, name: string): boolean =>
  entry.toLowerCase().startsWith(name.toLowerCase()) && (name.startsWith(".") || !entry.startsWith("."));

const isDirectory = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isDirectory() ?? false;
