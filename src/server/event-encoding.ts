/**
 * Events on their way to a client that asked for more than the stored bytes: only some types, with the native message, or in another dialect. Knows
 * nothing of sockets; the plain case never comes here.
 */
import type { Batch, NativeRow, Stream } from "../log/contract.ts";
import type { EventRedactor } from "../redaction/event-redactor.ts";
import type { Dialect } from "../schema/dialect.ts";
import { withRaw } from "../schema/envelope.ts";
import { eventTypes } from "../schema/event.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { DialectLines } from "./dialect-lines.ts";
import type { EventRows } from "./ledger-place.ts";

export type Encoding = {
  /** Null: all types. */
  types: ReadonlySet<string> | null;
  includeRaw: boolean;
  /** Of one client: it remembers what it reported. */
  dialect: DialectLines | null;
  /** For a reader who may not see secrets; null: events go out as they are stored. */
  redact: EventRedactor | null;
};

export type EncodingQuery = { types?: string | string[]; include_raw?: boolean; dialect?: string; version?: number };

export function encodingOf(
  query: EncodingQuery,
  dialects: ReadonlyMap<string, Dialect>,
  redact: EventRedactor | null = null,
): Encoding {
  const names = listOf(query.types);
  const types = names && new Set(names);
  // A native message is verbatim or nothing: half a secret in it cannot be recognised.
  const includeRaw = redact === null && (query.include_raw ?? false);
  return { types, includeRaw, dialect: dialectOf(query, dialects, types), redact };
}

function dialectOf(
  { dialect: name, version }: EncodingQuery,
  dialects: ReadonlyMap<string, Dialect>,
  types: ReadonlySet<string> | null,
): DialectLines | null {
  const universal = name === undefined || name === "universal";
  const dialect = universal ? undefined : dialects.get(name);
  if (!universal && !dialect) throw badQuery("dialect", name, ["universal", ...dialects.keys()]);
  const versions = dialect?.versions ?? [1];
  if (version !== undefined && !versions.includes(version)) throw badQuery("version", String(version), versions.map(String));
  if (!dialect) return null;
  const known: readonly string[] = [...dialect.lineTypes, ...eventTypes];
  const unknown = types && [...types].find((type) => !known.includes(type));
  if (unknown) throw badQuery("types", unknown, known);
  return new DialectLines(dialect, { version: version ?? versions.at(-1), types });
}

export const listOf = (value: string | string[] | undefined): string[] | null => {
  const list = [value ?? []].flat().flatMap((part) => part.split(",").map((type) => type.trim()));
  const names = list.filter((type) => type !== "");
  return names.length > 0 ? names : null;
};

export const isPlain = ({ types, includeRaw, dialect, redact }: Encoding): boolean =>
  types === null && !includeRaw && dialect === null && redact === null;

/** Frames say that they were numbered before some of them were left out. */
const isUnfiltered = ({ dialect, types }: Encoding): boolean => dialect?.dialect.numbered === true && types !== null;

export const encodingHeaders = (encoding: Encoding): Record<string, string> =>
  isUnfiltered(encoding) ? { "dragoman-seq": "unfiltered" } : {};

/** The same, for a socket. */
export const encodingFacts = (encoding: Encoding): { seq?: "unfiltered" } =>
  isUnfiltered(encoding) ? { seq: "unfiltered" } : {};

/** Events of one stream without a gap, or those of some types where there is no dialect. */
export type Run = Pick<Batch, "kind" | "stream_id" | "first" | "events" | "types" | "natives">;
export type EncodedEvent = { index: number; lines: string[] };

type StreamOf = Stream | undefined | Promise<Stream | undefined>;

/**
 * Lines for one event each, oldest first; none when it was filtered out. `stream` is where the native messages and the past lie. A promise only when
 * something must be read for it: native messages, what came before, or what an event's reader may not see.
 */
export function encodeRun(run: Run, encoding: Encoding, stream: () => StreamOf): EncodedEvent[] | Promise<EncodedEvent[]> {
  const { includeRaw, dialect, redact } = encoding;
  if (dialect) return dialectRun(run, encoding, dialect, stream);
  const chosen = chosenOf(run, encoding);
  if (redact) return redacted(chosen, redact);
  if (includeRaw) return withNatives(chosen, run.natives, stream());
  return chosen.map(({ json, index }) => ({ index, lines: [json] }));
}

type Chosen = { json: string; index: number };

const chosenOf = ({ events, types: names }: Run, { types }: Encoding): Chosen[] =>
  events.flatMap((json, index) => (types === null || types.has(names[index] ?? "") ? [{ json, index }] : []));

/** One after the other: what a redactor holds back of one event comes with the next. */
async function redacted(chosen: Chosen[], redact: EventRedactor): Promise<EncodedEvent[]> {
  const encoded: EncodedEvent[] = [];
  for (const { json, index } of chosen) encoded.push({ index, lines: [await redact.event(json)] });
  return encoded;
}

async function withNatives(chosen: Chosen[], natives: Run["natives"], stream: StreamOf): Promise<EncodedEvent[]> {
  const raws = await nativesOf(
    chosen.flatMap(({ index }) => natives[index] ?? []),
    stream,
  );
  return chosen.map(({ json, index }) => {
    const raw = raws?.get(natives[index] ?? 0);
    return { index, lines: [raw ? withRaw(json, nativeJson(raw.body)) : json] };
  });
}

async function nativesOf(wanted: number[], stream: StreamOf): Promise<Map<number, NativeRow> | undefined> {
  return wanted.length > 0 ? (await stream)?.readRaw(wanted) : undefined;
}

/** A dialect sees every event, also those that are not sent: later lines depend on them. */
function dialectRun(
  run: Run,
  { includeRaw, redact }: Encoding,
  dialect: DialectLines,
  stream: () => StreamOf,
): EncodedEvent[] | Promise<EncodedEvent[]> {
  const { nativeOf } = dialect.dialect;
  const name = { kind: run.kind, id: run.stream_id };
  const wanted = run.natives.flatMap((native, index) =>
    native !== null && (includeRaw || nativeOf.has(run.types[index] ?? "")) ? [native] : [],
  );
  const line = (json: string, index: number, raws?: Map<number, NativeRow>, more?: EventRows): EncodedEvent => {
    const raw = raws?.get(run.natives[index] ?? 0);
    const type = run.types[index] ?? "";
    const event = {
      json: raw && includeRaw ? withRaw(json, nativeJson(raw.body)) : json,
      native: raw && nativeOf.has(type) ? { text: raw.body.toString("utf8"), shown: redact === null } : null,
      ...more,
    };
    return { index, lines: dialect.lines(name, run.first + index, type, event) };
  };
  if (redact === null && wanted.length === 0 && dialect.stands(name, run.first))
    return run.events.map((json, i) => line(json, i));
  return (async () => {
    const of = await stream();
    if (!dialect.isAt(name, run.first)) await dialect.begin(name, run.first, of, redact);
    const ledger = of === undefined ? null : dialect.ledger(name);
    await ledger?.load(run);
    const raws = await nativesOf(wanted, of);
    const encoded: EncodedEvent[] = [];
    for (const [index, json] of run.events.entries()) {
      const more = ledger?.take(run.natives[index] ?? null, run.types[index] ?? "");
      encoded.push(line(redact ? await redact.event(json) : json, index, raws, more));
      if (of !== undefined && more !== undefined) dialect.passed(name, of);
    }
    return encoded;
  })();
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

function badQuery(field: string, value: string, known: readonly string[]): ProblemError {
  const what = field === "types" ? "type" : field;
  const list = known.join(", ");
  return new ProblemError("invalid_request", `There is no ${what} ${JSON.stringify(value)}. Known ones: ${list}.`, {
    errors: [{ path: `querystring/${field}`, message: `must be one of: ${list}` }],
  });
}
