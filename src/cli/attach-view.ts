/**
 * A session live in a terminal: its events scroll by, the prompt is at the bottom, permissions and questions are asked in it. Everything goes through the
 * client; leaving it leaves the session as it is. Not here: what a slash means (attach-commands.ts), how events look (session-view.ts).
 */
import { createInterface, type Interface } from "node:readline";
import { choosesCommand } from "../client/chosen-command.ts";
import type { Dragoman } from "../client/dragoman.ts";
import type { SessionHandle } from "../client/session-handle.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { PermissionData, QuestionData } from "../schema/event-data.ts";
import { type Asked, notAnOption, permissionAsked, permissionReply, questionAnswer, questionAsked } from "./ask.ts";
import { type AttachContext, slashLine, slashNames } from "./attach-commands.ts";
import { EXIT, type Terminal } from "./command.ts";
import { exact, exactLine } from "./output.ts";
import { PASTE_MARKS_OFF, PASTE_MARKS_ON, PastedLines } from "./pasted-lines.ts";
import { pathCompleter } from "./path-completer.ts";
import { SessionView } from "./session-view.ts";
import { type Paint, paintFor } from "./style.ts";
import { columnsOf, wrap } from "./text-layout.ts";
import type { TextStream } from "./text-stream.ts";

const PROMPT = "> ";
/** Before a further line of the same message. */
const CONTINUED = "… ";

type Request =
  | { kind: "permission"; id: string; data: PermissionData }
  | { kind: "question"; id: string; data: QuestionData; answers: string[][] };

export type AttachOptions = { steer: boolean; answers: (() => TextStream) | undefined };

export class AttachView {
  readonly #terminal: Terminal;
  readonly #dragoman: Dragoman;
  readonly #session: SessionHandle;
  readonly #keyboard: PastedLines;
  readonly #readline: Interface;
  readonly #view: SessionView;
  readonly #paint: Paint;
  readonly #leaving = new AbortController();
  readonly #steer: boolean;
  /** What was typed here: readline has shown it already. */
  readonly #typed: string[] = [];
  /** The first is the one being asked. */
  #requests: Request[] = [];
  #asking: Request | null = null;
  /** A half-typed message, put aside while something is asked. */
  #draft = "";
  /** Lines of a message that ended with a backslash. */
  #lines: string[] = [];
  #busy = false;
  /** Ctrl-C was pressed once: again leaves. */
  #stopping = false;
  /** The agent's own commands, as it last listed them. */
  #commands: AttachContext["commands"] = [];
  #caughtUp = false;

  constructor(dragoman: Dragoman, session: SessionHandle, terminal: Terminal, options: AttachOptions) {
    this.#terminal = terminal;
    this.#dragoman = dragoman;
    this.#session = session;
    this.#steer = options.steer;
    this.#keyboard = new PastedLines(terminal.stdin);
    this.#readline = createInterface({
      input: this.#keyboard,
      output: terminal.stdout.device,
      terminal: true,
      prompt: PROMPT,
      completer: pathCompleter(
        (typed) => session.files.complete(typed, { limit: 30 }),
        () => slashNames(this.#commands),
      ),
    });
    this.#paint = paintFor(terminal.stdout, terminal.env);
    this.#view = new SessionView(terminal, options.answers, {
      readline: this.#readline,
      showUser: (text) => !this.#takeTyped(text),
    });
  }

  /** Runs until the person leaves or the session ends; gives the exit code. */
  async run(after: number): Promise<number> {
    const view = await this.#session.get();
    this.#busy = view.status === "running" || view.status === "waiting" || view.status === "starting";
    const { permissions, questions } = await this.#session.pending();
    for (const data of permissions) this.#add({ kind: "permission", id: data.permission_id, data });
    for (const data of questions) this.#add({ kind: "question", id: data.question_id, data, answers: [] });
    this.#listen();
    const hint = `${exactLine(`${view.agent} in ${view.directory}`)}. /help lists commands. Ctrl-C stops the turn, Ctrl-D leaves; the session goes on.`;
    try {
      if (after >= view.last_sequence) this.#catchUp(hint);
      for await (const event of this.#session.events({ after, signal: this.#leaving.signal })) {
        // After Ctrl-D the prompt is gone: Node 24 throws at whoever still writes to it.
        if (this.#leaving.signal.aborted) break;
        this.#take(event);
        if (event.sequence >= view.last_sequence) this.#catchUp(hint);
        if (event.type === "session.ended") return event.data.reason === "error" ? EXIT.failed : EXIT.ok;
      }
      return EXIT.ok;
    } finally {
      this.#view.close();
      this.#readline.close();
      this.#keyboard.release();
      this.#terminal.stdout.device.write(PASTE_MARKS_OFF);
      if (this.#leaving.signal.aborted)
        this.#terminal.stderr.write(`${this.#paint.dim(`Come back with: dragoman attach ${this.#session.id}`)}\n`);
    }
  }

  #listen(): void {
    const leave = (): void => this.#leave();
    this.#terminal.signal.addEventListener("abort", leave);
    this.#readline.on("close", leave);
    this.#readline.on("SIGINT", () => void this.#interrupt());
    this.#readline.on("line", (line) => {
      this.#view.entered();
      void this.#entered(this.#keyboard.restored(line)).catch((error: unknown) =>
        this.#note(exact(error instanceof Error ? error.message : String(error))),
      );
    });
    this.#terminal.stdout.device.write(PASTE_MARKS_ON);
    this.#readline.prompt();
  }

  #leave(): void {
    this.#view.close();
    this.#leaving.abort();
  }

  #take(event: UniversalEvent): void {
    this.#view.take(event);
    if (event.type === "config.changed") this.#commands = event.data.commands ?? this.#commands;
    if (event.type === "turn.started") this.#busy = true;
    if (event.type === "turn.ended") {
      this.#busy = false;
      this.#stopping = false;
      if (this.#caughtUp && event.data.stop_reason !== "end_turn") this.#note(`The turn ended: ${event.data.stop_reason}.`);
    }
    if (event.type === "permission.requested") this.#add({ kind: "permission", id: event.data.permission_id, data: event.data });
    if (event.type === "question.requested")
      this.#add({ kind: "question", id: event.data.question_id, data: event.data, answers: [] });
    if (event.type === "permission.resolved") this.#resolved(event.data.permission_id);
    if (event.type === "question.resolved") this.#resolved(event.data.question_id);
  }

  #catchUp(hint: string): void {
    if (this.#caughtUp) return;
    this.#caughtUp = true;
    this.#note(hint);
    this.#ask();
  }

  #add(request: Request): void {
    if (this.#requests.some(({ id }) => id === request.id)) return;
    this.#requests.push(request);
    this.#ask();
  }

  #resolved(id: string): void {
    const elsewhere = this.#asking?.id === id;
    this.#requests = this.#requests.filter((request) => request.id !== id);
    if (!elsewhere) return;
    this.#note("Answered elsewhere.");
    this.#asked();
  }

  /** Shows the first request that waits, unless one is being asked or the past is still scrolling by. */
  #ask(): void {
    const next = this.#requests[0];
    if (!next || this.#asking || !this.#caughtUp) return;
    this.#asking = next;
    this.#draft = this.#readline.line;
    this.#clearLine();
    this.#show();
  }

  #show(): void {
    const request = this.#asking;
    const asked = request && this.#words(request);
    if (!asked) return;
    this.#view.note(asked.lines.join("\n"));
    this.#view.setPrompt(asked.prompt);
  }

  #words(request: Request): Asked | undefined {
    if (request.kind === "permission") return permissionAsked(request.data, this.#paint);
    const question = request.data.questions[request.answers.length];
    return question && questionAsked(question, this.#paint);
  }

  /** The request on screen is done with: the prompt is a prompt again, or asks the next one. */
  #asked(): void {
    this.#asking = null;
    this.#clearLine();
    this.#view.setPrompt(PROMPT);
    this.#readline.write(this.#draft);
    this.#draft = "";
    this.#ask();
  }

  async #entered(line: string): Promise<void> {
    this.#stopping = false;
    if (this.#lines.length === 0 && line.startsWith("/")) {
      const meant = slashLine(line, this.#commands);
      if (meant.kind === "ours") return meant.run(this.#context());
      if (meant.kind === "unknown") return this.#note(meant.advice);
      if (!this.#asking) return this.#send(meant.text);
    }
    if (this.#asking) return this.#answered(this.#asking, line);
    if (line.endsWith("\\")) {
      this.#lines.push(line.slice(0, -1));
      return this.#view.setPrompt(CONTINUED);
    }
    const message = [...this.#lines.splice(0), line].join("\n");
    this.#view.setPrompt(PROMPT);
    if (message.trim() !== "") await this.#send(message);
  }

  async #send(message: string): Promise<void> {
    this.#typed.push(message);
    try {
      const command = choosesCommand(message, this.#commands);
      await this.#session.send(message, { command, when_busy: this.#steer && this.#busy ? "steer" : "queue" });
    } catch (error) {
      this.#takeTyped(message);
      throw error;
    }
  }

  async #answered(request: Request, line: string): Promise<void> {
    if (request.kind === "permission") {
      const reply = permissionReply(request.data, line);
      if (!reply) return;
      this.#done(request);
      return this.#session.replyPermission(request.id, reply);
    }
    const question = request.data.questions[request.answers.length];
    const answer = question ? questionAnswer(question, line) : null;
    if (answer === undefined) return question && this.#note(notAnOption(question));
    if (answer === null) {
      this.#done(request);
      return this.#session.rejectQuestion(request.id);
    }
    request.answers.push(answer);
    if (request.answers.length < request.data.questions.length) return this.#show();
    this.#done(request);
    return this.#session.replyQuestion(request.id, request.answers);
  }

  #done(request: Request): void {
    this.#requests = this.#requests.filter(({ id }) => id !== request.id);
    this.#asked();
  }

  #context(): AttachContext {
    const { stdout, env } = this.#terminal;
    return {
      ...{ dragoman: this.#dragoman, session: this.#session, paint: this.#paint, commands: this.#commands },
      columns: columnsOf(stdout, env) - 1,
      show: (lines) => this.#view.note(this.#wrapped(lines.join("\n"))),
      leave: () => this.#readline.close(),
      stop: () => this.#stop(),
      answer: async (typed) => {
        const request = this.#asking;
        if (request) await this.#answered(request, typed);
        return request !== null;
      },
    };
  }

  async #stop(): Promise<void> {
    if (!this.#busy) return this.#note("Nothing runs.");
    this.#note("Stopping the turn.");
    await this.#session.interrupt();
  }

  /** Once: stops the turn, or clears the line. Twice: leaves. */
  async #interrupt(): Promise<void> {
    if (this.#stopping) return this.#readline.close();
    this.#stopping = true;
    this.#lines = [];
    this.#clearLine();
    if (!this.#asking) this.#view.setPrompt(PROMPT);
    if (!this.#busy) return this.#note("Nothing runs. Ctrl-C again, or Ctrl-D, leaves.");
    await this.#stop().catch((error: unknown) => this.#note(exact(String(error))));
  }

  #clearLine(): void {
    if (this.#readline.line === "") return;
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
  }

  #takeTyped(text: string): boolean {
    const at = this.#typed.indexOf(text);
    if (at >= 0) this.#typed.splice(at, 1);
    return at >= 0;
  }

  #note(text: string): void {
    this.#view.note(this.#wrapped(this.#paint.dim(text)));
  }

  /** A screen breaks a line in the middle of a word. */
  #wrapped(text: string): string {
    const { stdout, env } = this.#terminal;
    return wrap(text, columnsOf(stdout, env) - 1).join("\n");
  }
}
