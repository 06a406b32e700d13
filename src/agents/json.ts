// Small readers for JSON of unknown shape, shared by all translators. They never throw: what has another type is absent.

export type JsonRecord = Record<string, unknown>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const str = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const num = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
/** A whole number; a fraction is rounded. */
export const int = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(Math.round(value)) ? Math.round(value) : undefined;
export const bool = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
export const arr = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
/** An empty record when it is none, so that fields can be read on. */
export const rec = (value: unknown): JsonRecord => (isRecord(value) ? value : {});
export const records = (value: unknown): JsonRecord[] => arr(value).filter(isRecord);

/** JSON text of anything; what JSON cannot say is said as a string. */
export const toJson = (value: unknown): string => JSON.stringify(value) ?? String(value);

/** Text of anything: strings as they are, the rest as JSON. Unlike String(), it never throws, whatever an object calls `toString`. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : toJson(value));

/** A table's own entry: `constructor` is a word an agent may say, not an entry. */
export const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** `{[name]: RFC 3339}` of milliseconds, or nothing when that is no time: a wild number must not throw. */
export function timeOf<K extends string>(name: K, ms: number | undefined): Partial<Record<K, string>> {
  const date = new Date(ms ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? {} : ({ [name]: date.toISOString() } as Record<K, string>);
}

/** The error of an answer: one that is no object is its own message, so that the request is answered all the same. */
export const errorRecord = (error: unknown): JsonRecord =>
  isRecord(error) ? error : { message: typeof error === "string" ? error : JSON.stringify(error) };
