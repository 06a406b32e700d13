/**
 * What was found damaged since the log was opened. Whoever reads a row that does not match its checksum reports it here and throws the error it gets back:
 * damaged content is never handed on. Nothing is repaired and nothing is removed.
 */
import type { DamageReport, StreamKind } from "../contract.ts";
import { LogError, toLogError } from "../log-error.ts";

/** A stream as errors name it. */
export type StreamName = { readonly no: number; readonly kind: StreamKind; readonly id: string };

/** Places that are remembered; beyond that they are still refused, but not counted one by one. */
const MOST_PLACES = 10_000;
const SHOWN_STREAMS = 100;

export class Damage {
  readonly #places = new Set<string>();
  readonly #streams = new Set<string>();
  readonly #onFound: (error: LogError) => void;
  #first: string | null = null;

  constructor(onFound: (error: LogError) => void) {
    this.#onFound = onFound;
  }

  report(): DamageReport {
    return { places: this.#places.size, streams: [...this.#streams].slice(0, SHOWN_STREAMS), message: this.#first };
  }

  /** `place` names what is damaged; `stream` whose it is. */
  found(place: string, stream?: StreamName, cause?: unknown): LogError {
    const of = stream === undefined ? "" : ` of ${stream.kind} ${stream.id}`;
    const message = `${place}${of} cannot be read: the data on the disk is damaged. Restore the data directory from a backup, or export what is still readable.`;
    const error = new LogError(
      "corrupt_chunk",
      message,
      stream === undefined ? { place } : { place, kind: stream.kind, id: stream.id },
      cause,
    );
    this.#note(`${of} ${place}`, stream, error);
    return error;
  }

  artifact(artifactId: string, reason: string): LogError {
    const message = `Artifact ${artifactId} cannot be read: ${reason}. Restore the data directory from a backup.`;
    const error = new LogError("corrupt_artifact", message, { artifact_id: artifactId });
    this.#note(artifactId, undefined, error);
    return error;
  }

  /** Runs a read. What SQLite itself finds damaged is reported like a checksum that does not match. */
  guard<T>(place: string, stream: StreamName | undefined, read: () => T): T {
    try {
      return read();
    } catch (error) {
      const known = toLogError(error, "Reading the log");
      throw known.code === "database_corrupt" ? this.found(place, stream, error) : known;
    }
  }

  #note(key: string, stream: StreamName | undefined, error: LogError): void {
    if (this.#places.has(key) || this.#places.size >= MOST_PLACES) return;
    this.#places.add(key);
    if (stream !== undefined) this.#streams.add(stream.id);
    this.#first ??= error.message;
    this.#onFound(error);
  }
}
