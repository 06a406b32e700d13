/** Paths a model names: made absolute and free of links, so that permission rules and the file system speak of the same file. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ToolError } from "./tool.ts";

/** No system opens a longer one, and to resolve it would take seconds. */
const MAX_PATH = 4096;

/** The real path. Of a path that does not exist yet, the part that does is resolved. */
export function realPath(directory: string, path: string): string {
  if (path.includes("\0")) throw new ToolError("The path has a NUL byte in it.");
  if (path.length > MAX_PATH) throw new ToolError(`The path has ${path.length} characters: at most ${MAX_PATH} are possible.`);
  const wanted = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
  return real(resolve(directory, wanted));
}

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(real(parent), basename(path));
  }
}

/** Whether a real path lies in a real directory. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** As the model wrote it or would write it: relative inside the directory. */
export const shownPath = (directory: string, path: string): string =>
  isInside(directory, path) ? relative(directory, path) || "." : path;
