/**
 * Bytes of an event stream to events, in bounded memory. Field syntax is eventsource-parser's work; this adds what it lacks:
 * bytes instead of strings, and an event over the limit is skipped and reported instead of ending the stream.
 * A stream whose lines end in a lone `\r` is not understood; no server of this field sends one.
 */
import { createParser } from "eventsource-parser";
import { LineFramer } from "./line-framer.ts";

const COLON = 0x3a;

export interface SseEvent {
  /** "message" when the server named none. */
  event: string;
  data: string;
  /** Null when this event carried none. */
  id: string | null;
}

export interface SseDecoderOptions {
  maxEventBytes: number;
  onEvent(event: SseEvent): void;
  onOversize(bytes: number): void;
  onRetry?(milliseconds: number): void;
}

export class SseDecoder {
  readonly #options: SseDecoderOptions;
  readonly #framer: LineFramer;
  readonly #parser: ReturnType<typeof createParser>;
  #eventBytes = 0;

  constructor(options: SseDecoderOptions) {
    this.#options = options;
    this.#parser = createParser({
      onEvent: ({ event, data, id }) => options.onEvent({ event: event ?? "message", data, id: id ?? null }),
      ...(options.onRetry === undefined ? {} : { onRetry: options.onRetry }),
    });
    this.#framer = new LineFramer({
      maxLineBytes: options.maxEventBytes,
      keepBlankLines: true,
      onLine: (line) => this.#line(line),
      onOversize: ({ bytes }) => this.#grow(bytes),
    });
  }

  /** An event that the stream's end cut off is dropped, as the standard says: ask for it again by its id. */
  push(chunk: Buffer): void {
    this.#framer.push(chunk);
  }

  #line(line: Buffer): void {
    if (line.length === 0) {
      this.#endEvent();
      return;
    }
    // Comments are heartbeats: they are not part of an event, however many come.
    if (line[0] === COLON) return;
    this.#grow(line.length);
    if (this.#eventBytes <= this.#options.maxEventBytes) this.#parser.feed(`${line.toString("utf8")}\n`);
  }

  #grow(bytes: number): void {
    this.#eventBytes += bytes;
    if (this.#eventBytes > this.#options.maxEventBytes) this.#parser.reset();
  }

  #endEvent(): void {
    const bytes = this.#eventBytes;
    this.#eventBytes = 0;
    if (bytes > this.#options.maxEventBytes) this.#options.onOversize(bytes);
    else this.#parser.feed("\n");
  }
}
