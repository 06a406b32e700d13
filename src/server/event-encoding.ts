/**
 * Events on their way to a client that asked for more than the stored bytes: only some types, with the native message, or in another dialect. Knows
 * nothing of sockets; the plain case never comes here.
 */
import type { Batch, NativeRow, Stream } from "../log/contract.ts";
import type { EventRedactor } from "../redaction/event-redactor.ts";
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

type Run = Pick<Batch, "events" | "types" | "natives">;

/** Lines for one event each, oldest first; none when it was filtered out. `stream` is where the native messages lie. */
export function encodeRun(run: Run, encoding: Encoding, stream: Stream | undefined): { index: number; lines: string[] }[] {
  const { types, includeRaw, dialect, redact } = encoding;
  const chosen = run.events.flatMap((json, index) =>
    types === null || types.has(run.types[index] ?? "") ? [{ json, index }] : [],
  );
  const natives = includeRaw ? chosen.flatMap(({ index }) => run.natives[index] ?? []) : [];
  const raws = natives.length > 0 ? stream?.readRaw(natives) : undefined;
  return chosen.map(({ json, index }) => {
    const native = run.natives[index];
    const raw = native == null ? undefined : raws?.get(native);
    const full = redact ? redact.event(json) : raw ? withRaw(json, raw) : json;
    return { index, lines: dialect ? dialect(full) : [full] };
  });
}

const NO_RAW = '"raw":null}';

/** The envelope ends with an empty `raw`; the native message takes its place. */
export const withRaw = (json: string, row: NativeRow): string =>
  json.endsWith(NO_RAW) ? `${json.slice(0, -NO_RAW.length)}"raw":${nativeJson(row.body)}}` : json;

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
