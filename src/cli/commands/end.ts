// `interrupt`, `resume`, `stop`, `rm`: the turn, the agent, the session, and all it left behind.
import type { SessionHandle } from "../../client/session-handle.ts";
import { stopInBackground } from "../background-daemon.ts";
import { type Command, done, EXIT, flag, type Invocation, need, text, UsageError } from "../command.ts";
import { dataDirOf } from "./start.ts";

async function each(call: Invocation, state: string, act: (session: SessionHandle) => Promise<unknown>): Promise<number> {
  need(call.words, 0, "the session");
  const daemon = await call.daemon();
  for (const session_id of call.words) {
    await act(daemon.session(session_id));
    done(call, { session_id, [state]: true });
  }
  return EXIT.ok;
}

export const interrupt: Command = {
  name: "interrupt",
  usage: "interrupt <session>…",
  about: "stop the running turn; the session goes on",
  completes: ["sessions"],
  run: (call) => each(call, "interrupted", (session) => session.interrupt()),
};

export const resume: Command = {
  name: "resume",
  usage: "resume <session>…",
  about: "start the agent of dormant sessions without a message",
  help: `  The next message does that, too. After an agent died, this shows whether it can be started again.`,
  completes: ["sessions"],
  run: (call) => each(call, "resumed", (session) => session.resume()),
};

export const stop: Command = {
  name: "stop",
  usage: "stop [<session>…]",
  about: "end sessions; without a session, stop the daemon",
  help: `  What sessions said stays in the log. A daemon that is stopped ends its agents; its sessions are resumed by their next message.`,
  completes: ["sessions"],
  async run(call) {
    if (call.words.length > 0) return each(call, "ended", (session) => session.terminate());
    if (text(call.values, "url") !== undefined)
      throw new UsageError("only the daemon of this machine can be stopped. Name the sessions to end");
    const stopped = await stopInBackground(dataDirOf(call));
    if (flag(call.values, "json")) call.json({ stopped });
    else call.print(stopped ? "The daemon was stopped. Its sessions are kept." : "No daemon is running.");
    return EXIT.ok;
  },
};

export const rm: Command = {
  name: "rm",
  usage: "rm <session>…",
  about: "end sessions and remove them from the log",
  completes: ["sessions"],
  run: (call) => each(call, "removed", (session) => session.remove()),
};
