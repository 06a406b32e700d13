// `dragoman run <agent> "prompt"`: one turn from a terminal or a script. The answer goes to stdout, everything else to stderr.

import { boundTo } from "../../client/requests.ts";
import type { SessionHandle, TurnOutcome } from "../../client/session-handle.ts";
import type { UniversalEvent } from "../../schema/event.ts";
import type { PermissionData, QuestionData } from "../../schema/event-data.ts";
import { TRUST_TOOL } from "../../schema/trust-tool.ts";
import { askPermission, askQuestions, canAsk } from "../ask.ts";
import { type Command, EXIT, flag, type Invocation, need, type Terminal, text, UsageError } from "../command.ts";
import { exact, exactLine } from "../output.ts";
import { pipedInput } from "../piped-input.ts";
import { createOptions, sessionOf } from "../session-options.ts";
import { answersFor, SessionView } from "../session-view.ts";

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
    const { signal } = call.terminal;
    const early = (): void => call.say("Stopping when the session is there. Ctrl-C again leaves at once.");
    signal.addEventListener("abort", early);
    const session = given ? daemon.session(given) : await daemon.createSession({ agent, ...unasked(call), ...sessionOf(call) });
    signal.removeEventListener("abort", early);
    if (!given && flag(call.values, "keep")) call.say(`Session ${session.id}`);
    const stop = (): void => void session.interrupt().catch(() => {});
    signal.addEventListener("abort", stop);
    try {
      // Ctrl-C while the session was made: no prompt is sent.
      if (signal.aborted) return EXIT.interrupted;
      return exitOf(await oneTurn(call, session, prompt), call.terminal);
    } finally {
      signal.removeEventListener("abort", stop);
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

/** Ends of a turn that no event before them explains. */
const CUT_SHORT: ReadonlySet<TurnOutcome["stop_reason"]> = new Set(["interrupted", "output_length", "max_turns", "max_budget"]);

export async function oneTurn(call: Invocation, session: SessionHandle, prompt: string): Promise<TurnOutcome | "waiting"> {
  const { terminal } = call;
  const json = flag(call.values, "json");
  const view = json ? null : new SessionView(terminal, await answersFor(terminal), {});
  const nobody = new AbortController();
  const requests = new Requests(call, session, view, () => nobody.abort());
  const onEvent = (event: UniversalEvent): void => {
    if (json) call.json(event);
    view?.take(event);
    requests.take(event);
  };
  const stopping = (): void => view?.note("Stopping the turn. Ctrl-C again leaves at once.");
  if (canAsk(terminal)) terminal.signal.addEventListener("abort", stopping);
  try {
    const outcome = await session.prompt(prompt, { command: flag(call.values, "command"), onEvent, signal: nobody.signal });
    // Whoever did not stop it here must be told: what was printed is not the whole answer.
    if (CUT_SHORT.has(outcome.stop_reason) && !terminal.signal.aborted) view?.note(`The turn ended: ${outcome.stop_reason}.`);
    return outcome;
  } catch (error) {
    if (!nobody.signal.aborted) throw error;
    await session.interrupt().catch(() => {});
    return "waiting";
  } finally {
    terminal.signal.removeEventListener("abort", stopping);
    view?.close();
  }
}

/** Answers what the agent asks: one request after the other, each until it is answered here or elsewhere. */
class Requests {
  readonly #call: Invocation;
  readonly #session: SessionHandle;
  readonly #view: SessionView | null;
  readonly #giveUp: () => void;
  readonly #open = new Map<string, AbortController>();
  #asked: Promise<void> = Promise.resolve();

  constructor(call: Invocation, session: SessionHandle, view: SessionView | null, giveUp: () => void) {
    this.#call = call;
    this.#session = session;
    this.#view = view;
    this.#giveUp = giveUp;
  }

  take(event: UniversalEvent): void {
    if (event.type === "permission.requested")
      this.#add(event.data.permission_id, (signal) => this.#permission(event.data, signal));
    if (event.type === "question.requested") this.#add(event.data.question_id, (signal) => this.#question(event.data, signal));
    if (event.type === "permission.resolved") this.#open.get(event.data.permission_id)?.abort();
    if (event.type === "question.resolved") this.#open.get(event.data.question_id)?.abort();
  }

  #add(id: string, answer: (signal: AbortSignal) => Promise<void>): void {
    const resolved = new AbortController();
    this.#open.set(id, resolved);
    const { signal } = this.#call.terminal;
    this.#asked = this.#asked.then(async () => {
      try {
        if (!resolved.signal.aborted) await answer(AbortSignal.any([signal, resolved.signal]));
      } catch (error) {
        // Answered elsewhere meanwhile, or interrupted at the prompt: the turn itself shows what became of it.
        if (!signal.aborted && !resolved.signal.aborted) this.#say(exact(error instanceof Error ? error.message : String(error)));
      }
      this.#open.delete(id);
    });
  }

  async #permission(data: PermissionData, signal: AbortSignal): Promise<void> {
    const isTrust = data.metadata.tool_name === TRUST_TOOL;
    if (flag(this.#call.values, "yes") && !isTrust)
      return this.#session.replyPermission(data.permission_id, { ...boundTo(data), reply: "once" });
    const { terminal } = this.#call;
    if (canAsk(terminal)) {
      const reply = await this.#paused(() => askPermission(terminal, data, signal));
      return this.#session.replyPermission(data.permission_id, reply);
    }
    const advice = isTrust ? "use `dragoman trust`, --trust or --restricted" : "use --yes or --permission-mode";
    this.#say(`The agent asks: ${exactLine(data.action)}. Nobody can answer in a pipe; ${advice}.`);
    this.#giveUp();
  }

  async #question(data: QuestionData, signal: AbortSignal): Promise<void> {
    const { terminal } = this.#call;
    if (!canAsk(terminal)) {
      this.#say(`The agent asks: ${exactLine(data.prompt)} Nobody can answer in a pipe.`);
      return this.#giveUp();
    }
    const answers = await this.#paused(() => askQuestions(terminal, data, signal));
    if (answers) await this.#session.replyQuestion(data.question_id, answers);
    else await this.#session.rejectQuestion(data.question_id);
  }

  #paused<T>(ask: () => Promise<T>): Promise<T> {
    return this.#view ? this.#view.pausedFor(ask) : ask();
  }

  #say(text: string): void {
    if (this.#view) this.#view.note(text);
    else this.#call.say(text);
  }
}

export function exitOf(outcome: TurnOutcome | "waiting", terminal: Terminal): number {
  if (outcome === "waiting") return EXIT.waiting;
  if (outcome.stop_reason === "end_turn") return EXIT.ok;
  if (outcome.stop_reason === "refusal") return EXIT.refused;
  return terminal.signal.aborted || outcome.stop_reason === "interrupted" ? EXIT.interrupted : EXIT.failed;
}
