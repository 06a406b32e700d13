/** The files of a session's directory, opened anew for each request: a directory that vanished, or became a link, is noticed. */
import { ProblemError } from "../schema/problem-codes.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { type Completion, Files, Paths } from "../workspace/files/index.ts";
import { realDirectory } from "./access.ts";

/**
 * The directory of a session as it is now. A session keeps the real path of its directory, so one that leads elsewhere was replaced by a link since: nothing is
 * read, written or started there in the session's name.
 */
export function sessionRoot(directory: string): string {
  const real = realDirectory(directory);
  if (real === directory) return directory;
  throw new ProblemError(
    "directory_not_found",
    real === undefined
      ? `The directory ${directory} is gone.`
      : `The directory ${directory} was replaced by a link to ${real}. Create a session there if you trust it.`,
  );
}

/** Directories whose paths are kept at hand for completion. */
const MAX_DIRECTORIES = 20;

export class SessionFiles {
  readonly #manager: SessionManager;
  readonly #paths = new Map<string, Paths>();

  constructor(manager: SessionManager) {
    this.#manager = manager;
  }

  async open(sessionId: string): Promise<Files> {
    return Files.open(sessionRoot(await this.directory(sessionId)));
  }

  async directory(sessionId: string): Promise<string> {
    return (await this.#manager.view(sessionId)).directory;
  }

  /** Typing asks often: the list of paths is kept for a moment. */
  async complete(sessionId: string, query: string, limit?: number): Promise<Completion[]> {
    const { root } = await this.open(sessionId);
    const paths = this.#paths.get(root) ?? new Paths(root);
    this.#paths.delete(root);
    this.#paths.set(root, paths);
    if (this.#paths.size > MAX_DIRECTORIES)
      for (const oldest of this.#paths.keys()) this.#paths.delete(oldest === root ? "" : oldest);
    return paths.complete(query, limit);
  }
}
