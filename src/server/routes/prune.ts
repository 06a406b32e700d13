// Removing old sessions at once: what would go, and the removal.
import { reaches } from "../../schema/actor.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { ageMs, PruneResult, PruneSessions } from "../../schema/prune.ts";
import type { PruneRule } from "../../session/pruning.ts";
import { planPrune, prune } from "../prune.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";

/** With a lower age, and none kept, hardly a session would be left. */
const MODEST_AGE_MS = 24 * 60 * 60_000;

export function pruneRoutes(app: App, context: ServerContext): void {
  app.post(
    "/v1/sessions/prune",
    {
      schema: { body: PruneSessions },
      config: {
        tag: "sessions",
        reach: "filtered",
        operation: "pruneSessions",
        summary: "Remove old sessions, or say which would be removed.",
        description:
          "Never removed: a session with a process, with something open or a message that waits, one that is pinned (`metadata.pinned`) or tagged, and one that cannot be read. Each removal is in the audit record. One request removes at most 200; `has_more` says that there are others. Without `keep`, `agent` and `directory`, and with an age below a day, it needs role admin: it removes almost everything.",
        replies: { 200: PruneResult },
        problems: ["disk_full"],
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { older_than, keep = 0, agent, directory, dry_run = false } = request.body;
      const age = ageMs(older_than);
      const all = keep === 0 && age < MODEST_AGE_MS && agent === undefined && directory === undefined;
      if (all && !dry_run && !reaches(caller.role, "admin"))
        throw new ProblemError(
          "forbidden",
          "This would remove almost all sessions and needs a token of role admin. Give keep, agent or directory, or an age of at least 1d.",
        );
      const before = Date.now() - age;
      const rule: PruneRule = {
        endedBefore: before,
        restingBefore: before,
        keep,
        ...(agent === undefined ? {} : { agent }),
        ...(directory === undefined ? {} : { directory }),
        only: (id) => context.access.sees(caller, id),
      };
      return dry_run ? planPrune(context, rule) : prune(context, rule, caller.actor);
    },
  );
}
