// `dragoman attach <session>`: the session live in this terminal. In a pipe each line of stdin is a message, and the answers go to stdout.
import type { SessionHandle } from "../../client/session-handle.ts";
import { canAsk } from "../ask.ts";
import { type Command, EXIT, flag, type Invocation, need, text, wholeNumber } from "../command.ts";
import { answersFor } from "../session-view.ts";
import { exitOf, oneTurn } from "./run.ts";

export const attach: Command = {
  name: "attach",
  usage: "attach <session>",
  about: "live view: read along, type prompts, answer permissions and questions",
  help: `  What was said so far comes first. Type a message and press Enter; while a turn runs it is queued.
  Alt-Enter, Ctrl-J or a backslash at the end begins a new line; a pasted text stays one message. /help lists the commands.
  Ctrl-C stops the running turn, twice leaves; Ctrl-D leaves and the session goes on.
  In a pipe every line of stdin is a message, answered before the next one is sent. Exit code as of \`run\`.`,
  options: {
    after: { type: "string", value: "<sequence>", about: "only what comes after this event" },
    steer: { type: "boolean", about: "put messages into the running turn" },
  },
  completes: ["sessions"],
  async run(call) {
    const dragoman = await call.daemon();
    const session = dragoman.session(need(call.words, 0, "the session"));
    if (!canAsk(call.terminal) || flag(call.values, "json")) return fromPipe(call, session);
    const { AttachView } = await import("../attach-view.ts");
    const options = { steer: flag(call.values, "steer"), answers: await answersFor(call.terminal) };
    const view = new AttachView(dragoman, session, call.terminal, options);
    return view.run(wholeNumber(text(call.values, "after"), "after", 0));
  },
};

async function fromPipe(call: Invocation, session: SessionHandle): Promise<number> {
  await session.get();
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: call.terminal.stdin })) {
    if (line.trim() === "") continue;
    const code = exitOf(await oneTurn(call, session, line), call.terminal);
    if (code !== EXIT.ok) return code;
  }
  return EXIT.ok;
}
