/**
 * One client at the WebSocket of a task: what the task writes goes out, by its place in the output and not by events, so that a terminal can be watched for
 * days; what is typed comes in. A slow client is not buffered for: a reader of a terminal that falls far behind gets its screen instead.
 */
import type { IncomingMessage } from "node:http";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { WebSocket } from "ws";
import { PieceRedactor } from "../redaction/piece-redactor.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { onUse } from "../schema/on-use.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { isOpen, type OutputStreamName, TaskInput, type TaskSocketMessage, TerminalSize } from "../schema/task.ts";
import type { TaskService, WatchedTask } from "../workspace/tasks/index.ts";
import { wholeCharacters } from "../workspace/tasks/index.ts";
import { mustHaveRole } from "./access.ts";
import { withAgent } from "./agent-caller.ts";
import { parseJson } from "./json-body.ts";
import { mayOnlyLook, type OpenStream } from "./open-streams.ts";
import { problemOf, toProblemError } from "./problems.ts";
import type { ServerContext } from "./server-context.ts";
import { bytesOf, GOING_AWAY, NORMAL, SocketLife } from "./socket-life.ts";
import type { Caller } from "./token.ts";

/** Bytes a socket may hold before its client counts as slow. */
const SLOW_BYTES = 256 * 1024;
const PIECE_BYTES = 32 * 1024;
/** A reader of a terminal who is this far behind is not sent all of it. */
const FAR_BEHIND_BYTES = 1024 * 1024;
/** Commands of one client that may wait, and how many bytes of them; more are read when some are done. */
const MAX_WAITING = 64;
const MAX_WAITING_BYTES = 1024 * 1024;
/** Commands of one client before others get their turn. */
const PER_TURN = 16;
/** Longer than any secret. */
const LOOK_BACK_BYTES = 32 * 1024;

const Id = { id: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Number()])) };
const strict = { additionalProperties: false };
const commands = onUse(() => ({
  stdin: Compile(Type.Object({ op: Type.Literal("stdin"), ...Id, ...TaskInput.properties }, strict)),
  resize: Compile(Type.Object({ op: Type.Literal("resize"), ...Id, ...TerminalSize.properties }, strict)),
  signal: Compile(
    Type.Object({ op: Type.Literal("signal"), ...Id, signal: Type.String({ minLength: 1, maxLength: 40 }) }, strict),
  ),
  cancel: Compile(
    Type.Object({ op: Type.Literal("cancel"), ...Id, reason: Type.Optional(Type.String({ maxLength: 500 })) }, strict),
  ),
}));

/** `redactor`: for a caller who may not see secrets. */
export type TaskConnection = {
  tasks: TaskService;
  taskId: string;
  task: WatchedTask;
  caller: Caller;
  request: IncomingMessage;
  redactor: Redactor | null;
};

/** `drawn`: what a screen showed already, and the redactor will give once more. */
type Cursor = { stream: OutputStreamName; at: number; pieces: PieceRedactor | null; drawn: string };

export class TaskSocket implements OpenStream {
  readonly tokenId: string;
  readonly looks: boolean;
  readonly #ws: WebSocket;
  readonly #life: SocketLife;
  readonly #about: TaskConnection;
  readonly #context: ServerContext;
  readonly #cursors: Cursor[];
  readonly #isTerminal: boolean;
  #size: string | null = null;
  #screenSent = false;
  #sending = false;
  #again = false;
  #waiting = 0;
  #waitingBytes = 0;
  #taken = 0;
  /** Called when something was sent, or the client has gone. */
  #sent = (): void => {};
  #work: Promise<void> = Promise.resolve();
  #recognised: Promise<Caller> | null = null;
  #unfollow = (): void => {};

  constructor(ws: WebSocket, about: TaskConnection, context: ServerContext) {
    this.tokenId = about.caller.id;
    this.looks = mayOnlyLook(about.caller);
    this.#ws = ws;
    this.#life = new SocketLife(ws, () => this.#gone());
    this.#about = about;
    this.#context = context;
    this.#isTerminal = about.task.state.execution_mode === "pty";
    const streams: OutputStreamName[] = this.#isTerminal ? ["pty"] : ["stdout", "stderr"];
    this.#cursors = streams.map((stream) => ({ stream, at: 0, pieces: this.#pieces(), drawn: "" }));
  }

  get buffered(): number {
    return this.#ws.bufferedAmount;
  }

  async start(): Promise<void> {
    this.#context.streams.add(this);
    this.#ws.on("message", (data, binary) => this.#received(bytesOf(data), binary));
    this.#life.start();
    const { tasks, taskId, caller, task } = this.#about;
    this.#push({ type: "hello", task: await tasks.info(taskId), role: caller.role, version: this.#context.version });
    if (this.#closed) return;
    this.#unfollow = task.follow(() => this.#pump());
    this.#pump();
  }

  beat(): void {
    this.#life.beat();
  }

  close(reason: "shutdown" | "revoked"): void {
    this.#life.close(reason);
  }

  #gone(): void {
    this.#sent();
    this.#unfollow();
    this.#context.streams.delete(this);
  }

  get #closed(): boolean {
    return this.#ws.readyState !== this.#ws.OPEN;
  }

  /** Sends what there is, one call at a time. */
  #pump(): void {
    this.#again = true;
    if (this.#sending) return;
    this.#sending = true;
    void this.#sendAll()
      .catch((error: unknown) => {
        this.#context.logger.error({ err: error }, "the output of a task could not be read");
        this.#ws.close(GOING_AWAY, "the output cannot be read");
      })
      .finally(() => {
        this.#sending = false;
      });
  }

  async #sendAll(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      const { task } = this.#about;
      // Asked before the output: when it had ended, all of its output is there.
      const over = !isOpen(task.state);
      if (this.#isTerminal && !this.#screenSent) await this.#sendScreen();
      for (const cursor of this.#cursors) if (!(await this.#sendOutput(cursor))) return;
      this.#sendSize();
      if (over && this.#cursors.every(({ stream, at }) => at >= task.shown(stream))) return this.#end();
    }
  }

  /** False: the client is slow, and the next piece is sent when it has read. */
  async #sendOutput(cursor: Cursor): Promise<boolean> {
    const { task } = this.#about;
    for (;;) {
      const shown = task.shown(cursor.stream);
      if (cursor.at >= shown || this.#closed) return true;
      if (this.#ws.bufferedAmount > SLOW_BYTES) return false;
      if (this.#isTerminal && shown - cursor.at > FAR_BEHIND_BYTES) {
        await this.#sendScreen();
        continue;
      }
      const read = await task.read(cursor.stream, cursor.at, Math.min(PIECE_BYTES, shown - cursor.at));
      if (read.bytes.length === 0 && read.offset <= cursor.at) return true;
      if (read.offset > cursor.at && this.#isTerminal) {
        await this.#sendScreen();
        continue;
      }
      const { skipped, bytes } = wholeCharacters(read.bytes, read.offset + read.bytes.length >= shown);
      const offset = read.offset + skipped;
      cursor.at = offset + bytes.length;
      const text = bytes.toString("utf8");
      this.#push({ type: "output", stream: cursor.stream, offset, bytes: bytes.length, text: redacted(cursor, text) });
    }
  }

  /** Draws the terminal anew; output goes on behind it. */
  async #sendScreen(): Promise<void> {
    const { task, redactor } = this.#about;
    const screen = await task.screen();
    this.#screenSent = true;
    this.#size = `${screen.rows}x${screen.cols}`;
    for (const cursor of this.#cursors) {
      cursor.at = screen.offset;
      await this.#lookBack(cursor);
    }
    this.#push({ type: "screen", ...screen, serialized: redactor?.text(screen.serialized) ?? screen.serialized });
  }

  /** A secret can begin on the screen and end in the output behind it. */
  async #lookBack(cursor: Cursor): Promise<void> {
    cursor.pieces = this.#pieces();
    if (cursor.pieces === null) return;
    const from = Math.max(0, cursor.at - LOOK_BACK_BYTES);
    const { bytes } = await this.#about.task.read(cursor.stream, from, cursor.at - from);
    cursor.pieces.add(bytes.toString("utf8"));
    cursor.drawn = cursor.pieces.held;
  }

  #sendSize(): void {
    const { rows, cols } = this.#about.task.state;
    if (rows === null || cols === null || this.#size === `${rows}x${cols}`) return;
    this.#size = `${rows}x${cols}`;
    this.#push({ type: "size", rows, cols });
  }

  async #end(): Promise<void> {
    for (const { stream, at, pieces } of this.#cursors) {
      const text = pieces?.end() ?? "";
      if (text !== "") this.#push({ type: "output", stream, offset: at, bytes: 0, text });
    }
    this.#push({ type: "ended", task: await this.#about.tasks.info(this.#about.taskId) });
    this.#ws.close(NORMAL, "the task has ended");
  }

  #pieces(): PieceRedactor | null {
    return this.#about.redactor === null ? null : new PieceRedactor(this.#about.redactor);
  }

  #push(message: TaskSocketMessage | { id: unknown; ok: boolean; problem?: unknown }): void {
    if (this.#closed) return;
    const text = JSON.stringify(message);
    const isInfo = !("type" in message) || message.type === "hello" || message.type === "ended";
    // Output and screens are redacted already, where pieces are put together.
    this.#ws.send(isInfo ? (this.#about.redactor?.text(text) ?? text) : text, () => {
      this.#sent();
      this.#pump();
    });
  }

  /** One after the other, in the order they came: what is typed must not overtake what was typed before. */
  #received(data: Buffer, binary: boolean): void {
    this.#waiting += 1;
    this.#waitingBytes += data.length;
    if (this.#isFull) this.#ws.pause();
    this.#work = this.#work.then(async () => {
      await this.#turn();
      await this.#take(data, binary);
      this.#waiting -= 1;
      this.#waitingBytes -= data.length;
      if (this.#ws.isPaused && !this.#isFull) this.#ws.resume();
    });
  }

  get #isFull(): boolean {
    return this.#waiting >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES;
  }

  /** Each command has an answer, and answers that nobody reads are kept here. One piece of the stream may hold thousands of commands: others come between. */
  async #turn(): Promise<void> {
    if (++this.#taken % PER_TURN === 0) await new Promise(setImmediate);
    while (!this.#closed && this.#ws.bufferedAmount > SLOW_BYTES)
      await new Promise<void>((resolve) => {
        this.#sent = resolve;
      });
  }

  async #take(data: Buffer, binary: boolean): Promise<void> {
    let id: unknown = null;
    try {
      if (binary) throw new ProblemError("unsupported_media_type", "Send text frames with JSON.");
      const value = parseJson(data.toString());
      const message: Record<string, unknown> = typeof value === "object" && value !== null ? { ...value } : {};
      id = typeof message.id === "string" || typeof message.id === "number" ? message.id : null;
      await this.#admitted(message);
      if (id !== null) this.#push({ id, ok: true });
    } catch (error) {
      const problem = toProblemError(error);
      if (problem.code === "internal") this.#context.logger.error({ err: error }, "a command to a task failed");
      this.#push({ id, ok: false, problem: problemOf(problem) });
    }
  }

  /** The same checks as over HTTP. */
  async #admitted(message: Record<string, unknown>): Promise<void> {
    const { tokens, access, rights } = this.#context;
    if (!tokens.alive(this.tokenId)) {
      this.close("revoked");
      throw new ProblemError("unauthorized");
    }
    const release = access.enter(this.#about.caller);
    try {
      this.#recognised ??= withAgent(this.#about.caller, this.#about.request, this.#context);
      const caller = await this.#recognised;
      rights.mustReach(caller, "operate");
      mustHaveRole(caller, "operate");
      rights.mustBePerson(caller);
      await this.#do(message, caller);
    } finally {
      release();
    }
  }

  async #do(message: Record<string, unknown>, { actor }: Caller): Promise<void> {
    const { tasks, taskId } = this.#about;
    if (commands().stdin.Check(message)) {
      const { op: _, id: __, ...input } = message;
      return tasks.input(taskId, input, actor);
    }
    if (commands().resize.Check(message)) return tasks.resize(taskId, { rows: message.rows, cols: message.cols }, actor);
    if (commands().signal.Check(message)) return tasks.signal(taskId, message.signal, actor);
    if (commands().cancel.Check(message)) {
      this.#context.audit.record({ operation: "cancelTask", outcome: "done", status: 200, actor, target: taskId });
      await tasks.cancel(taskId, message.reason ?? "cancelled", actor);
      return;
    }
    const names = Object.keys(commands()).join(", ");
    throw new ProblemError("invalid_request", `The message does not fit one of the ops ${names}: see the route's description.`);
  }
}

function redacted(cursor: Cursor, text: string): string {
  if (cursor.pieces === null) return text;
  const out = cursor.pieces.add(text);
  // Nothing came out: the same is still held back.
  if (out === "" || cursor.drawn === "") return out;
  const { drawn } = cursor;
  cursor.drawn = "";
  return out.startsWith(drawn) ? out.slice(drawn.length) : out;
}
