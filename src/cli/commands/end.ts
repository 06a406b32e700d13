// `interrupt`, `resume`, `stop`, `rm`: the turn, the agent, the session, and all it left behind.
import type { SessionHandle } from "../../client/session-handle.ts";
import { type Command, done, EXIT, type Invocation, need } from "../command.ts";

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
  help: `  The next message does that, too. After an agent died, this tells whether it can be started again.`,
  completes: ["sessions"],
  run: (call) => each(call, "resumed", (session) => session.resume()),
};

export const stop: Command = {
  name: "stop",
  usage: "stop <session>…",
  about: "end sessions; what they said stays in the log",
  completes: ["sessions"],
  run: (call) => each(call, "ended", (session) => session.terminate()),
};

export const rm: Command = {
  name: "rm",
  usage: "rm <session>…",
  about: "end sessions and remove them from the log",
  completes: ["sessions"],
  run: (call) => each(call, "removed", (session) => session.remove()),
};
