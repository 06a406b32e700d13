/**
 * Where git works when it is asked in a directory. A repository's `core.worktree` can name any directory of the machine, and git goes there: only a repository
 * that works in the directory itself is asked about its files.
 */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { toFs } from "../raw-path.ts";
import { git } from "./command.ts";

/** `prefix`: the raw way from the repository's root to the directory, with a slash at its end; "" for the root. */
export type WorkTree = { prefix: string; gitDir: string; format: string };

/** What git says when it does not work here. */
export type NoWorkTree = { reason: string };

export async function workTreeOf(directory: string): Promise<WorkTree | NoWorkTree> {
  const args = ["rev-parse", "--show-object-format", "--absolute-git-dir", "--show-toplevel", "--show-prefix"];
  const { status, stdout, stderr } = await git(directory, args);
  if (status !== 0) return { reason: stderr };
  const [format = "sha1", gitDir = "", top = "", prefix = ""] = stdout.toString("latin1").split("\n");
  const worksHere = realPath(toFs(join(top, prefix))) === realPath(directory);
  return worksHere ? { prefix, gitDir, format } : { reason: "this operation must be run in a work tree" };
}

function realPath(path: string | Buffer): string | null {
  try {
    return realpathSync(path, "latin1");
  } catch {
    return null;
  }
}
