// `create`, `set`, `rename`, `fork`: sessions made, changed and branched without a turn.
import type { UpdateSession } from "../../schema/session.ts";
import { type Command, EXIT, flag, type Invocation, list, need, text, UsageError } from "../command.ts";
import { configOf, configOptions, createOptions, sessionOf, trustOf, trustOptions } from "../session-options.ts";

export const create: Command = {
  name: "create",
  startsDaemon: true,
  usage: "create <agent>",
  about: "create a session and print its id; the agent starts with the first message",
  options: {
    ...createOptions,
    id: { type: "string", value: "<id>", about: "under this id (default: a new one)" },
  },
  completes: ["agents"],
  async run(call) {
    const agent = need(call.words, 0, "the agent");
    const id = text(call.values, "id");
    const daemon = await call.daemon();
    const session = await daemon.createSession({ agent, ...sessionOf(call), ...(id ? { session_id: id } : {}) });
    if (flag(call.values, "json")) call.json(await session.get());
    else call.print(session.id);
    return EXIT.ok;
  },
};

async function update(call: Invocation, change: UpdateSession): Promise<number> {
  const session = (await call.daemon()).session(need(call.words, 0, "the session"));
  const view = await session.update(change);
  if (flag(call.values, "json")) call.json(view);
  return EXIT.ok;
}

export const set: Command = {
  name: "set",
  usage: "set <session>",
  about: "change model, variant, mode, permission mode or trust of a session",
  options: { ...configOptions, ...trustOptions },
  completes: ["sessions"],
  async run(call) {
    const change = { ...configOf(call.values), ...trustOf(call.values) };
    if (Object.keys(change).length === 0) throw new UsageError("say what to change, for example --model");
    return update(call, change);
  },
};

export const file: Command = {
  name: "file",
  usage: "file <session>",
  about: "tag, pin or archive a session, also one that has ended",
  options: {
    tag: { type: "string", multiple: true, value: "<tag>", about: "add this tag; may be repeated" },
    untag: { type: "string", multiple: true, value: "<tag>", about: "take this tag away; may be repeated" },
    pin: { type: "boolean", about: "keep it at hand, and from retention" },
    unpin: { type: "boolean", about: "not any more" },
    archive: { type: "boolean", about: "put it away: lists leave it out" },
    unarchive: { type: "boolean", about: "bring it back" },
  },
  completes: ["sessions"],
  async run(call) {
    const { values } = call;
    for (const [one, other] of [
      ["pin", "unpin"],
      ["archive", "unarchive"],
    ] as const)
      if (flag(values, one) && flag(values, other)) throw new UsageError(`--${one} and --${other} cannot both be given`);
    const [added, removed] = [list(values, "tag"), list(values, "untag")];
    const session = (await call.daemon()).session(need(call.words, 0, "the session"));
    const tagged = added.length + removed.length > 0;
    const tags = tagged ? [...new Set([...(await session.get()).tags, ...added])].filter((tag) => !removed.includes(tag)) : null;
    const change: UpdateSession = {
      ...(tags ? { tags } : {}),
      ...(flag(values, "pin") || flag(values, "unpin") ? { pinned: flag(values, "pin") } : {}),
      ...(flag(values, "archive") || flag(values, "unarchive") ? { archived: flag(values, "archive") } : {}),
    };
    if (Object.keys(change).length === 0) throw new UsageError("say how to file it, for example --tag or --pin");
    return update(call, change);
  },
};

export const rename: Command = {
  name: "rename",
  usage: "rename <session> <title…>",
  about: "give a session another title",
  completes: ["sessions"],
  async run(call) {
    need(call.words, 1, "the title");
    return update(call, { title: call.words.slice(1).join(" ") });
  },
};

export const fork: Command = {
  name: "fork",
  usage: "fork <session>",
  about: "fork the conversation into a new session and print its id, if the agent supports it",
  options: {
    id: { type: "string", value: "<id>", about: "under this id (default: a new one)" },
    title: { type: "string", value: "<title>", about: "its title" },
    at: { type: "string", value: "<sequence>", about: "after this event, where the agent can (default: at the end)" },
  },
  completes: ["sessions"],
  async run(call) {
    const [id, title, at] = [text(call.values, "id"), text(call.values, "title"), text(call.values, "at")];
    if (at !== undefined && !/^[1-9]\d*$/.test(at)) throw new UsageError(`--at needs the sequence of an event, not ${at}`);
    const session = (await call.daemon()).session(need(call.words, 0, "the session"));
    const branch = await session.fork({
      ...(id ? { session_id: id } : {}),
      ...(title ? { title } : {}),
      ...(at ? { at: Number(at) } : {}),
    });
    if (flag(call.values, "json")) call.json(await branch.get());
    else call.print(branch.id);
    return EXIT.ok;
  },
};
