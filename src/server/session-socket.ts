/**
 * One client on one session's WebSocket: events go out, commands come in. A slow client is not buffered for: its subscription stops, and goes on from the
 * log when the socket has drained.
 */
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Batch, Stream, Subscription } from "../log/contract.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { Session } from "../session/session.ts";
import { mustHaveRole } from "./access.ts";
import { withAgent } from "./agent-caller.ts";
import {
  configure,
  interrupt,
  removeQueued,
  replyPermission,
  replyQuestion,
  sendMessage,
  sendQueued,
  terminate,
  updateQueued,
} from "./commands.ts";
import { type EncodedEvent, type Encoding, encodeRun, encodingFacts, encodingOf, isPlain } from "./event-encoding.ts";
import { mayOnlyLook, type OpenStream } from "./open-streams.ts";
import { problemOf, toProblemError } from "./problems.ts";
import { mustReach } from "./routes/events.ts";
import type { ServerContext } from "./server-context.ts";
import { bytesOf, GOING_AWAY, NORMAL, SocketLife } from "./socket-life.ts";
import { type ClientMessage, type Following, LOGGED_OPS, OP_ACCESS, parseClientMessage } from "./socket-messages.ts";
import { hasEnded } from "./sse/follow.ts";
import type { Caller } from "./token.ts";

/** Bytes a socket may hold before its client counts as slow. */
const SLOW_BYTES = 256 * 1024;
/** Commands of one client that may run at once, and their bytes; more are read when some are done. */
const MAX_RUNNING = 32;
const MAX_RUNNING_BYTES = 4 * 1024 * 1024;
/** Commands of one client taken in one turn of the event loop: others want to be heard too. */
const MAX_PER_TURN = 8;
/** Bytes of events and answers that a client may leave unread before its further commands wait. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Who is connected to what. `redactor`: for a caller who may not see secrets. */
export type Connected = { session: Session; caller: Caller; request: IncomingMessage; redactor: Redactor | null };

export class SessionSocket implements OpenStream {
  readonly tokenId: string;
  readonly looks: boolean;
  readonly #ws: WebSocket;
  readonly #life: SocketLife;
  readonly #sessionId: string;
  readonly #stream: Stream;
  readonly #caller: Caller;
  readonly #request: IncomingMessage;
  readonly #context: ServerContext;
  /** For a caller who may not see secrets. */
  readonly #redactor: Redactor | null;
  /** The caller with the agent it is, if it is one: looked for with the first command. */
  #recognised: Promise<Caller> | null = null;
  #subscription: Subscription | null = null;
  /** A batch is being read for: what comes next waits for it. */
  #encoding = false;
  #running = 0;
  #runningBytes = 0;
  #takenThisTurn = 0;
  /** Commands that were read and wait: what was already on its way when the socket was paused. */
  readonly #inbox: { data: Buffer; binary: boolean }[] = [];
  /** Messages are sent to the agent in the order they came, whatever their attachments take. */
  #sending: Promise<unknown> = Promise.resolve();
  /** The last one counts that the client said, whichever takes longer to be looked at. */
  #placing: Promise<unknown> = Promise.resolve();

  constructor(ws: WebSocket, { session, caller, request, redactor }: Connected, context: ServerContext) {
    this.tokenId = caller.id;
    this.looks = mayOnlyLook(caller);
    this.#ws = ws;
    this.#life = new SocketLife(ws, () => this.#gone());
    this.#sessionId = session.session_id;
    this.#stream = session.stream;
    this.#caller = caller;
    this.#request = request;
    this.#redactor = redactor;
    this.#context = context;
  }

  get buffered(): number {
    return this.#ws.bufferedAmount;
  }

  start(following: Following): void {
    this.#context.streams.add(this);
    this.#ws.on("message", (data, binary) => {
      this.#inbox.push({ data: bytesOf(data), binary });
      this.#work();
    });
    this.#life.start();
    const { log, version } = this.#context;
    const { role } = this.#caller;
    const facts = following ? encodingFacts(following.encoding) : {};
    this.#push({ type: "hello", session_id: this.#sessionId, role, version, log_id: log.id, epoch: log.epoch, ...facts });
    this.#follow(following);
  }

  beat(): void {
    this.#life.beat();
  }

  close(reason: "shutdown" | "revoked"): void {
    this.#life.close(reason);
  }

  #gone(): void {
    this.#inbox.length = 0;
    this.#subscription?.close();
    this.#subscription = null;
    this.#context.streams.delete(this);
  }

  #follow(following: Following): void {
    this.#subscription?.close();
    this.#subscription = null;
    this.#encoding = false;
    // A client may be gone before its wish was looked at: nobody would end what is begun now.
    if (!following || this.#ws.readyState !== this.#ws.OPEN) return;
    const { after, encoding } = following;
    const stream = this.#stream;
    this.#subscription = stream.subscribe({
      after,
      onBatch: (batch) => this.#takeBatch(batch, encoding),
      onLive: () => {
        hasEnded(stream).then((over) => over && this.#ws.close(NORMAL, "the session has ended"), this.#failed);
      },
      onEnd: (reason) => this.#ws.close(reason === "deleted" ? NORMAL : GOING_AWAY, `the log is ${reason}`),
    });
  }

  /** At once where nothing must be read for it; else the subscription waits until it was. */
  #takeBatch(batch: Batch, encoding: Encoding): boolean {
    if (isPlain(encoding)) return this.#sendFrames(batch, framesOf(batch));
    const events = encodeRun(batch, encoding, () => this.#stream);
    const frames = (all: EncodedEvent[]): Buffer[] => all.flatMap(({ lines }) => lines.map(frameOf));
    if (!(events instanceof Promise)) return this.#sendFrames(batch, frames(events));
    const subscription = this.#subscription;
    this.#encoding = true;
    events.then((all) => {
      // Meanwhile the client may have asked for another place, of which a batch may be encoded now.
      if (subscription !== this.#subscription) return;
      this.#encoding = false;
      if (this.#sendFrames(batch, frames(all))) subscription?.resume();
    }, this.#failed);
    return false;
  }

  readonly #failed = (error: unknown): void => {
    this.#context.logger.error({ err: error }, "events for a WebSocket could not be read");
    this.#ws.close(GOING_AWAY, "the log is failed");
  };

  #sendFrames(batch: Batch, frames: Buffer[]): boolean {
    const last = frames.length - 1;
    for (let i = 0; i < last; i++) this.#ws.send(frames[i] ?? "", TEXT);
    if (last >= 0) this.#ws.send(frames[last] ?? "", TEXT, () => this.#drained());
    if (batch.lastType === "session.ended") this.#ws.close(NORMAL, "the session has ended");
    return last < 0 || this.#ws.bufferedAmount < SLOW_BYTES;
  }

  #drained(): void {
    if (!this.#encoding) this.#subscription?.resume();
    this.#work();
  }

  #push(message: object): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    const text = JSON.stringify(message);
    this.#ws.send(this.#redactor?.text(text) ?? text, () => this.#work());
  }

  /** Takes as many commands as may run now; the socket is read only while none waits. */
  #work(): void {
    while (this.#mayTake()) {
      const next = this.#inbox.shift();
      if (next === undefined) break;
      if (this.#takenThisTurn++ === 0) setImmediate(() => this.#nextTurn());
      void this.#take(next.data, next.binary);
    }
    if (this.#inbox.length > 0 || !this.#mayTake()) this.#ws.pause();
    else if (this.#ws.isPaused) this.#ws.resume();
  }

  #nextTurn(): void {
    this.#takenThisTurn = 0;
    this.#work();
  }

  #mayTake(): boolean {
    if (this.#takenThisTurn >= MAX_PER_TURN || this.#running >= MAX_RUNNING || this.#ws.bufferedAmount > MAX_UNREAD_BYTES)
      return false;
    return this.#running === 0 || this.#runningBytes < MAX_RUNNING_BYTES;
  }

  async #take(data: Buffer, binary: boolean): Promise<void> {
    this.#running += 1;
    this.#runningBytes += data.length;
    let id: string | number | null = null;
    try {
      if (binary) throw new ProblemError("unsupported_media_type", "Send text frames with JSON.");
      const message = parseClientMessage(data.toString());
      id = message.id;
      const result = await this.#admitted(message.read());
      this.#push({ id, ok: true, result: result ?? null });
    } catch (error) {
      const problem = toProblemError(error);
      if (problem.code === "internal") this.#context.logger.error({ err: error }, "a command over WebSocket failed");
      this.#push({ id, ok: false, problem: problemOf(problem) });
    }
    this.#running -= 1;
    this.#runningBytes -= data.length;
    this.#work();
  }

  async #place(message: ClientMessage & { op: "subscribe" | "unsubscribe" }): Promise<void> {
    if (message.op === "unsubscribe") return this.#follow(null);
    const { dialects, redactions } = this.#context;
    const after = message.after ?? 0;
    await mustReach(this.#stream, after, message.epoch);
    this.#follow({ after, encoding: encodingOf(message, dialects, redactions.reader(this.#caller)) });
  }

  /** The same checks and the same audit record as over HTTP. */
  async #admitted(message: ClientMessage): Promise<unknown> {
    const { tokens, access, audit } = this.#context;
    if (!tokens.alive(this.tokenId)) {
      this.close("revoked");
      throw new ProblemError("unauthorized");
    }
    const { role, operation } = OP_ACCESS[message.op];
    const release = access.enter(this.#caller);
    let caller = this.#caller;
    const record = (problem?: ProblemError): void => {
      if (operation === null) return;
      const status = problem?.status ?? 200;
      audit.record({
        operation,
        outcome: problem === undefined ? "done" : status < 500 ? "refused" : "failed",
        status,
        actor: caller.actor,
        session_id: this.#sessionId,
        ...(problem === undefined ? {} : { code: problem.code }),
      });
    };
    try {
      if (operation !== null) {
        this.#recognised ??= withAgent(caller, this.#request, this.#context);
        caller = await this.#recognised;
      }
      this.#context.rights.mustReach(caller, role);
      mustHaveRole(caller, role);
      await this.#mustBeThere();
      const result = await this.#do(message, caller);
      record();
      return result;
    } catch (error) {
      record(toProblemError(error));
      throw error;
    } finally {
      release();
    }
  }

  /** A session may be removed and its id used again: who was let in to this one was not let in to the next. */
  async #mustBeThere(): Promise<void> {
    const now = await this.#context.log.stream("session", this.#sessionId);
    if (now?.created_at !== this.#stream.created_at) throw new ProblemError("session_not_found");
  }

  async #do(message: ClientMessage, caller: Caller): Promise<unknown> {
    const [context, id] = [this.#context, this.#sessionId];
    if (LOGGED_OPS.has(message.op)) context.log.assertWritable();
    switch (message.op) {
      case "send": {
        const { op: _, id: __, ...body } = message;
        const sent = this.#sending.then(() => sendMessage(context, caller, id, body));
        this.#sending = sent.catch(() => {});
        return sent;
      }
      case "queue":
        return (await context.manager.get(id)).queue();
      case "update_queued": {
        const { op: _, id: __, message_id, ...change } = message;
        mustChange(change);
        return updateQueued(context, caller, id, message_id, change);
      }
      case "remove_queued":
        return removeQueued(context, caller, id, message.message_id);
      case "send_queued":
        return sendQueued(context, caller, id, message.message_id);
      case "interrupt":
        return interrupt(context, caller, id);
      case "terminate":
        return terminate(context, caller, id);
      case "configure": {
        const { op: _, id: __, ...patch } = message;
        mustChange(patch);
        return configure(context, caller, id, patch);
      }
      case "reply_permission": {
        const { op: _, id: __, permission_id, ...body } = message;
        return replyPermission(context, caller, id, permission_id, body);
      }
      case "reply_question":
        return replyQuestion(context, caller, id, message.question_id, message.answers);
      case "reject_question":
        return replyQuestion(context, caller, id, message.question_id, null);
      case "pending":
        return (await context.manager.get(id)).pending();
      case "session":
        return (await context.manager.get(id)).view();
      case "subscribe":
      case "unsubscribe": {
        const placed = this.#placing.then(() => this.#place(message));
        this.#placing = placed.catch(() => {});
        return placed;
      }
      default:
        return message satisfies never;
    }
  }
}

function mustChange(change: object): void {
  if (Object.keys(change).length === 0) throw new ProblemError("invalid_request", "Name at least one field to change.");
}

const TEXT = { binary: false };
const HEAD = '{"type":"event","event":';

const frameOf = (json: string): Buffer => Buffer.from(`${HEAD}${json}}`);

/** Made once for all who get the batch. */
const shared = new WeakMap<Batch, Buffer[]>();

function framesOf(batch: Batch): Buffer[] {
  const known = shared.get(batch);
  if (known) return known;
  const frames = batch.events.map(frameOf);
  shared.set(batch, frames);
  return frames;
}
