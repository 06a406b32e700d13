/**
 * What one process commits, for others that follow it without asking the database: packed chunks as they lie in their rows, handed over after the commit. How they get there is not the log's
 * business. A chunk that is late or lost costs nothing but time: what is missing is read from the log.
 */
import type { StreamKind } from "../contract.ts";
import type { CheckedRow } from "../packing/event-chunk.ts";

/** `no`: of the stream, the same for all who share the log. */
export type LiveChunk = CheckedRow & { no: number; id: string; lastNative: number; at: number };

export type FollowedStream = { readonly no: number; readonly kind: StreamKind; readonly id: string; isFollowed(): boolean };

export class LiveTail {
  /** Streams written here that other processes follow, by number. */
  readonly wanted = new Set<number>();
  /** Streams written elsewhere of which the writer sends what it commits: they are looked up seldom. */
  readonly covered = new Set<number>();
  /** Called with each chunk of a wanted stream, after its commit. */
  onChunk: (chunk: LiveChunk) => void = () => undefined;
  /** Somebody here follows a stream that is written elsewhere, and nobody sends what is committed to it. Told again and again. */
  onFollowed: (stream: FollowedStream) => void = () => undefined;
  /** The log had what the writer did not send within a round. */
  onMissed: (no: number) => void = () => undefined;
}
