// `ls`, `show`, `pending`: which sessions there are, what one is, what waits for a person.
import type { Dragoman, ListOptions } from "../../client/dragoman.ts";
import type { Session, SessionState } from "../../schema/session.ts";
import { type Command, EXIT, flag, type Invocation, need, text, UsageError, type Values, wholeNumber } from "../command.ts";
import { sessionFacts } from "../facts.ts";
import { LiveArea } from "../live-area.ts";
import { nodeFilterOf, nodeOptions } from "../node-filter.ts";
import { exactLine } from "../output.ts";
import { statusWord } from "../status-word.ts";
import { ago, paintFor, table } from "../style.ts";
import { columnsOf } from "../text-layout.ts";

/** How soon after an event, and at least how often, a watched list is read again. */
const SOON_MS = 300;
const WATCH_MS = 5_000;

const STATES: readonly SessionState[] = ["starting", "idle", "running", "waiting", "dormant", "ended"];

export const ls: Command = {
  name: "ls",
  usage: "ls",
  about: "list the sessions that have not ended, the most recently active first",
  help: `  -a lists all: also ended and archived ones. --status ended lists the ended ones.
  With --watch the list stays on the screen and follows what happens, until Ctrl-C.`,
  options: {
    agent: { type: "string", value: "<agent>", about: "only of this agent" },
    status: { type: "string", value: "<status>", about: `${STATES.slice(0, -1).join(", ")} or ${STATES.at(-1)}` },
    directory: { type: "string", short: "C", value: "<dir>", about: "only those that work there" },
    tag: { type: "string", value: "<tag>", about: "only those with this tag" },
    pinned: { type: "boolean", about: "only pinned ones" },
    archived: { type: "boolean", about: "only archived ones" },
    all: { type: "boolean", short: "a", about: "also ended and archived ones" },
    ...nodeOptions,
    watch: { type: "boolean", short: "w", about: "keep the list on the screen and up to date" },
    order: {
      type: "string",
      value: "<order>",
      about: "updated (default): the most recently active first; created: the newest first",
    },
    search: { type: "string", value: "<text>", about: "in title, id, directory and agent" },
    limit: { type: "string", value: "<n>", about: "at most so many (default 50)" },
    before: { type: "string", value: "<cursor>", about: "the next page: the cursor that the page before printed on stderr" },
  },
  async run(call) {
    const { values, daemon, json, print, say, table } = call;
    const dragoman = await daemon();
    const filter = filterOf(values);
    if (flag(values, "watch")) return watch(call, dragoman, filter);
    const { sessions, unreadable, next } = await dragoman.sessions(filter);
    if (flag(values, "json")) for (const session of sessions) json(session);
    else if (sessions.length === 0) print(nothing(values));
    else table(...columns(sessions), DROP);
    if (next !== null) say(`More: --before ${next}`);
    if (unreadable.length > 0) say(`${unreadable.length} more cannot be read; \`dragoman doctor\` names them.`);
    return EXIT.ok;
  },
};

const HEAD = ["SESSION", "AGENT", "STATUS", "AGE", "EVENTS", "TITLE", "DIRECTORY"];
const DROP = ["EVENTS", "DIRECTORY", "AGE", "AGENT", "NODE"];

const nothing = (values: Values): string =>
  flag(values, "all") || text(values, "status")
    ? "No sessions. Start one with: dragoman run mock help --keep"
    : "No session is open. `dragoman ls -a` lists all; start one with: dragoman run mock help --keep";

const row = (each: Session): string[] => [
  each.session_id,
  each.agent,
  statusWord(each),
  ago(each.updated_at),
  String(each.last_sequence),
  each.title ?? "",
  each.directory,
];

/** In a fleet also the node of each; one that nobody can go on with waits for a node. */
function columns(sessions: readonly Session[]): [head: string[], rows: string[][]] {
  if (sessions.every(({ node }) => node === undefined)) return [HEAD, sessions.map(row)];
  const nodeOf = ({ node, home }: Session): string => node ?? (home === undefined ? "" : `waits for ${home}`);
  return [[...HEAD, "NODE"], sessions.map((each) => [...row(each), nodeOf(each)])];
}

/** The list again after whatever happens, in the same place, until Ctrl-C. */
async function watch({ terminal }: Invocation, dragoman: Dragoman, filter: ListOptions): Promise<number> {
  const { stdout, env, signal } = terminal;
  if (!stdout.isTTY) throw new UsageError("--watch needs a terminal; `dragoman events` follows what happens as JSON");
  const area = new LiveArea(stdout.device);
  const paint = paintFor(stdout, env);
  const draw = async (): Promise<void> => {
    const { sessions } = await dragoman.sessions(filter);
    const layout = { columns: columnsOf(stdout, env) - 1, drop: DROP };
    const text = sessions.length === 0 ? "No session is open." : table(...columns(sessions), paint, layout);
    area.draw(() => {}, [...text.split("\n"), paint.dim("Ctrl-C ends")]);
  };
  // Also without events: ages grow.
  const clock = setInterval(() => void draw().catch(() => {}), WATCH_MS);
  try {
    await draw();
    let due = 0;
    for await (const _ of dragoman.events({ signal, kinds: ["session"] })) {
      if (Date.now() < due) continue;
      due = Date.now() + SOON_MS;
      setTimeout(() => void draw().catch(() => {}), SOON_MS).unref();
    }
  } finally {
    clearInterval(clock);
  }
  return EXIT.ok;
}

function filterOf(values: Values): ListOptions {
  const [agent, status, directory] = [text(values, "agent"), text(values, "status"), text(values, "directory")];
  const [search, before] = [text(values, "search"), text(values, "before")];
  const tag = text(values, "tag");
  const all = flag(values, "all");
  const archived = all ? "include" : flag(values, "archived") ? "only" : undefined;
  // Who asks for those that were put away, or for a state, means the ended ones too.
  const living = !all && archived === undefined && status === undefined;
  const order = text(values, "order") ?? "updated";
  if (order !== "created" && order !== "updated") throw new UsageError("--order is created or updated");
  if (status !== undefined && !isState(status)) throw new UsageError(`--status is one of ${STATES.join(", ")}`);
  return {
    limit: wholeNumber(text(values, "limit"), "limit", 50),
    ...(agent ? { agent } : {}),
    ...(status ? { status } : {}),
    ...(directory ? { directory } : {}),
    ...(tag ? { tag } : {}),
    ...(archived ? { archived } : {}),
    ...(flag(values, "pinned") ? { pinned: true } : {}),
    order,
    ...(living ? { ended: "exclude" as const } : {}),
    ...(search ? { search } : {}),
    ...nodeFilterOf(values),
    ...(before ? { before } : {}),
  };
}

const isState = (status: string): status is SessionState => (STATES as readonly string[]).includes(status);

export const show: Command = {
  name: "show",
  usage: "show <session>",
  about: "show a session, what it waits for and which files of its directory its agent loads; --json for programs",
  completes: ["sessions"],
  async run({ words, daemon, details }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    const [view, open_requests, { files }] = await Promise.all([session.get(), session.pending(), session.directorySettings()]);
    details({ ...view, open_requests, directory_files: files }, () =>
      sessionFacts(
        view,
        [...open_requests.permissions.map(({ action }) => action), ...open_requests.questions.map(({ prompt }) => prompt)],
        files.map(({ path }) => path),
      ),
    );
    return EXIT.ok;
  },
};

export const pending: Command = {
  name: "pending",
  usage: "pending [<session>]",
  about: "list open permissions and questions, of one session or of all",
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
