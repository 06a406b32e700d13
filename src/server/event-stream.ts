/**
 * Joins the log's live tail to an SSE stream: plain subscribers get the shared buffer of each batch, the others their own encoding. A slow client stops
 * its subscription and is resumed from the log.
 */
import type { Batch, GlobalBatch, Log, Stream, SubscribeOptions, Subscription } from "../log/contract.ts";
import { rowHasEnded } from "../session/session-row.ts";
import { type Encoding, encodeRun, isPlain } from "./event-encoding.ts";
import { problemOf, toProblemError } from "./problems.ts";
import { namedEvent, type SseStream } from "./sse.ts";

export function followSession(sse: SseStream, stream: Stream, after: number, encoding: Encoding): void {
  const plain = isPlain(encoding);
  follow(sse, (handlers) =>
    stream.subscribe({
      after,
      onBatch(batch) {
        const more = plain ? sse.write(batch.sse()) : writeEncoded(sse, batch, encoding, stream, (i) => String(batch.first + i));
        if (batch.types.at(-1) === "session.ended") sse.end();
        return more;
      },
      onLive() {
        if (hasEnded(stream)) sse.end();
      },
      ...handlers,
    }),
  );
}

/** `sees`: which sessions the caller may see; null: all. */
export function followAll(
  sse: SseStream,
  log: Log,
  after: string,
  encoding: Encoding,
  sees: ((sessionId: string) => boolean) | null,
): void {
  const plain = isPlain(encoding);
  const streamOf = (batch: GlobalBatch) => (encoding.includeRaw ? log.stream("session", batch.stream_id) : undefined);
  follow(sse, (handlers) =>
    log.subscribeAll({
      after,
      onBatch: (batch) =>
        sees?.(batch.stream_id) === false ||
        (plain ? sse.write(batch.sse()) : writeEncoded(sse, batch, encoding, streamOf(batch), (i) => batch.cursorOf(i))),
      ...handlers,
    }),
  );
}

/** One turn, from its start (or from now, if it runs already) to its end, or to the session's. */
export function followTurn(
  sse: SseStream,
  stream: Stream,
  turn: { id: string; after: number; begun: boolean },
  encoding: Encoding,
): void {
  let begun = turn.begun;
  follow(sse, (handlers) =>
    stream.subscribe({
      after: turn.after,
      onBatch(batch) {
        const from = begun ? 0 : indexOfTurn(batch, "turn.started", turn.id);
        if (from < 0) {
          if (batch.types.at(-1) === "session.ended") sse.end();
          return true;
        }
        begun = true;
        const end = indexOfTurn(batch, "turn.ended", turn.id);
        const part = sliceOf(batch, from, end < 0 ? batch.events.length : end + 1);
        const more = writeEncoded(sse, part, encoding, stream, (i) => String(part.first + i));
        if (end >= 0 || batch.types.at(-1) === "session.ended") sse.end();
        return more;
      },
      onLive() {
        if (hasEnded(stream)) sse.end();
      },
      ...handlers,
    }),
  );
}

/** True when the stream's last event is its end, and it is committed. */
export const hasEnded = (stream: Stream): boolean => stream.last === stream.lastCommitted && rowHasEnded(stream.state());

type EndHandler = NonNullable<SubscribeOptions<Batch>["onEnd"]>;

/** A stream that cannot go on says why before it ends: `event: problem`. */
function follow(sse: SseStream, subscribe: (handlers: { onEnd: EndHandler }) => Subscription): void {
  if (sse.closed) return;
  const subscription = subscribe({
    onEnd: (reason, error) => {
      if (reason === "failed") sse.write(namedEvent("problem", problemOf(toProblemError(error))));
      sse.end();
    },
  });
  sse.onDrain(() => subscription.resume());
  sse.onClose(() => subscription.close());
}

function writeEncoded(
  sse: SseStream,
  run: Pick<Batch, "events" | "types" | "natives">,
  encoding: Encoding,
  stream: Stream | undefined,
  idOf: (index: number) => string,
): boolean {
  let text = "";
  for (const { index, lines } of encodeRun(run, encoding, stream)) {
    // Only the last line of an event moves the client on: one that is cut off between two lines gets all of them again.
    lines.forEach((line, i) => {
      text += `${i === lines.length - 1 ? `id: ${idOf(index)}\n` : ""}data: ${line}\n\n`;
    });
  }
  return text === "" || sse.write(text);
}

function indexOfTurn(batch: Batch, type: "turn.started" | "turn.ended", turnId: string): number {
  const mark = `"turn_id":${JSON.stringify(turnId)}`;
  return batch.types.findIndex((name, index) => name === type && batch.events[index]?.includes(mark));
}

const sliceOf = (batch: Batch, from: number, to: number): Pick<Batch, "first" | "events" | "types" | "natives"> => ({
  first: batch.first + from,
  events: batch.events.slice(from, to),
  types: batch.types.slice(from, to),
  natives: batch.natives.slice(from, to),
});
