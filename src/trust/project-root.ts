/**
 * Which directory a question about trust is really about: the root of the repository that a directory lies in, and the main checkout of a git worktree.
 * Reads small files only; no program is started. Not here: who is trusted (trust-store.ts).
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const LEVELS = 100;

/** The nearest directory upwards that holds a `.git`; null outside of a repository. */
export function repositoryRoot(directory: string): string | null {
  let at = directory;
  for (let level = 0; level < LEVELS; level++) {
    if (statSync(join(at, ".git"), { throwIfNoEntry: false })) return at;
    const parent = dirname(at);
    if (parent === at) return null;
    at = parent;
  }
  return null;
}

/**
 * The main checkout of the git worktree that `directory` lies in; null when it lies in none. Any directory can claim to be a worktree of any repository,
 * so the claim counts only when the repository itself lists this worktree: that list is written by git inside the repository.
 */
export function mainCheckout(directory: string): string | null {
  const root = repositoryRoot(directory);
  if (root === null) return null;
  try {
    if (!statSync(join(root, ".git")).isFile()) return null;
    const named = /^gitdir:\s*(.+)$/m.exec(readFileSync(join(root, ".git"), "utf8"))?.[1]?.trim();
    if (!named) return null;
    const gitDir = realpathSync(resolve(root, named));
    const repository = dirname(dirname(gitDir));
    if (basename(dirname(gitDir)) !== "worktrees" || basename(repository) !== ".git") return null;
    const listed = realpathSync(resolve(gitDir, readFileSync(join(gitDir, "gitdir"), "utf8").trim()));
    return listed === realpathSync(join(root, ".git")) ? dirname(repository) : null;
  } catch {
    return null;
  }
}
