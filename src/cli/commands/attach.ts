// `dragoman attach <session>`: the session live in this terminal. In a pipe each line of stdin is a message, and the answers go to stdout.
import { createInterface } from "node:readline";
import type { SessionHandle } from "../../client/session-handle.ts";
import { canAsk } from "../ask.ts";
import { AttachView } from "../attach-view.ts";
import { type Command, EXIT, flag, type Invocation, need, text, wholeNumber } from "../command.ts";
import { exitOf, oneTurn } from "./run.ts";

export const attach: Command = {
  name: "attach",
  usage: "attach <session>",
  about: "live view: read along, type prompts, answer permissions and questions",
  help: `  What was said so far comes first. Type a message and press Enter; while a turn runs it is queued.
  Ctrl-C interrupts the running turn, Ctrl-D leaves and the session goes on.
  In a pipe every line of stdin is a message, answered before the next one is sent. Exit code as of \`run\`.`,
  options: {
    after: { type: "string", value: "<sequence>", about: "only what comes after this event" },
    steer: { type: "boolean", about: "put messages into the running turn" },
  },
  completes: ["sessions"],
  async run(call) {
    const session = (await call.daemon()).session(need(call.words, 0, "the session"));
    if (!canAsk(call.terminal) || flag(call.values, "json")) return fromPipe(call, session);
    const view = new AttachView(session, call.terminal, { steer: flag(call.values, "steer") });
    return view.run(wholeNumber(text(call.values, "after"), "after", 0));
  },
};

async function fromPipe(call: Invocation, session: SessionHandle): Promise<number> {
  await session.get();
  for await (const line of createInterface({ input: call.terminal.stdin })) {
    if (line.trim() === "") continue;
    const code = exitOf(await oneTurn(call, session, line), call.terminal);
    if (code !== EXIT.ok) return code;
  }
  return EXIT.ok;
}
