// A session live in a terminal: its events scroll by, the prompt is at the bottom, permissions and questions are asked in it. Everything goes through
// the client; leaving it leaves the session as it is.
import { createInterface, type Interface } from "node:readline";
import { choosesCommand } from "../client/chosen-command.ts";
import type { SessionHandle } from "../client/session-handle.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { PermissionData, QuestionData } from "../schema/event-data.ts";
import { type Asked, notAnOption, permissionAsked, permissionReply, questionAnswer, questionAsked } from "./ask.ts";
import { EXIT, type Terminal } from "./command.ts";
import { EventPrinter } from "./event-printer.ts";
import { LiveArea } from "./live-area.ts";
import { exact, exactLine } from "./output.ts";
import { PASTE_MARKS_OFF, PASTE_MARKS_ON, PastedLines } from "./pasted-lines.ts";
import { pathCompleter } from "./path-completer.ts";
import { type Paint, paintFor } from "./style.ts";

const PROMPT = "> ";

type Request =
  | { kind: "permission"; id: string; data: PermissionData }
  | { kind: "question"; id: string; data: QuestionData; answers: string[][] };

export class AttachView {
  readonly #terminal: Terminal;
  readonly #session: SessionHandle;
  readonly #keyboard: PastedLines;
  readonly #readline: Interface;
  readonly #area: LiveArea;
  readonly #printer: EventPrinter;
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
  #busy = false;
  /** The agent's own commands, as it last listed them. */
  #commands: readonly { name: string }[] = [];
  #caughtUp = false;

  constructor(session: SessionHandle, terminal: Terminal, options: { steer: boolean }) {
    this.#terminal = terminal;
    this.#session = session;
    this.#steer = options.steer;
    this.#keyboard = new PastedLines(terminal.stdin);
    this.#readline = createInterface({
      input: this.#keyboard,
      output: terminal.stdout.device,
      terminal: true,
      prompt: PROMPT,
      completer: pathCompleter((typed) => session.files.complete(typed, { limit: 30 })),
    });
    this.#area = new LiveArea(this.#readline, terminal.stdout.device);
    this.#paint = paintFor(terminal.stdout, terminal.env);
    this.#printer = new EventPrinter(
      { stdout: this.#area, stderr: this.#area, env: terminal.env },
      { showUser: (text) => !this.#takeTyped(text) },
    );
  }

  /** Runs until the person leaves or the session ends; gives the exit code. */
  async run(after: number): Promise<number> {
    const view = await this.#session.get();
    this.#busy = view.status === "running" || view.status === "waiting" || view.status === "starting";
    const { permissions, questions } = await this.#session.pending();
    for (const data of permissions) this.#add({ kind: "permission", id: data.permission_id, data });
    for (const data of questions) this.#add({ kind: "question", id: data.question_id, data, answers: [] });
    this.#listen();
    const hint = `${exactLine(`${view.agent} in ${view.directory}`)}. Ctrl-C interrupts the turn, Ctrl-D leaves; the session goes on.`;
    try {
      if (after >= view.last_sequence) this.#catchUp(hint);
      for await (const event of this.#session.events({ after, signal: this.#leaving.signal })) {
        // After Ctrl-D the prompt is gone: Node 24 throws at whoever still writes to it.
        if (this.#leaving.signal.aborted) return EXIT.ok;
        this.#take(event);
        if (event.sequence >= view.last_sequence) this.#catchUp(hint);
        if (event.type === "session.ended") return event.data.reason === "error" ? EXIT.failed : EXIT.ok;
      }
      return EXIT.ok;
    } finally {
      this.#printer.endLine();
      this.#area.leave();
      this.#readline.close();
      this.#keyboard.release();
      this.#terminal.stdout.device.write(PASTE_MARKS_OFF);
    }
  }

  #listen(): void {
    const leave = (): void => this.#leaving.abort();
    this.#terminal.signal.addEventListener("abort", leave);
    this.#readline.on("close", () => {
      this.#area.leave();
      leave();
    });
    this.#readline.on("SIGINT", () => void this.#interrupt());
    this.#readline.on("line", (line) => {
      this.#area.entered();
      void this.#entered(this.#keyboard.restored(line)).catch((error: unknown) =>
        this.#note(exact(error instanceof Error ? error.message : String(error))),
      );
    });
    this.#terminal.stdout.device.write(PASTE_MARKS_ON);
    this.#readline.prompt();
  }

  #take(event: UniversalEvent): void {
    this.#printer.print(event);
    if (event.type === "config.changed") this.#commands = event.data.commands ?? this.#commands;
    if (event.type === "turn.started") this.#busy = true;
    if (event.type === "turn.ended") {
      this.#busy = false;
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
    if (!request) return;
    const asked = this.#words(request);
    if (!asked) return;
    this.#printer.endLine();
    this.#area.write(`${asked.lines.join("\n")}\n`);
    this.#area.setPrompt(asked.prompt);
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
    this.#area.setPrompt(PROMPT);
    this.#readline.write(this.#draft);
    this.#draft = "";
    this.#ask();
  }

  async #entered(line: string): Promise<void> {
    const request = this.#asking;
    if (request) return this.#answered(request, line);
    if (line.trim() === "") return;
    this.#typed.push(line);
    try {
      const command = choosesCommand(line, this.#commands);
      await this.#session.send(line, { command, when_busy: this.#steer && this.#busy ? "steer" : "queue" });
    } catch (error) {
      this.#takeTyped(line);
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

  async #interrupt(): Promise<void> {
    if (this.#busy) {
      this.#note("Interrupting.");
      return this.#session.interrupt().catch((error: unknown) => this.#note(exact(String(error))));
    }
    this.#clearLine();
    this.#note("Nothing runs. Ctrl-D leaves.");
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
    this.#printer.note(this.#paint.dim(text));
  }
}
