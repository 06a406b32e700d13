/** What every engine refuses, in the same words. */
import type { Stream } from "./contract.ts";
import { LogError } from "./log-error.ts";

export function gap(stream: Stream & { last: number }, sequence: number): LogError {
  const message = `Event ${sequence} of ${stream.id} does not follow ${stream.last}: the next sequence is ${stream.last + 1}.`;
  return new LogError("sequence_gap", message, { expected: stream.last + 1, got: sequence });
}

export function malformed(stream: Stream, sequence: number): LogError {
  return new LogError(
    "invalid_entry",
    `Event ${sequence} of ${stream.id}: an event is one line of JSON, and its type one word. Serialize it with JSON.stringify.`,
  );
}

export function tooLarge(stream: Stream, size: number): LogError {
  return new LogError(
    "invalid_entry",
    `An entry of ${stream.id} has ${size} bytes, more than the log can take. Store it as an artifact.`,
    { size },
  );
}

type Named = Pick<Stream, "kind" | "id">;

export const fenced = ({ kind, id }: Named): LogError =>
  new LogError("fenced", `${kind} ${id} has another writer now. Take the writer again to go on.`, { kind, id });

export const deleted = ({ kind, id }: Named): LogError =>
  new LogError("stream_deleted", `${kind} ${id} was deleted. Create a new one.`, { kind, id });

export const exists = ({ kind, id }: Named): LogError =>
  new LogError("stream_exists", `There is already a ${kind} ${id}. Choose another id.`, { kind, id });

export const closedError = (): LogError => new LogError("log_closed", "The log is closed: dragoman is stopping.");
