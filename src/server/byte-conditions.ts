/**
 * What a client asks of bytes that it may know already: If-Match, If-None-Match, Range and If-Range, as RFC 9110 has them. One place for files and artifacts.
 * Not here: where the bytes come from.
 */
import type { IncomingHttpHeaders } from "node:http";

/** Bytes `start` to `end`, both included. */
export type ByteRange = { start: number; end: number };

/** The client has these bytes: answer 304, whatever range it asks for. `*` names every etag. */
export function isKnown(headers: IncomingHttpHeaders, etag: string): boolean {
  const named: string[] = headers["if-none-match"]?.match(/\*|"[^"]*"/g) ?? [];
  return named.includes("*") || named.includes(etag);
}

/** Undefined: the whole, also for what is not understood (several ranges, other units) and when If-Range names other bytes. Null: outside. */
export function rangeOf(headers: IncomingHttpHeaders, etag: string, size: number): ByteRange | undefined | null {
  const ifRange = headers["if-range"];
  if (ifRange !== undefined && ifRange !== etag) return undefined;
  const [, first = "", last = ""] = /^bytes=([0-9]*)-([0-9]*)$/.exec(headers.range ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  // A number that is too large for us is still larger than any file.
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  return start > end ? null : { start, end };
}
