/** Values that are secret because of where they stand: variables, headers, passwords in addresses. Not here: secrets known by their shape. */

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|COOKIE/i;
const ORDINARY_HEADER = /^(accept|content-type|user-agent|accept-.*|cache-control)$/i;
/** A word as long as this in a variable is more likely a secret than a setting. */
const LONG_VALUE = 16;

/** Paths and addresses are shown all over a session. */
const isPlace = (value: string): boolean => /^(\/|~|\.|[A-Za-z]:\\|[a-z]+:\/\/)/.test(value);

export const secretVariables = (variables: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(variables).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (isPlace(value)) return addressSecrets(value);
    const long = value.length >= LONG_VALUE && !/\s/.test(value) && /[0-9]/.test(value);
    return SECRET_NAME.test(name) || long ? [value] : [];
  });

/** Only those whose name says it: the daemon's own environment is full of long words. */
export const namedSecrets = (variables: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(variables).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (isPlace(value)) return addressSecrets(value);
    return SECRET_NAME.test(name) && !/\s/.test(value) ? [value] : [];
  });

export const secretHeaders = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    ORDINARY_HEADER.test(name) ? [] : [value.replace(/^(bearer|basic|token)\s+/i, "")],
  );

export function addressSecrets(address: string): string[] {
  try {
    const { password, searchParams } = new URL(address);
    const named = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
    return [password, decodeURIComponent(password), ...named].filter((value) => value !== "");
  } catch {
    return [];
  }
}

/** All of these in a stored row, wherever they stand: a row that is no session any more keeps its secrets too. */
export function placedSecrets(row: string): string[] {
  try {
    return placedIn(JSON.parse(row));
  } catch {
    return [];
  }
}

function placedIn(value: Json): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]: [string, Json]) => {
    if (name === "env") return secretVariables(stringsOf(each));
    if (name === "headers") return secretHeaders(stringsOf(each));
    if (name === "url" && typeof each === "string") return addressSecrets(each);
    return placedIn(each);
  });
}

const stringsOf = (value: Json): Record<string, string> =>
  Object.fromEntries(
    Object.entries(typeof value === "object" && value !== null ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );

/** The address without user, password, query and fragment: what of it may be shown. */
export function shownAddress(address: string): string {
  try {
    const url = new URL(address);
    return `${url.origin === "null" ? `${url.protocol}//${url.host}` : url.origin}${url.pathname}`;
  } catch {
    return "";
  }
}

type Json = unknown;

/**
 * The same JSON with the values of `env` and `headers` taken out, wherever they stand: agents are started with messages that hold them. Names stay.
 */
export function withoutEnvironment(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutEnvironment);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]: [string, Json]) => [
      name,
      /^(env|environment|headers|http_headers)$/i.test(name) ? emptied(each) : withoutEnvironment(each),
    ]),
  );
}

/** A record of strings, or a list of names and values. */
function emptied(value: Json): Json {
  if (Array.isArray(value))
    return value.map((each: Json) =>
      typeof each === "object" && each !== null && "value" in each ? { ...each, value: "[redacted:env]" } : each,
    );
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [name, "[redacted:env]"]));
}
