// `ls`, `show`, `pending`: which sessions there are, what one is, what waits for a person.
import type { ListOptions } from "../../client/dragoman.ts";
import type { SessionState } from "../../schema/session.ts";
import { type Command, EXIT, flag, need, text, UsageError, type Values, wholeNumber } from "../command.ts";
import { exactLine } from "../output.ts";
import { ago, paintFor, table } from "../style.ts";

const STATES: readonly SessionState[] = ["starting", "idle", "running", "waiting", "dormant", "ended"];

export const ls: Command = {
  name: "ls",
  usage: "ls",
  about: "list sessions, the newest first",
  options: {
    agent: { type: "string", value: "<agent>", about: "only of this agent" },
    status: { type: "string", value: "<status>", about: `${STATES.slice(0, -1).join(", ")} or ${STATES.at(-1)}` },
    directory: { type: "string", short: "C", value: "<dir>", about: "only those that work there" },
    tag: { type: "string", value: "<tag>", about: "only those with this tag" },
    pinned: { type: "boolean", about: "only pinned ones" },
    archived: { type: "boolean", about: "only those that were put away" },
    all: { type: "boolean", short: "a", about: "also those that were put away" },
    order: { type: "string", value: "<order>", about: "created (default) or updated: the last written first" },
    search: { type: "string", value: "<text>", about: "in title, id, directory and agent" },
    limit: { type: "string", value: "<n>", about: "at most so many (default 50)" },
    before: { type: "string", value: "<cursor>", about: "the next page: `next` of the one before, said on stderr" },
  },
  async run({ values, daemon, json, print, say, terminal }) {
    const { sessions, unreadable, next } = await (await daemon()).sessions(filterOf(values));
    if (flag(values, "json")) for (const session of sessions) json(session);
    else if (sessions.length === 0) print("No sessions. Start one with: dragoman run mock help --keep");
    else {
      const rows = sessions.map((each) => [
        each.session_id,
        each.agent,
        each.pending.permissions + each.pending.questions > 0 ? "waiting for you" : each.status,
        ago(each.created_at),
        String(each.last_sequence),
        each.title ?? "",
        each.directory,
      ]);
      const head = ["SESSION", "AGENT", "STATUS", "AGE", "EVENTS", "TITLE", "DIRECTORY"];
      print(table(head, rows, paintFor(terminal.stdout, terminal.env)));
    }
    if (next !== null) say(`More: --before ${next}`);
    if (unreadable.length > 0) say(`${unreadable.length} more cannot be read; \`dragoman doctor\` names them.`);
    return EXIT.ok;
  },
};

function filterOf(values: Values): ListOptions {
  const [agent, status, directory] = [text(values, "agent"), text(values, "status"), text(values, "directory")];
  const [search, before] = [text(values, "search"), text(values, "before")];
  const tag = text(values, "tag");
  const archived = flag(values, "all") ? "include" : flag(values, "archived") ? "only" : undefined;
  const order = text(values, "order");
  if (order !== undefined && order !== "created" && order !== "updated") throw new UsageError("--order is created or updated");
  if (status !== undefined && !isState(status)) throw new UsageError(`--status is one of ${STATES.join(", ")}`);
  return {
    limit: wholeNumber(text(values, "limit"), "limit", 50),
    ...(agent ? { agent } : {}),
    ...(status ? { status } : {}),
    ...(directory ? { directory } : {}),
    ...(tag ? { tag } : {}),
    ...(archived ? { archived } : {}),
    ...(flag(values, "pinned") ? { pinned: true } : {}),
    ...(order ? { order } : {}),
    ...(search ? { search } : {}),
    ...(before ? { before } : {}),
  };
}

const isState = (status: string): status is SessionState => (STATES as readonly string[]).includes(status);

export const show: Command = {
  name: "show",
  usage: "show <session>",
  about: "show a session, what it waits for and which files of its directory its agent loads, as JSON",
  completes: ["sessions"],
  async run({ words, daemon, json }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    const [view, open_requests, { files }] = await Promise.all([session.get(), session.pending(), session.directorySettings()]);
    json({ ...view, open_requests, directory_files: files });
    return EXIT.ok;
  },
};

export const pending: Command = {
  name: "pending",
  usage: "pending [<session>]",
  about: "what waits for a person, of one session or of all",
  help: "  Exit code: 0 nothing waits, 5 something does.",
  completes: ["sessions"],
  async run({ words, values, daemon, json, print }) {
    const dragoman = await daemon();
    const ids = words[0] !== undefined ? [words[0]] : await waiting(dragoman);
    let open = 0;
    for (const session_id of ids) {
      const { permissions, questions } = await dragoman.session(session_id).pending();
      const requests = [
        ...permissions.map((each) => ({ kind: "permission", id: each.permission_id, asks: each.action, request: each })),
        ...questions.map((each) => ({ kind: "question", id: each.question_id, asks: each.prompt, request: each })),
      ];
      open += requests.length;
      for (const { kind, id, asks, request } of requests)
        if (flag(values, "json")) json({ session_id, kind, id, request });
        else print(`${session_id}  ${kind} ${id}  ${exactLine(asks)}`);
    }
    return open > 0 ? EXIT.waiting : EXIT.ok;
  },
};

async function waiting(dragoman: Awaited<ReturnType<Parameters<Command["run"]>[0]["daemon"]>>): Promise<string[]> {
  const found: string[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await dragoman.sessions({ limit: 500, ...(before ? { before } : {}) });
    for (const each of page.sessions) if (each.pending.permissions + each.pending.questions > 0) found.push(each.session_id);
    before = page.next;
  }
  return found;
}
