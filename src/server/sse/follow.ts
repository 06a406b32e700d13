/**
 * Joins the log's live tail to an SSE stream: plain subscribers get the shared frames of each batch, the others their own encoding. A slow client stops
 * its subscription and is resumed from the log.
 */
import type { Batch, GlobalBatch, Log, Stream, SubscribeOptions, Subscription } from "../../log/contract.ts";
import { namesTurn } from "../../schema/envelope.ts";
import { isLastEvent, type StreamKind } from "../../schema/stream-kind.ts";
import { type Encoding, encodeRun, isPlain, type Run } from "../event-encoding.ts";
import { problemOf, toProblemError } from "../problems.ts";
import { framesOf, globalFramesOf, linesFrame } from "./frames.ts";
import { namedEvent, type SseStream } from "./stream.ts";

type Bytes = Buffer | string;

/** What one client gets of the batches of a subscription. */
type Following<B> = {
  /** Bytes at once, or later when something must be read for them. Empty: nothing of this batch is for the client. */
  encode(batch: B): Bytes | Promise<Bytes>;
  /** Nothing comes after this batch. */
  isOver?(batch: B): boolean;
  onLive?(): void;
};

export function followStream(sse: SseStream, stream: Stream, after: number, encoding: Encoding): void {
  follow<Batch>(sse, (handlers) => stream.subscribe({ after, ...handlers }), {
    encode: isPlain(encoding)
      ? framesOf
      : (batch) =>
          encoded(
            batch,
            encoding,
            () => stream,
            (index) => String(batch.first + index),
          ),
    isOver: endsStream,
    onLive: () => endWhenOver(sse, stream),
  });
}

/** What a client of the stream of all streams gets. */
export type Selection = {
  /** Null: all kinds. */
  kinds: ReadonlySet<StreamKind> | null;
  /** Which streams the caller may see; null: all. */
  sees: ((stream: Pick<GlobalBatch, "kind" | "stream_id" | "types">) => Promise<boolean>) | null;
};

export function followAll(sse: SseStream, log: Log, after: string, encoding: Encoding, { kinds, sees }: Selection): void {
  const plain = isPlain(encoding);
  const encode = (batch: GlobalBatch): Bytes | Promise<Bytes> => {
    if (plain) return globalFramesOf(batch);
    return encoded(
      batch,
      encoding,
      () => log.stream(batch.kind, batch.stream_id),
      (index) => batch.cursorOf(index),
    );
  };
  follow<GlobalBatch>(sse, (handlers) => log.subscribeAll({ after, ...handlers }), {
    encode(batch) {
      if (kinds?.has(batch.kind) === false) return "";
      return sees === null ? encode(batch) : sees(batch).then((seen) => (seen ? encode(batch) : ""));
    },
  });
}

/** One turn, from its start (or from now, if it runs already) to its end, or to the session's. */
export function followTurn(
  sse: SseStream,
  stream: Stream,
  turn: { id: string; after: number; begun: boolean },
  encoding: Encoding,
): void {
  let begun = turn.begun;
  let ended = false;
  follow<Batch>(sse, (handlers) => stream.subscribe({ after: turn.after, ...handlers }), {
    encode(batch) {
      const from = begun ? 0 : indexOfTurn(batch, "turn.started", turn.id);
      if (from < 0) return "";
      begun = true;
      const end = indexOfTurn(batch, "turn.ended", turn.id);
      ended = end >= 0;
      const part = sliceOf(batch, from, end < 0 ? batch.events.length : end + 1);
      return encoded(
        part,
        encoding,
        () => stream,
        (index) => String(part.first + index),
      );
    },
    isOver: (batch) => ended || endsStream(batch),
    onLive: () => endWhenOver(sse, stream),
  });
}

const endsStream = (batch: Batch): boolean =>
  isLastEvent(batch.kind, batch.lastType, () => batch.event(batch.last - batch.first));

/** True when the stream's last committed event is its end. */
export async function hasEnded(stream: Stream): Promise<boolean> {
  const { types, events } = await stream.read({ reverse: true, limit: 1 });
  return isLastEvent(stream.kind, types[0], () => events[0]);
}

function endWhenOver(sse: SseStream, stream: Stream): void {
  hasEnded(stream).then(
    (over) => {
      if (over) sse.end();
    },
    (error: unknown) => fail(sse, error),
  );
}

function follow<B>(
  sse: SseStream,
  subscribe: (handlers: SubscribeOptions<B>) => Subscription,
  { encode, isOver, onLive }: Following<B>,
): void {
  if (sse.closed) return;
  let encoding = false;
  const write = (batch: B, bytes: Bytes): boolean => {
    const more = bytes.length === 0 || sse.write(bytes);
    if (isOver?.(batch)) sse.end();
    return more;
  };
  const subscription = subscribe({
    onBatch(batch) {
      const bytes = encode(batch);
      if (!(bytes instanceof Promise)) return write(batch, bytes);
      encoding = true;
      bytes.then(
        (ready) => {
          encoding = false;
          if (write(batch, ready)) subscription.resume();
        },
        (error: unknown) => fail(sse, error),
      );
      return false;
    },
    ...(onLive ? { onLive } : {}),
    onEnd: (reason, error) => (reason === "failed" ? fail(sse, error) : sse.end()),
  });
  sse.onDrain(() => {
    if (!encoding) subscription.resume();
  });
  sse.onClose(() => subscription.close());
}

/** A stream that cannot go on says why before it ends: `event: problem`. */
export function fail(sse: SseStream, error: unknown): void {
  sse.write(namedEvent("problem", problemOf(toProblemError(error))));
  sse.end();
}

function encoded(
  run: Run,
  encoding: Encoding,
  stream: () => Stream | Promise<Stream | undefined>,
  idOf: (index: number) => string,
): string | Promise<string> {
  const lines = encodeRun(run, encoding, stream);
  const text = (events: readonly { index: number; lines: string[] }[]): string =>
    events.map((event) => linesFrame(event.lines, idOf(event.index))).join("");
  return lines instanceof Promise ? lines.then(text) : text(lines);
}

function indexOfTurn(batch: Batch, type: "turn.started" | "turn.ended", turnId: string): number {
  return batch.types.findIndex((name, index) => name === type && namesTurn(batch.events[index] ?? "", turnId));
}

const sliceOf = (batch: Batch, from: number, to: number): Run => ({
  kind: batch.kind,
  stream_id: batch.stream_id,
  first: batch.first + from,
  events: batch.events.slice(from, to),
  types: batch.types.slice(from, to),
  natives: batch.natives.slice(from, to),
});
