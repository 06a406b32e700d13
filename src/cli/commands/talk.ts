// `send`, `logs`, `events`, `wait`: speaking to a session and following what comes of it.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { UniversalEvent } from "../../schema/event.ts";
import { type Command, EXIT, flag, type Invocation, list, need, text, wholeNumber } from "../command.ts";
import { EventPrinter } from "../event-printer.ts";
import { nodeFilterOf, nodeOptions } from "../node-filter.ts";
import { answersFor } from "../session-view.ts";
import { promptOf } from "./run.ts";

export const send: Command = {
  name: "send",
  usage: "send <session> <message…>",
  about: "send a message without waiting for the answer",
  options: {
    attach: { type: "string", short: "a", multiple: true, value: "<file>", about: "a file to go with it; may be repeated" },
    command: { type: "boolean", about: "it is one of the agent's own commands: /name with its arguments" },
    steer: { type: "boolean", about: "put it into the running turn" },
    reject: { type: "boolean", about: "refuse it when a turn is running" },
    key: { type: "string", value: "<key>", about: "idempotency key: sent again, it starts no second turn" },
  },
  completes: ["sessions"],
  async run({ words, values, daemon, json, print, terminal }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    const when_busy = flag(values, "steer") ? "steer" : flag(values, "reject") ? "reject" : "queue";
    const attachments = list(values, "attach").map((file) => ({
      data: readFileSync(file).toString("base64"),
      mime: mimeOf(file),
      name: basename(file),
    }));
    const key = text(values, "key");
    const accepted = await session.send(await promptOf(words.slice(1), terminal), {
      when_busy,
      command: flag(values, "command"),
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(key ? { idempotencyKey: key } : {}),
    });
    if (flag(values, "json")) json(accepted);
    else print(`${accepted.turn_id}${accepted.queued ? " (queued)" : ""}`);
    return EXIT.ok;
  },
};

const MIMES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  json: "application/json",
};

const mimeOf = (file: string): string => MIMES[file.split(".").at(-1)?.toLowerCase() ?? ""] ?? "text/plain";

async function follow({ words, values, daemon, json, terminal }: Invocation, live: boolean): Promise<number> {
  const session = (await daemon()).session(need(words, 0, "the session"));
  // The transcript is the answer of this command: all of it goes to stdout.
  const { stdout, env } = terminal;
  const answers = await answersFor(terminal);
  const printer = new EventPrinter(
    { stdout, stderr: stdout, env },
    { showUser: () => true, showRequests: true, ...(answers ? { answers } : {}) },
  );
  const show = async (event: UniversalEvent): Promise<void> => {
    if (flag(values, "json")) json(event);
    else printer.print(event);
    await stdout.drained();
  };
  let after = wholeNumber(text(values, "after"), "after", 0);
  const includeRaw = flag(values, "raw");
  if (live) for await (const event of session.events({ after, includeRaw, signal: terminal.signal })) await show(event);
  else
    while (!terminal.signal.aborted) {
      const page = await session.page({ after, limit: 1000, includeRaw });
      for (const event of page.events) await show(event);
      const last = page.events.at(-1);
      if (!page.has_more || !last) break;
      after = last.sequence;
    }
  printer.endLine();
  return EXIT.ok;
}

export const logs: Command = {
  name: "logs",
  usage: "logs <session>",
  about: "print the transcript, or with --json the events",
  options: {
    follow: { type: "boolean", short: "f", about: "go on with what comes" },
    after: { type: "string", value: "<sequence>", about: "only events after this one" },
    raw: { type: "boolean", about: "with the agent's own messages (with --json)" },
  },
  completes: ["sessions"],
  run: (call) => follow(call, flag(call.values, "follow")),
};

/** `dragoman sessions events`: the same, always as JSON. */
export const sessionEvents: Command = {
  ...logs,
  name: "sessions events",
  usage: "sessions events <session>",
  run: (call) => follow({ ...call, values: { ...call.values, json: true } }, flag(call.values, "follow")),
};

export const events: Command = {
  name: "events",
  usage: "events",
  about: "follow the events of all sessions as JSON, one a line",
  options: {
    after: { type: "string", value: "<cursor>", about: "go on after this cursor (default: from now on)" },
    type: { type: "string", short: "t", multiple: true, value: "<type>", about: "only of this type; may be repeated" },
    ...nodeOptions,
  },
  async run({ values, daemon, json, terminal }) {
    const after = text(values, "after");
    const types = list(values, "type");
    const wanted = { kinds: ["session"] as const, ...nodeFilterOf(values), ...(after ? { after } : {}) };
    const stream = (await daemon()).events({ signal: terminal.signal, ...wanted });
    for await (const { cursor, event } of stream) if (types.length === 0 || types.includes(event.type)) json({ cursor, event });
    return EXIT.ok;
  },
};

export const wait: Command = {
  name: "wait",
  usage: "wait <session>",
  about: "wait until the session is idle, waits for a person, or has ended",
  help: "  Exit code: 0 idle or ended well, 1 ended with an error, 5 it waits for a person.",
  completes: ["sessions"],
  async run({ words, daemon, json, values, print, terminal }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    let view = await session.get();
    // A queued message may itself wait for a person: whether its directory is trusted.
    const works = view.status === "running" || view.status === "starting" || view.queued > 0;
    if (works && view.status !== "waiting")
      for await (const event of session.events({
        after: view.last_sequence,
        types: ["session.status", "session.ended"],
        signal: terminal.signal,
      })) {
        if (event.type === "session.ended") break;
        if (event.type !== "session.status" || !["idle", "waiting", "dormant"].includes(event.data.status)) continue;
        if (event.data.status === "waiting" || (await session.get()).queued === 0) break;
      }
    if (terminal.signal.aborted) return EXIT.interrupted;
    view = await session.get();
    if (flag(values, "json")) json(view);
    else print(view.status);
    if (view.status === "waiting") return EXIT.waiting;
    return view.ended?.reason === "error" ? EXIT.failed : EXIT.ok;
  },
};
