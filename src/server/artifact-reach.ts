/**
 * Whether a token with a scope may read an artifact: some session it reaches must mention it. Artifacts are named by their content and belong to no
 * session, so the events are searched. Tokens without a scope never come here.
 */
import { setImmediate } from "node:timers/promises";
import type { Log, Stream, StreamPage } from "../log/contract.ts";
import { directoryOf } from "./session-place.ts";
import { inScope, type Scope } from "./token.ts";

const MAX_KNOWN = 10_000;

export class ArtifactReach {
  readonly #log: Log;
  /** `<artifact> <session>` pairs that were found; events are never taken back, so they stay true while the session is there. */
  readonly #known = new Map<string, Set<string>>();

  constructor(log: Log) {
    this.#log = log;
  }

  async reaches(scope: Scope, artifactId: string): Promise<boolean> {
    for (const id of this.#known.get(artifactId) ?? []) if (await this.#sees(scope, id)) return true;
    for await (const id of this.#sessions(scope)) {
      const stream = await this.#log.stream("session", id);
      if (!stream || !(await mentions(stream, artifactId))) continue;
      this.#remember(artifactId, id);
      return true;
    }
    return false;
  }

  async #sees(scope: Scope, id: string): Promise<boolean> {
    const directory = await directoryOf(this.#log, id);
    return directory !== undefined && inScope(scope, { session_id: id, directory });
  }

  async *#sessions(scope: Scope): AsyncGenerator<string> {
    for (let before: string | undefined; ; ) {
      const page: StreamPage = await this.#log.list("session", { limit: 500, ...(before === undefined ? {} : { before }) });
      for (const { id } of page.streams) if (await this.#sees(scope, id)) yield id;
      if (page.next === null) return;
      before = page.next;
    }
  }

  #remember(artifactId: string, sessionId: string): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const known = this.#known.get(artifactId) ?? new Set();
    this.#known.set(artifactId, known.add(sessionId));
  }
}

/** Page by page, and others get their turn in between. */
async function mentions(stream: Stream, artifactId: string): Promise<boolean> {
  for (let after = 0; ; ) {
    const page = await stream.read({ after, limit: 2_000, maxBytes: 2 * 1024 * 1024 });
    if (page.events.some((json) => json.includes(artifactId))) return true;
    if (!page.has_more) return false;
    after = page.next;
    await setImmediate();
  }
}
