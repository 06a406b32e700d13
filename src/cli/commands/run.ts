// `dragoman run <agent> "prompt"`: one turn from a terminal or a script. The answer goes to stdout, everything else to stderr.

import type { SessionHandle, TurnOutcome } from "../../client/session-handle.ts";
import type { UniversalEvent } from "../../schema/event.ts";
import { TRUST_TOOL } from "../../schema/trust-tool.ts";
import { askPermission, askQuestions, canAsk } from "../ask.ts";
import { type Command, EXIT, flag, type Invocation, need, type Terminal, text, UsageError } from "../command.ts";
import { EventPrinter } from "../event-printer.ts";
import { exact, exactLine } from "../output.ts";
import { pipedInput } from "../piped-input.ts";
import { createOptions, sessionOf } from "../session-options.ts";

export const run: Command = {
  name: "run",
  startsDaemon: true,
  usage: "run <agent> <prompt…>",
  about: "send one prompt, stream the answer, ask permissions here",
  help: `  The prompt may also come on stdin. Exit code: 0 the turn ended well, 1 it failed, 3 the agent refused,
  5 a permission or question needs a person and this is no terminal, 130 interrupted.
  In a directory that is not trusted and has settings for the agent, a terminal asks; a script needs --trust, --restricted or \`dragoman trust\`.
  The session ends with the turn unless --keep is given; its id is then said on stderr.
  Example: git diff | dragoman run claude "Review this diff." --permission-mode plan`,
  options: {
    ...createOptions,
    session: { type: "string", short: "s", value: "<id>", about: "go on with this session instead of a new one" },
    command: { type: "boolean", about: "the prompt is one of the agent's own commands: /name with its arguments" },
    yes: { type: "boolean", about: "allow every permission once; trusting the directory is not among them" },
    keep: { type: "boolean", about: "leave the session open afterwards" },
  },
  completes: ["agents"],
  async run(call) {
    const agent = need(call.words, 0, "the agent");
    const prompt = await promptOf(call.words.slice(1), call.terminal);
    const daemon = await call.daemon();
    const given = text(call.values, "session");
    const session = given ? daemon.session(given) : await daemon.createSession({ agent, ...unasked(call), ...sessionOf(call) });
    if (!given && flag(call.values, "keep")) call.say(`Session ${session.id}`);
    const stop = (): void => void session.interrupt().catch(() => {});
    call.terminal.signal.addEventListener("abort", stop);
    try {
      return exitOf(await oneTurn(call, session, prompt), call.terminal);
    } finally {
      call.terminal.signal.removeEventListener("abort", stop);
      if (!given && !flag(call.values, "keep")) await session.terminate().catch(() => {});
    }
  },
};

/** Where nobody can be asked, a directory that is not trusted is an error and not a question. */
const unasked = ({ terminal }: Invocation): { trust?: "refuse" } => (canAsk(terminal) ? {} : { trust: "refuse" });

/** Words, stdin, or both: what is piped in comes after the words. */
export async function promptOf(words: string[], terminal: Terminal): Promise<string> {
  const piped = await pipedInput(terminal, words.length === 0);
  const prompt = [words.join(" "), piped.trim()].filter(Boolean).join("\n\n");
  if (prompt === "") throw new UsageError("the prompt is missing");
  return prompt;
}

export async function oneTurn(call: Invocation, session: SessionHandle, prompt: string): Promise<TurnOutcome | "waiting"> {
  const printer = new EventPrinter(call.terminal);
  const nobody = new AbortController();
  const onEvent = (event: UniversalEvent): void => {
    if (flag(call.values, "json")) call.json(event);
    else printer.print(event);
    void answer(call, session, event, () => nobody.abort());
  };
  try {
    return await session.prompt(prompt, { command: flag(call.values, "command"), onEvent, signal: nobody.signal });
  } catch (error) {
    if (!nobody.signal.aborted) throw error;
    await session.interrupt().catch(() => {});
    return "waiting";
  } finally {
    printer.endLine();
  }
}

async function answer(call: Invocation, session: SessionHandle, event: UniversalEvent, giveUp: () => void): Promise<void> {
  const { terminal } = call;
  try {
    if (event.type === "permission.requested") {
      const id = event.data.permission_id;
      const isTrust = event.data.metadata.tool_name === TRUST_TOOL;
      if (flag(call.values, "yes") && !isTrust) await session.replyPermission(id, { reply: "once" });
      else if (canAsk(terminal)) await session.replyPermission(id, await askPermission(terminal, event.data));
      else {
        const advice = isTrust ? "use `dragoman trust`, --trust or --restricted" : "use --yes or --permission-mode";
        call.say(`The agent asks: ${exactLine(event.data.action)}. Nobody can answer in a pipe; ${advice}.`);
        giveUp();
      }
    }
    if (event.type === "question.requested") {
      if (!canAsk(terminal)) {
        call.say(`The agent asks: ${exactLine(event.data.prompt)}. Nobody can answer in a pipe.`);
        return giveUp();
      }
      const answers = await askQuestions(terminal, event.data);
      if (answers) await session.replyQuestion(event.data.question_id, answers);
      else await session.rejectQuestion(event.data.question_id);
    }
  } catch (error) {
    // Answered elsewhere meanwhile, or interrupted at the prompt: the turn itself tells what became of it.
    if (!terminal.signal.aborted) call.say(exact(error instanceof Error ? error.message : String(error)));
  }
}

export function exitOf(outcome: TurnOutcome | "waiting", terminal: Terminal): number {
  if (outcome === "waiting") return EXIT.waiting;
  if (outcome.stop_reason === "end_turn") return EXIT.ok;
  if (outcome.stop_reason === "refusal") return EXIT.refused;
  return terminal.signal.aborted || outcome.stop_reason === "interrupted" ? EXIT.interrupted : EXIT.failed;
}
