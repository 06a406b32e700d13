/**
 * Finds secrets in text and puts `[redacted:kind]` in their place: known shapes, values that are known to be secret, shapes of the user's own. The text may be
 * JSON, and stays JSON. Not here: who gets redacted text (server), texts that come in pieces (piece-redactor.ts).
 */
import { secretShapes } from "./secret-shapes.ts";

/** Values shorter than this are no secrets, and would be found everywhere. */
const SHORTEST_VALUE = 8;

/** Words that could be a token of the daemon. */
const TOKEN_LIKE = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{32,128}(?![A-Za-z0-9_-])/g;

export type RedactorOptions = {
  /** Values that are secret, whatever they look like. */
  values?: Iterable<string>;
  /** Regular expressions of the user's own. */
  patterns?: readonly string[];
  /** Asked about words that look like a token of the daemon. */
  isToken?: (word: string) => boolean;
};

export type Found = { from: number; to: number; kind: string };

type Shape = { kind: string; expression: RegExp };

const builtIn: readonly Shape[] = secretShapes.map(({ kind, pattern, flags }) => ({
  kind,
  expression: new RegExp(pattern, `gd${flags ?? ""}`),
}));

/** One look at a text that holds nothing: much cheaper than all expressions. */
const HINT = new RegExp(secretShapes.flatMap(({ begins }) => begins.map((word) => word.replace(/[.+]/g, "\\$&"))).join("|"), "i");

export class Redactor {
  readonly #shapes: readonly Shape[];
  readonly #values: readonly string[];
  readonly #isToken: ((word: string) => boolean) | undefined;
  /** Shapes of the user's own begin in ways nobody knows. */
  readonly hasOwnShapes: boolean;

  constructor(options: RedactorOptions = {}) {
    const own = (options.patterns ?? []).map((pattern) => ({ kind: "pattern", expression: new RegExp(pattern, "gd") }));
    this.#shapes = own;
    this.hasOwnShapes = own.length > 0;
    this.#values = [...new Set([...(options.values ?? [])].filter((value) => value.length >= SHORTEST_VALUE).flatMap(spellings))];
    this.#isToken = options.isToken;
  }

  text(text: string): string {
    return this.rest(text, 0);
  }

  /** The text from `from` on; a secret that begins before it is still seen. */
  rest(text: string, from: number): string {
    const found = this.find(text);
    if (found.length === 0) return from === 0 ? text : text.slice(from);
    let out = "";
    let at = from;
    for (const { from: begin, to, kind } of found) {
      if (to <= at) continue;
      out += `${text.slice(at, Math.max(at, begin))}[redacted:${kind}]`;
      at = to;
    }
    return out + text.slice(at);
  }

  /** In the order they stand in the text; of two that overlap, the one that begins first. */
  find(text: string): Found[] {
    const found: Found[] = [];
    for (const shape of HINT.test(text) ? [...builtIn, ...this.#shapes] : this.#shapes) collect(found, text, shape);
    for (const value of this.#values)
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length))
        found.push({ from: at, to: at + value.length, kind: "secret" });
    if (this.#isToken)
      for (const { 0: word, index } of text.matchAll(TOKEN_LIKE))
        if (this.#isToken(word)) found.push({ from: index, to: index + word.length, kind: "dragoman_token" });
    return found.length < 2 ? found : merged(found);
  }
}

function collect(found: Found[], text: string, { kind, expression }: Shape): void {
  for (const match of text.matchAll(expression)) {
    const [whole] = match.indices ?? [];
    // A first group only leads up to the secret.
    const lead = match.indices?.[1];
    if (whole && whole[1] > whole[0]) found.push({ from: lead ? lead[1] : whole[0], to: whole[1], kind });
  }
}

function merged(found: Found[]): Found[] {
  found.sort((a, b) => a.from - b.from || b.to - a.to);
  const out: Found[] = [];
  for (const each of found) {
    const last = out.at(-1);
    if (last && each.from < last.to) last.to = Math.max(last.to, each.to);
    else out.push({ ...each });
  }
  return out;
}

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);

/** As it is, as it stands in JSON, and in JSON within JSON: arguments of a call. */
const spellings = (value: string): string[] => [value, inJson(value), inJson(inJson(value))];
