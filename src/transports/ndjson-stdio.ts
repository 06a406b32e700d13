/**
 * JSON messages, one a line, over the stdin and stdout of a child process. Every line comes out as exactly one of message,
 * garbage or oversize: nothing is swallowed, and nothing that a child prints can make it throw.
 */
import type { AgentProcess, ExitInfo, SpawnAgentOptions } from "./agent-process.ts";
import { spawnAgent } from "./child-process.ts";
import { encodeJsonLine, type RawLine, withoutLineEnd } from "./json-line.ts";
import type { PeerFlow } from "./json-rpc.ts";
import { LineFramer, type OversizeLine } from "./line-framer.ts";
import { LineParser, type NextAlike } from "./line-parser.ts";

export interface NdjsonMessage {
  raw: RawLine;
  /** May share parts with the message before: not to be changed. */
  value: unknown;
  /** Set by who gets the message: takes the next line, if that is like this one. */
  next?: NextAlike | undefined;
}

export interface NdjsonGarbage {
  raw: Buffer;
  error: string;
}

export interface NdjsonHandlers {
  onMessage(message: NdjsonMessage): void;
  onGarbage(garbage: NdjsonGarbage): void;
  onOversize(oversize: OversizeLine): void;
  maxLineBytes?: number;
}

export interface NdjsonChannelOptions extends NdjsonHandlers {
  write(line: Buffer): boolean;
}

/** The protocol without the process: feed it bytes, give it somewhere to write. */
export class NdjsonChannel {
  readonly #options: NdjsonChannelOptions;
  readonly #framer: LineFramer;
  readonly #parser = new LineParser();

  constructor(options: NdjsonChannelOptions) {
    this.#options = options;
    this.#framer = new LineFramer({
      ...(options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }),
      onLine: (raw) => this.#take(raw, raw.toString("utf8")),
      onTextLine: (raw) => this.#take(raw, raw),
      onOversize: (oversize) => options.onOversize(oversize),
    });
  }

  feed(chunk: Buffer): void {
    this.#framer.push(chunk);
  }

  end(): void {
    this.#framer.end();
  }

  /** Returns the bytes that were written, without the line end, as the ledger keeps them. Throws only for what JSON cannot say. */
  send(value: unknown): Buffer {
    const line = encodeJsonLine(value);
    this.#options.write(line);
    return withoutLineEnd(line);
  }

  /** Writes a line made by `encodeJsonLine`, as it is. */
  sendLine(line: Buffer): boolean {
    return this.#options.write(line);
  }

  #take(raw: RawLine, text: string): void {
    // Bytes that are no UTF-8 are not their text: who takes a line unparsed records the text as what was said.
    if (raw === text && this.#parser.taken(text)) return;
    let value: unknown;
    try {
      value = this.#parser.parse(text);
    } catch (error) {
      const bytes = typeof raw === "string" ? Buffer.from(raw, "utf8") : raw;
      this.#options.onGarbage({ raw: bytes, error: error instanceof Error ? error.message : String(error) });
      return;
    }
    const message: NdjsonMessage = { raw, value };
    this.#options.onMessage(message);
    if (message.next) this.#parser.expect(message.next);
  }
}

export interface NdjsonStdioOptions extends Omit<SpawnAgentOptions, "onStdout">, NdjsonHandlers {}

export interface NdjsonStdio {
  readonly process: AgentProcess;
  /** For a `JsonRpcPeer` on this child. */
  readonly flow: PeerFlow;
  /** See `NdjsonChannel.send`. A dead child is no error here: its exit is reported through `onExit`. */
  send(value: unknown): Buffer;
  sendLine(line: Buffer): boolean;
}

/** Starts the child and joins it to a channel. The last, unfinished line is delivered before `onExit`. */
export function openNdjsonStdio(options: NdjsonStdioOptions): NdjsonStdio {
  const channel = new NdjsonChannel({
    onMessage: options.onMessage,
    onGarbage: options.onGarbage,
    onOversize: options.onOversize,
    ...(options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }),
    write: (line) => child.write(line),
  });
  const child = spawnAgent({
    ...options,
    onStdout: (chunk) => channel.feed(chunk),
    onExit: (exit: ExitInfo) => {
      channel.end();
      options.onExit(exit);
    },
  });
  const flow: PeerFlow = {
    unread: () => child.stdinBacklog,
    drained: () => child.drained(),
    pause: () => child.pauseStdout(),
    resume: () => child.resumeStdout(),
  };
  return { process: child, flow, send: (value) => channel.send(value), sendLine: (line) => channel.sendLine(line) };
}
