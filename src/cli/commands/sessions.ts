// Commands about sessions: list, look, follow, speak, answer, stop, remove.
import { type Command, EXIT, flag, type Invocation, need, text, UsageError } from "../command.ts";
import { EventPrinter } from "../event-printer.ts";
import { ago, paintFor, table } from "../style.ts";
import { promptOf } from "./run.ts";

const whole = (value: string | undefined, name: string, fallback: number): number => {
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) throw new UsageError(`--${name} needs a whole number, not ${value}`);
  return number;
};

const ls: Command = {
  name: "ls",
  usage: "ls [--agent <agent>] [--status <status>]",
  about: "list sessions, the newest first",
  options: {
    agent: { type: "string", value: "<agent>", about: "only of this agent" },
    status: { type: "string", value: "<status>", about: "starting, idle, running, waiting, dormant or ended" },
    limit: { type: "string", value: "<n>", about: "at most so many (default 50)" },
  },
  async run({ values, daemon, json, print, terminal }) {
    const agent = text(values, "agent");
    const status = text(values, "status");
    const { sessions } = await (await daemon()).sessions({
      limit: whole(text(values, "limit"), "limit", 50),
      ...(agent ? { agent } : {}),
      ...(status ? { status: status as never } : {}),
    });
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
      print(
        table(
          ["SESSION", "AGENT", "STATUS", "AGE", "EVENTS", "TITLE", "DIRECTORY"],
          rows,
          paintFor(terminal.stdout, terminal.env),
        ),
      );
    }
    return EXIT.ok;
  },
};

const show: Command = {
  name: "show",
  usage: "show <session>",
  about: "show a session and what it waits for",
  completes: ["sessions"],
  async run({ words, daemon, json }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    json({ ...(await session.get()), open_requests: await session.pending() });
    return EXIT.ok;
  },
};

const send: Command = {
  name: "send",
  usage: "send <session> <message…>",
  about: "send a message without waiting for the answer",
  options: {
    steer: { type: "boolean", about: "put it into the running turn" },
    reject: { type: "boolean", about: "refuse it when a turn is running" },
  },
  completes: ["sessions"],
  async run({ words, values, daemon, json, print, terminal }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    const when_busy = flag(values, "steer") ? "steer" : flag(values, "reject") ? "reject" : "queue";
    const accepted = await session.send(await promptOf(words.slice(1), terminal), { when_busy });
    if (flag(values, "json")) json(accepted);
    else print(`${accepted.turn_id}${accepted.queued ? " (queued)" : ""}`);
    return EXIT.ok;
  },
};

async function follow({ words, values, daemon, json, terminal }: Invocation, live: boolean): Promise<number> {
  const session = (await daemon()).session(need(words, 0, "the session"));
  const printer = new EventPrinter(terminal);
  const show = (event: Parameters<EventPrinter["print"]>[0]): void => (flag(values, "json") ? json(event) : printer.print(event));
  let after = whole(text(values, "after"), "after", 0);
  const includeRaw = flag(values, "raw");
  if (live) for await (const event of session.events({ after, includeRaw, signal: terminal.signal })) show(event);
  else
    for (;;) {
      const page = await session.page({ after, limit: 1000, includeRaw });
      for (const event of page.events) show(event);
      const last = page.events.at(-1);
      if (!page.has_more || !last) break;
      after = last.sequence;
    }
  printer.endLine();
  return EXIT.ok;
}

const logs: Command = {
  name: "logs",
  usage: "logs <session> [-f] [--after <n>]",
  about: "print the transcript, or with --json the events",
  options: {
    follow: { type: "boolean", short: "f", about: "go on with what comes" },
    after: { type: "string", value: "<sequence>", about: "only events after this one" },
    raw: { type: "boolean", about: "with the agent's own messages (with --json)" },
  },
  completes: ["sessions"],
  run: (call) => follow(call, flag(call.values, "follow")),
};

const wait: Command = {
  name: "wait",
  usage: "wait <session>",
  about: "wait until the session is idle, waits for a person, or has ended",
  help: "  Exit code: 0 idle or ended well, 1 ended with an error, 5 it waits for a person.",
  completes: ["sessions"],
  async run({ words, daemon, json, values, print, terminal }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    let view = await session.get();
    if (view.status === "running" || view.status === "starting" || view.queued > 0)
      for await (const event of session.events({
        after: view.last_sequence,
        types: ["session.status", "session.ended"],
        signal: terminal.signal,
      })) {
        if (event.type === "session.ended") break;
        if (
          event.type === "session.status" &&
          ["idle", "waiting", "dormant"].includes(event.data.status) &&
          (await session.get()).queued === 0
        )
          break;
      }
    view = await session.get();
    if (flag(values, "json")) json(view);
    else print(view.status);
    if (view.status === "waiting") return EXIT.waiting;
    return view.ended?.reason === "error" ? EXIT.failed : EXIT.ok;
  },
};

/** The one open request of a session, or the named one. */
async function openRequest({ words, daemon }: Invocation, kind: "permissions" | "questions") {
  const session = (await daemon()).session(need(words, 0, "the session"));
  const open: { id: string }[] = (await session.pending())[kind].map((each) => ({
    id: "permission_id" in each ? each.permission_id : each.question_id,
  }));
  const named = words[1];
  const id = named ?? (open.length === 1 ? open[0]?.id : undefined);
  if (id === undefined)
    throw new UsageError(
      open.length === 0
        ? `the session has no open ${kind}`
        : `several are open: name one of ${open.map((each) => each.id).join(", ")}`,
    );
  return { session, id };
}

const allow: Command = {
  name: "allow",
  usage: "allow <session> [<permission>]",
  about: "allow what the agent asks",
  options: { always: { type: "boolean", about: "from now on" } },
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await openRequest(call, "permissions");
    await session.replyPermission(id, { reply: flag(call.values, "always") ? "always" : "once" });
    return EXIT.ok;
  },
};

const deny: Command = {
  name: "deny",
  usage: "deny <session> [<permission>]",
  about: "deny what the agent asks",
  options: { message: { type: "string", short: "m", value: "<text>", about: "tell the agent why" } },
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await openRequest(call, "permissions");
    const message = text(call.values, "message");
    await session.replyPermission(id, { reply: "reject", ...(message ? { message } : {}) });
    return EXIT.ok;
  },
};

const answer: Command = {
  name: "answer",
  usage: "answer <session> [<question>] --with <answer> …",
  about: "answer the agent's questions, one --with for each",
  options: {
    with: {
      type: "string",
      short: "w",
      multiple: true,
      value: "<answer>",
      about: "an answer; several of one question with commas",
    },
    reject: { type: "boolean", about: "decline to answer" },
  },
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await openRequest(call, "questions");
    const answers = call.values.with;
    if (flag(call.values, "reject")) await session.rejectQuestion(id);
    else if (!Array.isArray(answers)) throw new UsageError("give --with once for each question, or --reject");
    else
      await session.replyQuestion(
        id,
        answers.map((each) =>
          String(each)
            .split(",")
            .map((part) => part.trim()),
        ),
      );
    return EXIT.ok;
  },
};

const interrupt: Command = {
  name: "interrupt",
  usage: "interrupt <session>",
  about: "stop the running turn; the session goes on",
  completes: ["sessions"],
  async run({ words, daemon }) {
    await (await daemon()).session(need(words, 0, "the session")).interrupt();
    return EXIT.ok;
  },
};

const stop: Command = {
  name: "stop",
  usage: "stop <session>…",
  about: "end sessions; what they said stays in the log",
  completes: ["sessions"],
  async run({ words, daemon }) {
    need(words, 0, "the session");
    for (const id of words) await (await daemon()).session(id).terminate();
    return EXIT.ok;
  },
};

const rm: Command = {
  name: "rm",
  usage: "rm <session>…",
  about: "end sessions and remove them from the log",
  completes: ["sessions"],
  async run({ words, daemon }) {
    need(words, 0, "the session");
    for (const id of words) await (await daemon()).session(id).remove();
    return EXIT.ok;
  },
};

export const sessionCommands: Command[] = [ls, show, send, logs, wait, allow, deny, answer, interrupt, stop, rm];

/** `dragoman sessions …`: the same under the API's own words. */
export const sessionAliases: Record<string, Command> = {
  ls,
  show,
  send,
  events: {
    ...logs,
    name: "sessions events",
    usage: "sessions events <session>",
    run: (call) => follow({ ...call, values: { ...call.values, json: true } }, flag(call.values, "follow")),
  },
  interrupt,
  terminate: stop,
  rm,
};
