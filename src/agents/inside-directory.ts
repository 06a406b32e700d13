/** Paths and a session's directory: what lies in it, and the folders above it. It opens nothing. */
import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

const LEVELS = 100;

/** Whether the path lies in the directory, symbolic links followed. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(real(directory), real(resolve(directory, path)));
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Of a path that does not exist yet, the part that does is resolved. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(real(parent), relative(parent, path));
  }
}

/** The directory and all folders above it, the nearest first. */
export function foldersAbove(directory: string): string[] {
  const folders = [directory];
  let at = directory;
  while (dirname(at) !== at && folders.length < LEVELS) {
    at = dirname(at);
    folders.push(at);
  }
  return folders;
}
