/**
 * Events on their way to a client that asked for more than the stored bytes: only some types, with the native message, or in another dialect. Knows
 * nothing of sockets; the plain case never comes here.
 */
import type { Batch, Stream } from "../log/contract.ts";
import type { EventRedactor } from "../redaction/event-redactor.ts";
import { withRaw } from "../schema/envelope.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { Dialect } from "./server-context.ts";

export type Encoding = {
  /** Null: all types. */
  types: ReadonlySet<string> | null;
  includeRaw: boolean;
  dialect: Dialect | null;
  /** For a reader who may not see secrets; null: events go out as they are stored. */
  redact: EventRedactor | null;
};

export type EncodingQuery = { types?: string | string[]; include_raw?: boolean; dialect?: string };

export function encodingOf(
  query: EncodingQuery,
  dialects: ReadonlyMap<string, Dialect>,
  redact: EventRedactor | null = null,
): Encoding {
  const types = listOf(query.types);
  let dialect: Dialect | null = null;
  if (query.dialect !== undefined && query.dialect !== "universal") {
    dialect = dialects.get(query.dialect) ?? null;
    if (!dialect) throw unknownDialect(query.dialect, dialects);
  }
  // A native message is verbatim or nothing: half a secret in it cannot be recognised.
  const includeRaw = redact === null && (query.include_raw ?? false);
  return { types: types && new Set(types), includeRaw, dialect, redact };
}

export const listOf = (value: string | string[] | undefined): string[] | null => {
  const list = [value ?? []].flat().flatMap((part) => part.split(",").map((type) => type.trim()));
  const names = list.filter((type) => type !== "");
  return names.length > 0 ? names : null;
};

export const isPlain = ({ types, includeRaw, dialect, redact }: Encoding): boolean =>
  types === null && !includeRaw && dialect === null && redact === null;

export type Run = Pick<Batch, "events" | "types" | "natives">;
export type EncodedEvent = { index: number; lines: string[] };

/**
 * Lines for one event each, oldest first; none when it was filtered out. `stream` is where the native messages lie. A promise only when something must be
 * read for it: native messages, or what an event's reader may not see.
 */
export function encodeRun(
  run: Run,
  encoding: Encoding,
  stream: Stream | undefined | Promise<Stream | undefined>,
): EncodedEvent[] | Promise<EncodedEvent[]> {
  const { types, includeRaw, dialect, redact } = encoding;
  const chosen = run.events.flatMap((json, index) =>
    types === null || types.has(run.types[index] ?? "") ? [{ json, index }] : [],
  );
  const lines = (json: string): string[] => (dialect ? dialect(json) : [json]);
  if (redact) return redacted(chosen, redact, lines);
  if (includeRaw) return withNatives(chosen, run.natives, stream, lines);
  return chosen.map(({ json, index }) => ({ index, lines: lines(json) }));
}

type Chosen = { json: string; index: number };

/** One after the other: what a redactor holds back of one event comes with the next. */
async function redacted(chosen: Chosen[], redact: EventRedactor, lines: (json: string) => string[]): Promise<EncodedEvent[]> {
  const encoded: EncodedEvent[] = [];
  for (const { json, index } of chosen) encoded.push({ index, lines: lines(await redact.event(json)) });
  return encoded;
}

async function withNatives(
  chosen: Chosen[],
  natives: Run["natives"],
  stream: Stream | undefined | Promise<Stream | undefined>,
  lines: (json: string) => string[],
): Promise<EncodedEvent[]> {
  const wanted = chosen.flatMap(({ index }) => natives[index] ?? []);
  const raws = wanted.length > 0 ? await (await stream)?.readRaw(wanted) : undefined;
  return chosen.map(({ json, index }) => {
    const raw = raws?.get(natives[index] ?? 0);
    return { index, lines: lines(raw ? withRaw(json, nativeJson(raw.body)) : json) };
  });
}

/** The message as one line of JSON: verbatim when it is that already, a JSON string when it is not JSON at all. */
export function nativeJson(body: Buffer): string {
  const text = body.toString("utf8");
  try {
    const value: unknown = JSON.parse(text);
    return /[\r\n]/.test(text) ? JSON.stringify(value) : text;
  } catch {
    return JSON.stringify(text);
  }
}

function unknownDialect(name: string, dialects: ReadonlyMap<string, Dialect>): ProblemError {
  const known = ["universal", ...dialects.keys()].join(", ");
  return new ProblemError("invalid_request", `There is no dialect ${JSON.stringify(name)}. Known ones: ${known}.`, {
    errors: [{ path: "querystring/dialect", message: `must be one of: ${known}` }],
  });
}
