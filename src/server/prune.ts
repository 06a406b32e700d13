/**
 * Removes old sessions in small portions, each with an entry in the audit record. A portion is gone from the disk before the next begins, and others get
 * their turn between two. Not here: which sessions are old (session/pruning), and what the configuration says (retention).
 */
import type { Actor } from "../schema/actor.ts";
import type { PrunedSession, PruneResult } from "../schema/prune.ts";
import { type PruneRule, prunable } from "../session/pruning.ts";
import type { Audit } from "./audit.ts";
import type { ServerOptions } from "./server-context.ts";

type Context = Pick<ServerOptions, "log" | "manager"> & { audit: Audit };

const PORTION = 20;
/** Of one request: the others need another one. */
const MAX_REMOVED = 200;
const MAX_LISTED = 1_000;

/** What would be removed. */
export async function planPrune({ log, manager }: Context, rule: PruneRule): Promise<PruneResult> {
  const found = new Found(true);
  for await (const session of prunable(log, manager, rule)) found.add(session);
  return found.result;
}

export async function prune(context: Context, rule: PruneRule, actor: Actor): Promise<PruneResult> {
  const found = new Found(false);
  for await (const session of removed(context, rule, actor)) {
    found.add(session);
    if (found.result.count < MAX_REMOVED) continue;
    found.result.has_more = true;
    break;
  }
  await context.log.erased();
  return found.result;
}

/** Each is gone for readers when it comes out here. */
export async function* removed({ log, manager, audit }: Context, rule: PruneRule, actor: Actor): AsyncGenerator<PrunedSession> {
  let portion = 0;
  for await (const session of prunable(log, manager, rule)) {
    log.assertWritable();
    // Somebody may have begun to use it since it was found.
    if (!(await manager.removeUnused(session.session_id))) continue;
    audit.record({ operation: "session.pruned", outcome: "done", status: 204, actor, session_id: session.session_id });
    yield session;
    portion++;
    if (portion % PORTION === 0) await log.erased();
  }
}

class Found {
  readonly result: PruneResult;

  constructor(dry_run: boolean) {
    const none = { count: 0, events: 0, native_messages: 0, oldest: null, newest: null };
    this.result = { dry_run, ...none, sessions: [], has_more: false };
  }

  /** They come the newest first. */
  add(session: PrunedSession): void {
    const { result } = this;
    result.count++;
    result.events += session.events;
    result.native_messages += session.native_messages;
    result.newest ??= session.updated_at;
    result.oldest = session.updated_at;
    if (result.sessions.length < MAX_LISTED) result.sessions.push(session);
  }
}
