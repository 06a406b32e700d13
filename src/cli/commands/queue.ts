// `queue`: the messages that wait for their turn, and what can be done with them while they wait.
import type { SessionHandle } from "../../client/session-handle.ts";
import { type Command, done, EXIT, flag, type Invocation, need, UsageError, wholeNumber } from "../command.ts";
import { exactLine } from "../output.ts";
import { ago } from "../style.ts";

/** A message is named by its id, the beginning of it, or its place in the queue. */
async function messageOf({ words, daemon }: Invocation): Promise<{ session: SessionHandle; id: string }> {
  const session = (await daemon()).session(need(words, 0, "the session"));
  const name = need(words, 1, "the message");
  const { messages } = await session.queue();
  const at = /^[0-9]{1,4}$/.test(name) ? messages[Number(name)] : undefined;
  const found = at ? [at] : messages.filter(({ message_id }) => message_id.startsWith(name));
  if (found.length > 1)
    throw new UsageError(`several messages begin with ${name}: ${found.map((each) => each.message_id).join(", ")}`);
  // Unknown here may only be too late: the daemon says which.
  return { session, id: found[0]?.message_id ?? name };
}

export const queue: Command = {
  name: "queue",
  usage: "queue <session>",
  about: "list the queued messages, the next one first",
  completes: ["sessions"],
  async run({ words, values, daemon, json, table, print }) {
    const { messages } = await (await daemon()).session(need(words, 0, "the session")).queue();
    if (flag(values, "json")) for (const message of messages) json(message);
    else if (messages.length === 0) print("No messages wait.");
    else {
      const rows = messages.map(({ message_id, text, queued_at }, index) => [
        String(index),
        message_id,
        ago(queued_at),
        exactLine(text),
      ]);
      table(["PLACE", "MESSAGE", "AGE", "TEXT"], rows);
    }
    return EXIT.ok;
  },
};

export const queueEdit: Command = {
  name: "queue edit",
  usage: "queue edit <session> <message> <text…>",
  about: "edit a queued message",
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await messageOf(call);
    const text = need([call.words.slice(2).join(" ")], 0, "the text");
    return done(call, await session.updateQueued(id, { text }));
  },
};

export const queueMove: Command = {
  name: "queue move",
  usage: "queue move <session> <message> <place>",
  about: "move a queued message; 0 is delivered next",
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await messageOf(call);
    const position = wholeNumber(need(call.words, 2, "the place"), "place", 0);
    return done(call, await session.updateQueued(id, { position }));
  },
};

export const queueRemove: Command = {
  name: "queue rm",
  usage: "queue rm <session> <message>",
  about: "remove a message from the queue; it is never delivered",
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await messageOf(call);
    await session.removeQueued(id);
    return done(call, { removed: id });
  },
};

export const queueSend: Command = {
  name: "queue send",
  usage: "queue send <session> <message>",
  about: "send a queued message now, into the running turn, if the agent supports it",
  completes: ["sessions"],
  async run(call) {
    const { session, id } = await messageOf(call);
    return done(call, await session.sendQueued(id));
  },
};
