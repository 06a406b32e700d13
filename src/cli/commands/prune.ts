/** `dragoman prune`: removes old sessions, after it has shown which. */
import { resolve } from "node:path";
import type { PruneResult, PruneSessions } from "../../schema/prune.ts";
import { askYes, canAsk } from "../ask.ts";
import { type Command, EXIT, flag, type Invocation, text, UsageError, wholeNumber } from "../command.ts";
import { exactLine } from "../output.ts";
import { ago, paintFor, table } from "../style.ts";
import { tableColumns } from "../text-layout.ts";

const SHOWN = 10;

export const prune: Command = {
  name: "prune",
  usage: "prune --older-than <age>",
  about: "remove old sessions; lists them first and asks",
  help: `  Always kept: sessions with a running agent, with something open or a message that waits, pinned or tagged ones (\`dragoman file\`).
  Without a terminal nothing is removed unless --yes is given. With --json and without --yes, prints what would go, one session a line.`,
  options: {
    "older-than": { type: "string", value: "<age>", about: "age of the last event: 30m, 12h, 30d, 8w" },
    keep: { type: "string", value: "<n>", about: "keep so many of the newest in any case (default 0)" },
    agent: { type: "string", value: "<agent>", about: "only of this agent" },
    directory: { type: "string", short: "C", value: "<dir>", about: "only those that work there" },
    yes: { type: "boolean", short: "y", about: "do not ask" },
  },
  async run(call) {
    const { values, terminal, daemon, json, print, say } = call;
    const request = requestOf(call);
    const client = await daemon();
    const plan = await client.pruneSessions({ ...request, dry_run: true });
    const yes = flag(values, "yes");
    if (flag(values, "json") && !yes) {
      for (const session of plan.sessions) json(session);
      return EXIT.ok;
    }
    if (!flag(values, "json")) print(planText(plan, call));
    if (plan.count === 0) return finished(call, 0);
    if (!yes) {
      if (!canAsk(terminal)) {
        say("Nothing was removed. Add --yes to remove them.");
        return EXIT.waiting;
      }
      if (!(await askYes(terminal, `Remove ${counted(plan.count, "session")}?`))) {
        say("Nothing was removed.");
        return EXIT.ok;
      }
    }
    let removed = 0;
    for (let more = true; more; ) {
      const result = await client.pruneSessions(request, terminal.signal);
      removed += result.count;
      more = result.has_more;
    }
    return finished(call, removed);
  },
};

function requestOf({ values, terminal }: Invocation): PruneSessions {
  const older_than = text(values, "older-than");
  if (older_than === undefined) throw new UsageError("--older-than is missing, such as --older-than 30d");
  if (!/^[0-9]{1,5}[mhdw]$/.test(older_than))
    throw new UsageError(`--older-than needs a whole number and m, h, d or w, such as 30d, not ${older_than}`);
  const [agent, directory] = [text(values, "agent"), text(values, "directory")];
  return {
    older_than,
    keep: wholeNumber(text(values, "keep"), "keep", 0),
    ...(agent === undefined ? {} : { agent }),
    ...(directory === undefined ? {} : { directory: resolve(terminal.cwd, directory) }),
  };
}

function finished({ values, json, print }: Invocation, removed: number): number {
  if (flag(values, "json")) json({ removed });
  else if (removed > 0) print(`Removed ${counted(removed, "session")}.`);
  return EXIT.ok;
}

function planText({ count, events, native_messages, oldest, newest, sessions }: PruneResult, { terminal }: Invocation): string {
  if (count === 0) return "No session is that old.";
  const rows = sessions
    .slice(0, SHOWN)
    .map((each) => [
      each.session_id,
      each.agent,
      each.status,
      ago(each.updated_at),
      String(each.events),
      each.title ?? "",
      each.directory,
    ]);
  const head = ["SESSION", "AGENT", "STATUS", "LAST", "EVENTS", "TITLE", "DIRECTORY"];
  const rest = count > SHOWN ? `\n… and ${count - SHOWN} more; --json lists them.` : "";
  const summary = `${counted(count, "session")} with ${counted(events, "event")} and ${counted(native_messages, "native message")}; last used between ${exactLine(oldest ?? "")} and ${exactLine(newest ?? "")}.`;
  return `${table(head, rows, paintFor(terminal.stdout, terminal.env), { columns: tableColumns(terminal.stdout, terminal.env), drop: ["EVENTS", "DIRECTORY"] })}${rest}\n${summary}`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
